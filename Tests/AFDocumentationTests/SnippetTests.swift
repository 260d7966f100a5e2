import Foundation
import Testing

/// Every snippet of every page and doc comment stands in a test: all compile, and those of pages run but for a few.
@Suite struct SnippetTests {
    private static let pages = Result {
        try ["Docs", "Sources"].flatMap { try Repository.files(in: $0, endingWith: ".md") }
            + ["README.md", "CONTRIBUTING.md"]
    }

    private static let sources = Result {
        try Repository.files(in: "Tests", endingWith: ".swift").map { Snippet.lines(of: try Repository.text($0)) }
    }

    @Test func `every snippet stands in a file of tests, line by line`() throws {
        let sources = try Self.sources.get()
        let snippets = try Self.pages.get().flatMap(Snippet.all(on:))

        let missing = snippets.filter { snippet in !sources.contains { snippet.stands(in: $0) } }

        #expect(snippets.count > 100)
        #expect(missing.map(\.description) == [])
    }

    @Test func `every snippet of a doc comment stands in a file of tests, too`() throws {
        let sources = try Self.sources.get()
        let ours = try Repository.files(in: "Sources", endingWith: ".swift")
        let snippets = try ours.flatMap(Snippet.allInComments)

        let missing = snippets.filter { snippet in !sources.contains { snippet.stands(in: $0) } }

        #expect(snippets.count > 50)
        #expect(missing.map(\.description) == [])
    }

    @Test func `every article is in the list of the first page`() throws {
        let first = try Repository.text("Sources/AFNetworking/AFNetworking.docc/AFNetworking.md")
        let topics = try #require(first.components(separatedBy: "## Topics").last)
        let names = try Repository.files(in: "Sources/AFNetworking/AFNetworking.docc", endingWith: ".md")
            .compactMap { $0.split(separator: "/").last?.dropLast(3) }.filter { $0 != "AFNetworking" }

        #expect(names.count > 20)
        #expect(names.filter { !topics.contains("- <doc:\($0)>") } == [])
    }

    @Test func `every product a page adds to a package is one of ours`() throws {
        let package = try Repository.text("Package.swift")
        let added = try Self.pages.get().map(Repository.text).flatMap { page in
            page.matches(of: /\.product\(name: "([A-Za-z]+)", package: "([a-z-]+)"\)/).map(\.output)
        }

        #expect(added.count >= 3)
        #expect(added.filter { $0.2 != "swift-afnetworking" || !package.contains("name: \"\($0.1)\"") }.map(\.0) == [])
    }

    @Test func `a snippet is found only as it stands`() throws {
        let lines = Snippet.lines(of: "import A\nlet a = 1\n    let b = 2\n\nlet c = 3\nlet d = 4\n")
        func isFound(_ text: String) -> Bool { Snippet(text).stands(in: lines) }

        #expect(isFound("let a = 1\nlet b = 2"))
        #expect(isFound("let b = 2\n\nlet d = 4"))
        #expect(isFound("import A\n\nlet a = 1\n…\nlet d = 4"))
        #expect(!isFound("let a = 1\nlet c = 3"))
        #expect(!isFound("let d = 4\n\nlet b = 2"))
        #expect(!isFound("import B\n\nlet a = 1"))
        #expect(!isFound("let a = 1\nlet a = 1"))
        #expect(!isFound("let b"))
    }
}
