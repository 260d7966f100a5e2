import AFURLTypes
import AFWire
import Foundation
import Testing

@testable import AFState

extension CookieRules {
    struct Suffixes {
        private static let systemText = PublicSuffixSource.systemPaths[0]
        private static let systemGraph = PublicSuffixSource.systemPaths[2]
        private static var hasText: Bool { FileManager.default.fileExists(atPath: systemText) }
        private static var hasBoth: Bool { hasText && FileManager.default.fileExists(atPath: systemGraph) }

        @Test func `a name is registered one label below its suffix, T-COO-01`() {
            for (name, expected) in [
                ("com", nil), ("example.com", "example.com"), ("a.b.example.com", "example.com"), ("co.uk", nil),
                ("shop.co.uk", "shop.co.uk"), ("a.shop.co.uk", "shop.co.uk"), ("uk", nil), ("bbc.uk", "bbc.uk"),
                ("unlisted", nil), ("example.unlisted", "example.unlisted"), ("x.kobe.jp", nil),
                ("a.x.kobe.jp", "a.x.kobe.jp"), ("city.kobe.jp", "city.kobe.jp"), ("a.city.kobe.jp", "city.kobe.jp"),
                ("ck", nil), ("x.ck", nil), ("a.x.ck", "a.x.ck"), ("www.ck", "www.ck"), ("a.www.ck", "www.ck"),
                ("xn--55qx5d.cn", nil), ("a.xn--55qx5d.cn", "a.xn--55qx5d.cn"),
            ] as [(String, String?)] {
                #expect(CookieRules.suffixes.registrableDomain(of: name) == expected, "\(name)")
                #expect(CookieRules.suffixes.isPublicSuffix(name) == (expected == nil), "\(name)")
            }
        }

        @Test(.enabled(if: hasText)) func `the installed list is read, T-COO-01`() throws {
            let list = try PublicSuffixes.read(Suffixes.systemText)
            for (name, expected) in [
                ("biz", nil), ("domain.biz", "domain.biz"), ("b.domain.biz", "domain.biz"), ("uk.com", nil),
                ("example.uk.com", "example.uk.com"), ("ac.jp", nil), ("test.ac.jp", "test.ac.jp"),
                ("ide.kyoto.jp", nil),
                ("b.ide.kyoto.jp", "b.ide.kyoto.jp"), ("c.kobe.jp", nil), ("b.c.kobe.jp", "b.c.kobe.jp"),
                ("www.city.kobe.jp", "city.kobe.jp"), ("test.ck", nil), ("b.test.ck", "b.test.ck"),
                ("www.www.ck", "www.ck"), ("k12.ak.us", nil), ("www.test.k12.ak.us", "test.k12.ak.us"),
                ("xn--55qx5d.cn", nil), ("shishi.xn--55qx5d.cn", "shishi.xn--55qx5d.cn"), ("xn--fiqs8s", nil),
                ("xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"), ("github.io", nil),
            ] as [(String, String?)] {
                #expect(list.registrableDomain(of: name) == expected, "\(name)")
            }
        }

        @Test(.enabled(if: hasBoth)) func `both forms of the installed list say the same, T-COO-01`() throws {
            let text = try PublicSuffixes.read(Suffixes.systemText)
            let graph = try PublicSuffixes.read(Suffixes.systemGraph)
            let lines = try String(contentsOfFile: Suffixes.systemText, encoding: .utf8).utf8.split(separator: 0x0A)
            var compared = 0
            for line in lines where !line.starts(with: "//".utf8) && line.allSatisfy({ $0 < 0x80 }) {
                let rule = String(
                    decoding: line.drop { !(0x61...0x7A).contains($0) && !(0x30...0x39).contains($0) },
                    as: UTF8.self
                )
                for name in [rule, "x.\(rule)", "y.x.\(rule)"] {
                    #expect(text.isPublicSuffix(name) == graph.isPublicSuffix(name), "\(name)")
                    compared += 1
                }
            }
            #expect(compared > 20_000)
        }

        @Test func `a graph of a few bytes is read, and none is trusted`() throws {
            let head = Array(".DAFSA@PSL_0   \n".utf8)
            let (a, dot, b) = (UInt8(ascii: "a"), UInt8(ascii: "."), UInt8(ascii: "b") | 0x80)
            let graph = try #require(PublicSuffixGraph(head + [0x81, a, dot, b, 0x81, 0x84]))
            let list = PublicSuffixes(graph)
            #expect(list.isPublicSuffix("a.b"))
            for name in ["x.a.b", "a.c", "b.b", "a.bb", "c.d"] { #expect(!list.isPublicSuffix(name), "\(name)") }
            var dice = CookieDice(11)
            for _ in 0..<5000 {
                let bytes = (0..<Int.random(in: 1...40, using: &dice)).map { _ in dice.next8 }
                _ = PublicSuffixGraph(head + bytes).map { PublicSuffixes($0).isPublicSuffix("a.b.c") }
            }
            #expect(PublicSuffixGraph(Array(".DAFSA@PSL_1   \nxyz".utf8)) == nil)
        }

        @Test func `without a list the built-in rules apply, and one look says why, T-COO-04`() async throws {
            let folder = try ScratchFolder()
            let cut = folder.file("cut")
            try Data("// ===BEGIN ICANN DOMAINS===\ncom\n".utf8).write(to: cut)
            try Data([0, 1, 2, 3, 10, 0]).write(to: folder.file("noise"))
            let paths = ["missing", "cut", "noise", "", "noise"].map { folder.url.path + "/" + $0 }
            let source = PublicSuffixSource(paths: Array(paths.prefix(4)))
            #expect(source.failures.isEmpty)

            await withCheckedContinuation { done in source.whenLoaded { done.resume() } }

            #expect(source.origin == .builtIn)
            #expect(source.failures.map(\.path) == Array(paths.prefix(4)))
            #expect(source.failures.map(\.fault).suffix(3) == [.malformed, .malformed, .notRegular])
            #expect(source.failures[0].description.contains("No such file"))
            #expect(source.failures[1].description.contains("publicsuffix.org"))
            // Never: everything is allowed.
            for name in ["com", "co.uk", "com.au", "gov.br", "github.io", "x.ck", "herokuapp.com", "unlisted"] {
                #expect(source.loaded.isPublicSuffix(name), "\(name)")
            }
            for name in ["example.com", "t.co", "bbc.uk", "ibm.de", "www.ck"] {
                #expect(!source.loaded.isPublicSuffix(name), "\(name)")
            }
        }

        @Test func `a list comes off the caller's thread, and what it forbids is dropped, T-COO-04`() async throws {
            let folder = try ScratchFolder()
            let file = folder.file("list")
            try Data("com\nhosting.com\n".utf8).write(to: file)
            let source = PublicSuffixSource(paths: [file.path])
            let storage = HTTPCookieStorage(source: source, clock: { 1000 })
            let question = try CookieRules.question("http://me.hosting.com/")
            let line = Array("a=b; Domain=hosting.com".utf8)

            storage.receive([line, Array("own=1".utf8)], for: question, now: 1000)
            await withCheckedContinuation { done in source.whenLoaded { done.resume() } }

            #expect(source.origin == .file(file.path))
            #expect(storage.cookieField(for: question, now: 1000) == "own=1")
            #expect(storage.receive([line], for: question, now: 1000) == 1)
        }

        @Test func `another list may be brought, if it is one`() throws {
            let folder = try ScratchFolder()
            try Data("com\nexample.com\n".utf8).write(to: folder.file("list"))
            let source = PublicSuffixSource(CookieRules.suffixes)

            #expect(throws: PublicSuffixFailure.self) { try source.replace(withFileAt: folder.file("missing").path) }
            #expect(!source.loaded.isPublicSuffix("example.com"))
            try source.replace(withFileAt: folder.file("list").path)

            #expect(source.loaded.isPublicSuffix("example.com"))
        }
    }
}

extension CookieRules.Alone {
    @Test func `a program may bring a public suffix list for all its stores`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            try Data("com\nexample.com\n".utf8).write(to: folder.file("list"))
            try Data([0, 1, 2]).write(to: folder.file("noise"))
            let store = HTTPCookieStorage()
            let url = try #require(URL(string: "http://a.example.com/"))
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "a", .value: "b", .domain: ".example.com", .path: "/",
            ]

            #expect(throws: PublicSuffixFailure.self) {
                try HTTPCookieStorage.usePublicSuffixList(at: try #require(URL(string: "http://a.test/list")))
            }
            #expect(throws: PublicSuffixFailure.self) {
                try HTTPCookieStorage.usePublicSuffixList(at: folder.file("noise"))
            }
            store.setCookie(try #require(HTTPCookie(properties: properties)))
            #expect(store.cookies(for: url)?.count == 1)

            try HTTPCookieStorage.usePublicSuffixList(at: folder.file("list"))

            #expect(HTTPCookieStorage.publicSuffixList?.lastPathComponent == "list")
            #expect(HTTPCookieStorage.publicSuffixListFailures.isEmpty)
            #expect(store.cookies(for: url)?.isEmpty == true)
        }
    }
}
