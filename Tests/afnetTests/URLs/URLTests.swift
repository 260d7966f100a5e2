import Foundation
import Testing
import afnet

/// URLs as people write them.
@Suite struct URLTests {
    private static func urls(_ pattern: String) throws -> [String] {
        let pattern = try URLPattern(pattern)
        return (0..<pattern.count).map { pattern[$0].url }
    }

    @Test(
        arguments: [
            ("h/x", ["h/x"]), ("h/{a,b}", ["h/a", "h/b"]), ("h/{a,}", ["h/a", "h/"]),
            ("{a,b}.h/[1-2]", ["a.h/1", "a.h/2", "b.h/1", "b.h/2"]), ("[1-10:3]", ["1", "4", "7", "10"]),
            ("[08-11]", ["08", "09", "10", "11"]), ("[a-e:2]", ["a", "c", "e"]), ("[X-Z]", ["X", "Y", "Z"]),
            ("[::1]:80/[1-2]", ["[::1]:80/1", "[::1]:80/2"]), ("[fe80::1%25lo]/", ["[fe80::1%25lo]/"]),
            (#"h/\{a\}"#, ["h/{a}"]), (#"{a\,b,c}"#, ["a,b", "c"]), ("{http,https}://h/", ["http://h/", "https://h/"]),
            ("h/a[]/[1-2]", ["h/a[]/1", "h/a[]/2"]),
        ] as [(String, [String])]
    )
    func `lists stand for several URLs`(pattern: String, urls: [String]) throws {
        #expect(try Self.urls(pattern) == urls)
    }

    @Test(arguments: [
        "h/{", "h/{}", "h/{a", "h/a}", "h/a]", "h/[", "h/[1", "h/[1-", "h/[2-1]", "h/[c-a]", "h/[a-cx]",
        "h/[1-2:0]",
        "h/[a-Z]", "h/{a[1-2]}", "h/[1-99999999]", "h/[1-9999]/[1-9999]", "h/[-1-2]", "h/[1-2:99999999999999999999]",
    ])
    func `a list that cannot be read is 3, and its URL is shown`(pattern: String) {
        #expect {
            try Arguments(["http://u:secret@\(pattern)"])
        } throws: {
            let error = $0 as? ArgumentError
            return error?.code == .malformedURL && error?.message.contains("--globoff") == true
                && error?.message.contains("secret") == false
        }
        #expect(throws: Never.self) { try Arguments(["-g", pattern]) }
    }

    @Test(
        arguments: [
            ("localhost:8080/x", "http://localhost:8080/x"), ("h", "http://h"), ("u:p@h/x", "http://u:p@h/x"),
            ("HTTPS://h/", "HTTPS://h/"), ("foo://h/", "foo://h/"), ("[::1]/", "http://[::1]/"), ("/x", "/x"), ("", ""),
            ("http://h/a/../b/./c", "http://h/b/c"), ("http://h/a/b/..", "http://h/a/"), ("http://h/..", "http://h/"),
            ("http://h/../../a?b=/../c#/./d", "http://h/a?b=/../c#/./d"), ("http://h/a/.", "http://h/a/"),
            ("http://h/a/%2e%2E/b", "http://h/a/%2e%2E/b"), ("http://h/...", "http://h/..."),
            ("http://h/ä?ö=ü#€", "http://h/%C3%A4?%C3%B6=%C3%BC#%E2%82%AC"),
            ("http://h/{a}|[b]", "http://h/%7Ba%7D%7C%5Bb%5D"),
            ("http://Bücher.example:80/", "http://xn--bcher-kva.example:80/"),
            ("http://ü:ö@日本語.jp/", "http://%C3%BC:%C3%B6@xn--wgv71a119e.jp/"), ("http://a b/", "http://a b/"),
            ("http://faß.de", "http://xn--fa-hia.de"), ("http://h/a b", "http://h/a b"),
            ("http:/h/x", "http://h/x"), ("HTTPS:///h/x", "HTTPS://h/x"), ("http:////h/x", "http:////h/x"),
            ("foo:/h/x", "foo:/h/x"), ("http://h/x#a#b", "http://h/x#a%23b"),
        ] as [(String, String)]
    )
    func `a URL gets a scheme, loses its dots, and is encoded`(given: String, text: String) {
        #expect(URLText(given, scheme: "http").text == text)
    }

    @Test func `the path may stay as it is`() {
        #expect(URLText("h/a/../b", scheme: "https", keepsDots: true).text == "https://h/a/../b")
    }
}

/// The same through the program. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct URLProgramTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.route("*", "/*") { .text("<\($0.target)>") }
    }

    private var place: String { "127.0.0.1:\(server.port)" }

    @Test func `a URL needs no scheme, and --proto-default names another`() async throws {
        #expect(try await Program.run("\(place)/x").text == "</x>")
        #expect(try await Program.run("--proto-default", "https", "\(place)/x").code == 35)
        #expect(try await Program.run("--proto-default", "http", "--proto", "=http", "\(place)/x").text == "</x>")
    }

    @Test func `the words of lists are in the names of files, and --write-out counts URLs as they were given`()
        async throws
    {
        let output = folder.path("#2-#1-#3")
        let run = try await Program.run("-w", "%{urlnum}%{url}\n", "-o", output, "\(place)/{a,b}/[01-02]", "\(place)/c")

        #expect(run.text.hasPrefix("0\(place)/a/01\n0\(place)/a/02\n0\(place)/b/01\n"))
        #expect(folder.contents("01-b-#3") == Data("</b/01>".utf8) && folder.contents("02-a-#3") != nil)
        #expect(run.text.contains("1\(place)/c\n</c>") == false && run.text.hasSuffix("</c>1\(place)/c\n"))
        #expect(try await Program.run("-Z", "\(place)/[1-3]").text == "</1></2></3>")
        #expect(try await Program.run("-g", "\(place)/[1-3]").text == "</%5B1-3%5D>")
    }

    @Test func `dots leave the path, unless it stays as it is`() async throws {
        #expect(try await Program.run("\(place)/a/../b").text == "</b>")
        #expect(try await Program.run("--path-as-is", "\(place)/a/../b").text == "</a/../b>")
    }

    @Test(arguments: [
        ("../c", "/a/../c"), ("c/../d", "/a/../b/c/../d"), ("/c/../d?q=..", "/c/../d?q=.."), ("./c", "/a/../b/c"),
        ("http://PLACE/c/./d", "/c/./d"), ("//PLACE/../d", "/../d"), ("../../../c", "/c"), ("?q", "/a/../b/x?q"),
    ])
    func `--path-as-is leaves dots in the path behind a redirect, too`(place: String, target: String) async throws {
        let location = place.replacing("PLACE", with: self.place)
        server.route("*", "/*") { request in
            request.target == "/a/../b/x" ? .status(302).header("Location", location) : .text("<\(request.target)>")
        }
        let run = try await Program.run("--path-as-is", "-L", "--max-redirs", "1", "\(self.place)/a/../b/x")

        #expect(run.code == 0 && run.text == "<\(target)>", "\(run.errors)")
    }

    @Test func `international names of hosts and paths are encoded`() async throws {
        let run = try await Program.run(
            "--resolve",
            "xn--bcher-kva.test:80:127.0.0.1",
            "--connect-to",
            "",
            "bücher.test/ü"
        )
        #expect(run.code == 49)
        let other = ["--connect-to", "xn--bcher-kva.test:80:\(place)", "http://bücher.test/ü?ö"]
        #expect(try await Program.run(other).text == "</%C3%BC?%C3%B6>")
        #expect(server.requests.last?.headers["Host"] == "xn--bcher-kva.test")
        #expect(try await Program.run("http://a\u{202E}b.test/").code == 3)
    }

    @Test func `a user in the URL can be refused`() async throws {
        #expect(try await Program.run("--disallow-username-in-url", "http://u:p@\(place)/").code == 67)
        #expect(try await Program.run("--disallow-username-in-url", place).code == 0 && server.requests.count == 1)
    }
}
