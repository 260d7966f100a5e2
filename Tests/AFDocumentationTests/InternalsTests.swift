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

    @Test func `every file that CONTRIBUTING and the pages name is there`() throws {
        let files = try ["Sources", "Tests", "Docs", "Benchmarks"].flatMap { folder in
            try [".swift", ".c", ".h", ".md", ".def"].flatMap { try Repository.files(in: folder, endingWith: $0) }
        }
        let ends = Set(
            (files + ["README.md", "CHANGELOG.md", "Package.swift"]).flatMap { file in
                let parts = file.split(separator: "/")
                return parts.indices.map { parts[$0...].joined(separator: "/") }
            }
        )
        let pages = try ["CONTRIBUTING.md"] + Repository.files(in: "Docs/Internals", endingWith: ".md")
        let named = try pages.flatMap { page in
            try Repository.text(page).matches(of: /`([A-Z\w][\w\/+.]*\.(?:swift|c|h|md|def))`/)
                .map { (page, String($0.output.1)) }
        }

        #expect(named.count > 100)
        // The form of a name, not a file.
        #expect(named.filter { $0.1 != "Type+Aspect.swift" && !ends.contains($0.1) }.map { "\($0.0): \($0.1)" } == [])
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
