import Foundation
import Testing

/// What the pages about mechanisms have to have.
@Suite struct InternalsTests {
    @Test(arguments: ["Loop", "Codec", "Connections", "TLS", "Cache", "VirtualWorld"])
    func `the page of a mechanism has a picture, what it costs, and why it is so`(page: String) throws {
        let text = try Repository.text("Docs/Internals/\(page).md")
        let picture = text.components(separatedBy: "```\n").dropFirst().first

        #expect(picture?.contains("──") == true)
        for heading in ["Costs", "Decided, and why", "Tests"] {
            #expect(text.contains("\n## \(heading)\n"), "\(heading)")
        }
    }

    @Test func `every page is in the index, once`() throws {
        let index = try Repository.text("Docs/Internals/README.md")
        let pages = try Repository.files(in: "Docs/Internals", endingWith: ".md")
            .compactMap { $0.split(separator: "/").last }.filter { $0 != "README.md" }

        #expect(pages.count > 20)
        #expect(pages.filter { index.components(separatedBy: "](\($0)) |").count != 2 } == [])
    }

    @Test func `every file that the vocabulary names is there`() throws {
        let files = Set(try Repository.files(in: "Sources", endingWith: ".swift"))
        let named = try Repository.text("Docs/Internals/Vocabulary.md").matches(of: /`([^`]+\.swift)`/)
            .map { "Sources/\($0.output.1)" }

        #expect(named.count > 30)
        #expect(named.filter { !files.contains($0) } == [])
    }

    @Test func `links between pages lead somewhere`() throws {
        let pages = try Repository.files(in: "Docs", endingWith: ".md")
        let broken = try pages.flatMap { page in
            let folder = Repository.root.appendingPathComponent(page).deletingLastPathComponent()
            return try Repository.text(page).matches(of: /\]\(([^)#\s]+\.(?:md|svg|json|swift))(?:#[^)]*)?\)/)
                .map { String($0.output.1) }
                .filter { !$0.contains("://") }
                .filter { !FileManager.default.fileExists(atPath: folder.appendingPathComponent($0).path) }
                .map { "\(page): \($0)" }
        }

        #expect(pages.count > 25)
        #expect(broken == [])
    }
}
