import Foundation
import Testing
import afnet

/// curl's options for bodies, and other options about the request.
/// Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct BodyOptionTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.install(.redirects)
        server.route("GET", "/big", .stream(.repeating("x", count: 40_000)))
        server.route("*", "/*", .text("answer"))
    }

    private var url: String { server.url("/x").absoluteString }

    private func sent(_ options: String..., input: String = "") async throws -> RecordedRequest {
        let run = try await Program.run(options + [url], input: Data(input.utf8))
        #expect(run.code == 0 && run.errors == "")
        return try #require(server.requests.last)
    }

    private static let challenge =
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
        + "Content-Length: 0\r\nConnection: close\r\n\r\n"

    @Test(arguments: [true, false])
    func `a body of more than 1 MiB, or of no known length, stays here until the server wants it`(isFile: Bool)
        async throws
    {
        let body = Data(repeating: 0x78, count: isFile ? 1 << 20 + 1 : 5)
        server.script(on: .connection(1), .expectHead, .send(Self.challenge), .close)
        let source = isFile ? try folder.make("long", body) : "-"
        let run = try await Program.run(
            ["-s", "-f", "--digest", "-u", "me:secret", "-T", source, url],
            input: isFile ? Data() : body
        )

        #expect(run.code == 0 && run.text == "answer", "\(run.errors)")
        #expect(server.requests.map { $0.headers["Expect"] } == ["100-continue", "100-continue"])
        #expect(server.requests.map(\.bodyByteCount) == [0, body.count])
        #expect(server.requests.last?.headers["Authorization"]?.hasPrefix("Digest ") == true)
    }

    @Test func `a shorter body does not wait, nor one whose command line takes the field out`() async throws {
        let short = try folder.make("short", Data(repeating: 0x78, count: 1 << 20))
        let long = try folder.make("long", Data(repeating: 0x78, count: 1 << 20 + 1))

        #expect(try await sent("-T", short).headers["Expect"] == nil)
        #expect(try await sent("-T", long, "-H", "Expect:").headers["Expect"] == nil)
        #expect(try await sent("-T", long, "-0").headers["Expect"] == nil)
        #expect(try await sent("--data-binary", "@\(long)").headers["Expect"] == "100-continue")
    }

    @Test func `--data reads files without their line ends, --data-raw sends its value as it is`() async throws {
        let file = try folder.make("f", Data("a=1\r\nb=\0\n2\n".utf8))

        #expect(try await sent("-d", "x=y", "-d", "@\(file)").bodyText == "x=y&a=1b=2")
        #expect(try await sent("-d", "@-", input: "1\n2").bodyText == "12")
        #expect(try await sent("--data", "@\(file)").bodyText == "a=1b=2")
        #expect(try await sent("--data-raw", "@\(file)", "-d", "z").bodyText == "@\(file)&z")
    }

    @Test func `a word that is not UTF-8 is refused, and a file may have such bytes`() async throws {
        for words in ["--data \"$bytes\"", "-o \"$bytes\"", "\"$bytes\"", "cookies \"$bytes\""] {
            let script = "bytes=\"$(printf 'caf\\351')\"; exec \"$1\" \(words) \"$2\""
            let run = try await Program.run(inShell: script, [url])
            #expect(run.code == 2 && run.errors.contains(" is not UTF-8: "), "\(words)")
        }
        #expect(server.requests.isEmpty)

        let file = try folder.make("f", Data([0x63, 0xE9]))
        #expect(Data(try await sent("--data-binary", "@\(file)").body) == Data([0x63, 0xE9]))
        #expect(try await sent("--data", "café").bodyText == "café")
    }

    @Test func `--data-binary sends every byte of a file, large ones from the disk`() async throws {
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let file = try folder.make("f", bytes)
        let request = try await sent("--data-binary", "@\(file)")

        #expect(request.body == bytes && request.method == "POST")
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(try await sent("--data-binary", "a", "--data-binary", "@\(file)").body == Data("a&".utf8) + bytes)
        #expect(try await Program.run("--data-binary", "@\(folder.path("none"))", url).code == 26)
    }

    @Test func `--data-urlencode in all its forms`() async throws {
        let file = try folder.make("f", Data("a b\n".utf8))
        let request = try await sent(
            "--data-urlencode",
            "a b&ü",
            "--data-urlencode",
            "=a=b",
            "--data-urlencode",
            "n m=a@b",
            "--data-urlencode",
            "@\(file)",
            "--data-urlencode",
            "name@\(file)",
            "-d",
            "plain=1 2"
        )

        #expect(request.bodyText == "a+b%26%C3%BC&a%3Db&n m=a%40b&a+b%0A&name=a+b%0A&plain=1 2")
    }

    @Test func `--json sends and accepts JSON, unless --header says otherwise`() async throws {
        let file = try folder.make("f", Data("\"x\"\n}".utf8))
        let request = try await sent("--json", "{\"a\":", "--json", "@\(file)")
        let other = try await sent("--json", "1", "-H", "Content-Type: application/ld+json", "-X", "PATCH")

        #expect(request.bodyText == "{\"a\":\"x\"\n}" && request.method == "POST")
        #expect(request.headers.values(of: "Content-Type") == ["application/json"])
        #expect(request.headers.values(of: "Accept") == ["application/json"])
        #expect(other.method == "PATCH" && other.headers["Content-Type"] == "application/ld+json")
    }

    @Test func `--get puts the fields into the query`() async throws {
        let request = try await sent("-G", "-d", "a=1", "--data-urlencode", "b=x y")
        #expect(request.method == "GET" && request.target == "/x?a=1&b=x+y" && request.body.isEmpty)
        #expect(request.headers["Content-Type"] == nil)

        _ = try await Program.run("-G", "-I", "-d", "a", "\(url)?q=1#end")
        #expect(server.requests.last?.target == "/x?q=1&a" && server.requests.last?.method == "HEAD")
        #expect(try await Program.run("-G", "-d", "a b", url).code == 3)
        _ = try await Program.run("--url-query", "a=x y", "--url-query", "+b=%20", "-d", "body", url)
        #expect(server.requests.last?.target == "/x?a=x+y&b=%20" && server.requests.last?.bodyText == "body")
    }

    @Test func `-X GET and -X HEAD send a body, too, as in curl, and TRACE has none`() async throws {
        #expect(try await sent("-X", "GET", "-d", "{}").bodyText == "{}" && server.requests.last?.method == "GET")
        #expect(try await sent("-X", "HEAD", "-d", "{}").bodyText == "{}" && server.requests.last?.method == "HEAD")
        let count = server.requests.count
        #expect(try await Program.run("-X", "TRACE", "-d", "{}", url).code == 43 && server.requests.count == count)
        _ = try await Program.run("-L", "-X", "GET", "-d", "q", server.url("/redirect-to?url=/x").absoluteString)
        #expect(server.requests.dropFirst(count).map(\.bodyText) == ["q", ""])
        #expect(server.requests.last?.bodyText == "" && server.requests.last?.headers["Content-Type"] == nil)
    }

    // MARK: - Uploads

    @Test func `an upload gives the file's name to a URL that has none`() async throws {
        let file = try folder.make("a ü.txt", Data("1".utf8))
        let root = server.url("/d/").absoluteString
        _ = try await Program.run("-T", file, root)
        _ = try await Program.run("-T", file, String(server.url("/").absoluteString.dropLast()))
        _ = try await Program.run("-T", file, url)
        _ = try await Program.run("--upload-file", file, "\(root)?a=/#f")

        let name = "a%20%C3%BC.txt"
        #expect(server.requests.map(\.target) == ["/d/\(name)", "/\(name)", "/x", "/d/\(name)?a=/"])
    }

    @Test func `each file goes to its URL, and a URL behind them is loaded`() async throws {
        let (a, b) = (try folder.make("a", Data("1".utf8)), try folder.make("b", Data("2".utf8)))
        let root = server.url("/d/").absoluteString
        #expect(try await Program.run("-T", a, "-T", b, root, url, url).code == 0)

        let requests = server.requests
        #expect(requests.map(\.method) == ["PUT", "PUT", "GET"] && requests.map(\.bodyText) == ["1", "2", ""])
        #expect(requests.map(\.target) == ["/d/a", "/x", "/x"])
    }

    @Test func `an upload goes on at a byte, and says which part it is`() async throws {
        let file = try folder.make("f", Data("0123456789".utf8))
        for words in [["-C", "4"], ["--continue-at", "4", "-H", "Transfer-Encoding: chunked"]] {
            _ = try await Program.run(words + ["-T", file, url])
            #expect(server.requests.last?.bodyText == "456789" && server.requests.last?.method == "PUT")
            #expect(server.requests.last?.headers["Content-Range"] == "bytes 4-9/10")
        }
        for words in [["-C", "-"], ["-C", "0"], ["-r", "2-3"], ["-C", "4", "-H", "Content-Range: bytes 1-2/3"]] {
            _ = try await Program.run(words + ["-T", file, url])
        }

        #expect(server.requests.suffix(4).map { $0.bodyText.count } == [10, 10, 10, 6])
        #expect(
            server.requests.suffix(4).map { $0.headers["Content-Range"] }
                == ["bytes 0-9/10", nil, "bytes 2-3/10", "bytes 1-2/3"]
        )
        #expect(server.requests.allSatisfy { $0.headers["Range"] == nil })
        let empty = try folder.make("e")
        #expect(try await Program.run("-C", "-", "-T", empty, url).code == 0)
        #expect(server.requests.last?.headers["Content-Range"] == nil)
    }

    @Test func `an upload that goes on is sent again from the same byte`() async throws {
        let file = try folder.make("f", Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
        let target = server.url("/redirect-to?status_code=307&url=/x").absoluteString
        #expect(try await Program.run("-L", "-C", "100000", "-T", file, target).code == 0)

        let rest = try #require(folder.contents("f")).suffix(100_000)
        #expect(server.requests.map { Data($0.body) } == [rest, rest])
    }

    @Test func `nothing is sent if nothing is left to upload, or the file has no size`() async throws {
        let file = try folder.make("f", Data("0123456789".utf8))
        for offset in ["10", "99"] {
            let run = try await Program.run("-C", offset, "-T", file, url)
            #expect(run.code == 18 && run.errors.contains("nothing is left to upload: \(file) has 10 bytes"))
        }
        #expect(try await Program.run("-C", "3", "-T", folder.path("none"), url).code == 26)
        #expect(try await Program.run("-C", "3", "-T", "/dev/null", url).code == 26)
        #expect(server.requests.isEmpty)
    }

    @Test func `a file to upload belongs to its URL, and -C to the file that another URL loads into`() async throws {
        let file = try folder.make("f", Data("0123456789".utf8))
        let part = try folder.make("part", Data("abc".utf8))
        // The server does not go on there.
        #expect(try await Program.run("-C", "-", "-T", file, "-o", "/dev/null", "-o", part, url, url).code == 33)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=3-"])
        #expect(server.requests.map(\.bodyText) == ["0123456789", ""] && folder.contents("part") == Data("abc".utf8))
    }

    @Test func `a list of files goes to each of the URLs, and -g takes it for a name`() async throws {
        let (a, b) = (try folder.make("a", Data("1".utf8)), try folder.make("b", Data("2".utf8)))
        let list = "{\(a),\(b)}"
        #expect(try await Program.run("-T", list, server.url("/").absoluteString + "{x,y}/").code == 0)
        #expect(server.requests.map(\.target) == ["/x/a", "/y/a", "/x/b", "/y/b"])
        #expect(server.requests.map(\.bodyText) == ["1", "1", "2", "2"])
        #expect(try await Program.run("-T", "{\(a),\(folder.path("none"))}", url).code == 26)
        #expect(server.requests.count == 5 && server.requests.last?.bodyText == "1")
        #expect(try await Program.run("-g", "-T", list, url).code == 26 && server.requests.count == 5)
    }

    @Test func `a file that is sent with POST has no Content-Type, as in curl, unless -H sets it`() async throws {
        let file = try folder.make("f", Data("1".utf8))
        _ = try await Program.run("-X", "POST", "-T", file, url)
        _ = try await Program.run("-X", "POST", "-T", file, "-H", "Content-Type: text/csv", url)
        _ = try await Program.run("-d", "a=b", "-H", "Content-Type:", url)

        #expect(server.requests.map { $0.headers["Content-Type"] } == [nil, "text/csv", nil])
        #expect(server.requests.map(\.method) == ["POST", "POST", "POST"])
    }

    @Test func `-A and -e set User-Agent and Referer`() async throws {
        let request = try await sent("-A", "Me/1", "-e", "http://h/")
        #expect(request.headers.values(of: "User-Agent") == ["Me/1"] && request.headers["Referer"] == "http://h/")

        let address = server.url("/redirect/2").absoluteString
        _ = try await Program.run("-L", "-e", ";auto", address)
        let hops = server.requests.suffix(3).map { $0.headers["Referer"] }
        #expect(hops == [nil, address, server.url("/redirect/1").absoluteString])
    }

    @Test func `T-RED-27 -e with ;auto sends no Referer with an https URL to an http server`() async throws {
        let authority = try CertificateAuthority("test")
        let root = try folder.make("root.pem", Data(authority.pem.utf8))
        let secured = try TestServer(tls: ServerTLS(try authority.issue(for: "127.0.0.1")))
        secured.route("GET", "/in", ServerReply.status(302).header("Location", "/out?token=1"))
        let away = ServerReply.status(302).header("Location", url)
        secured.route("GET", "/out", away)
        let start = secured.url("/in").absoluteString.replacingOccurrences(of: "//", with: "//u:p@") + "?t=1#f"

        #expect(try await Program.run("-L", "-e", "http://h/;auto", "--cacert", root, start).text == "answer")

        #expect(secured.requests.map { $0.headers["Referer"] } == ["http://h/", secured.url("/in?t=1").absoluteString])
        #expect(server.requests.map { $0.headers["Referer"] } == [nil])
    }

    @Test func `--url is a URL`() async throws {
        #expect(try await Program.run("--url", url, url).text == "answeranswer")
    }

    @Test func `--limit-rate limits both directions`() async throws {
        let file = try folder.make("f", Data(count: 40_000))
        let start = ContinuousClock.now
        #expect(try await Program.run("--limit-rate", "20k", server.url("/big").absoluteString).output.count == 40_000)
        #expect(ContinuousClock.now - start > .seconds(1))
        let middle = ContinuousClock.now
        #expect(try await Program.run("--limit-rate", "20k", "-T", file, url).code == 0)
        #expect(ContinuousClock.now - middle > .seconds(1))
        #expect(try Arguments(["--limit-rate", "1.5M", "u"]).rate == 1_572_864)
    }
}
