import AFWire
import Testing

@testable import AFState

@Suite("Where a credential that worked is sent")
struct ProtectionScopeTests {
    private static func path(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func folder(_ path: String) -> ProtectionScope { .folder(of: Self.path(path)) }

    private static func domain(_ words: String...) throws -> ProtectionScope {
        .domain(words.map(path), at: try Endpoint(scheme: .https, host: "a.test"))
    }

    @Test(
        arguments: [
            ("/a/b", "/a/c", 3), ("/a/b", "/a/", 3), ("/a/b", "/a", nil), ("/a/b", "/b", nil),
            ("/a/b?q=/x/", "/a/y", 3),
            ("/a/b?q=/x/", "/a/b?q=/x/y", 3), ("/a/b/", "/a/b/c?d", 5), ("/", "/x/y", 1), ("/a/../b", "/a/", nil),
            ("/a/../b", "/b", nil), ("/a/b", "/a/%2e%2e/c", nil), ("/a/b", "/a/..\\c", nil), ("/a/b", "/a/...", 3),
            ("*", "/a", nil), ("*", "*", nil),
        ] as [(String, String, Int?)]
    )
    func `a password of Basic is for the folder it worked in`(proven: String, path: String, reach: Int?) {
        #expect(Self.folder(proven).reach(to: Self.path(path)) == reach)
    }

    @Test(
        arguments: [
            ("/a", "/a", 2), ("/a", "/a/b", 2), ("/a", "/ab", nil), ("/a/", "/a", nil), ("/a/", "/a/b", 3),
            ("/a?x", "/a?y", 2), ("https://a.test/c", "/c/d", 2), ("https://a.test:443/c", "/c", 2),
            ("https://b.test/c", "/c", nil), ("http://a.test/c", "/c", nil), ("//a.test/c", "/c", nil),
            ("//a.test/c", "//a.test/c", nil),
            ("c", "/c", nil),
            ("", "/", nil), ("/a/../", "/a/", nil),
        ] as [(String, String, Int?)]
    )
    func `an answer of Digest is for the paths of the server's list`(word: String, path: String, reach: Int?) throws {
        #expect(try Self.domain(word).reach(to: Self.path(path)) == reach)
    }

    @Test func `of several prefixes the longest counts`() throws {
        let scope = try Self.domain("/a", "/a/b/c", "/a/b")

        #expect(scope.reach(to: Self.path("/a/b/c/d")) == 6)
        #expect(scope.reach(to: Self.path("/a/b/d")) == 4)
        #expect(scope.reach(to: Self.path("/a/d")) == 2)
    }

    @Test func `what covers everything has the shortest reach, and covers paths with dots`() throws {
        let everything = ProtectionScope.domain(nil, at: try Endpoint(scheme: .https, host: "a.test"))

        #expect(everything.reach(to: Self.path("/x/../y")) == 0)
        #expect(ProtectionScope.everything.reach(to: []) == 0)
    }

    @Test func `a scope grows by what it does not cover yet`() {
        var scope = Self.folder("/a/x")
        scope.formUnion(Self.folder("/a/b/x"))
        #expect(scope.prefixes == [Self.path("/a/")])
        scope.formUnion(Self.folder("/c/x"))
        #expect(scope.prefixes == [Self.path("/a/"), Self.path("/c/")])
        // What covers nothing takes no place.
        scope.formUnion(Self.folder("/d/../x"))
        #expect(scope.prefixes == [Self.path("/a/"), Self.path("/c/")])
    }

    @Test func `everything stays everything, and adds everything`() {
        var scope = ProtectionScope.everything
        scope.formUnion(Self.folder("/a/x"))
        #expect(scope.prefixes == nil)
        scope = Self.folder("/a/x")
        scope.formUnion(.everything)
        #expect(scope.prefixes == nil)
    }

    @Test func `of more than 32 prefixes the first ones are forgotten`() {
        var scope = Self.folder("/0/x")
        for number in 1..<32 { scope.formUnion(Self.folder("/\(number)/x")) }
        #expect(scope.reach(to: Self.path("/0/y")) == 3)
        scope.formUnion(Self.folder("/32/x"))

        #expect(scope.reach(to: Self.path("/0/y")) == nil)
        #expect(scope.reach(to: Self.path("/1/y")) == 3)
        #expect(scope.reach(to: Self.path("/32/y")) == 4)
    }
}
