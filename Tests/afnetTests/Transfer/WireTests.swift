import Foundation
import Testing
import afnet

/// The bytes of requests, and host overrides. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct WireTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.route("*", "/away", .status(307).header("Location", "/x"))
        server.route("*", "/*", .text("answer"))
    }

    private var url: String { server.url("/x").absoluteString }

    /// The lines of the request that arrives.
    private func lines(_ arguments: String...) async throws -> [String] {
        let run = try await Program.run(arguments + [url])
        #expect(run.code == 0, "\(run.errors)")
        let request = try #require(try await server.waitForRequests(1).last)
        return ["\(request.method) \(request.target) \(request.version)"]
            + request.headers.fields.map { "\($0.name): \($0.value)" }
    }

    private var host: String { "Host: 127.0.0.1:\(server.port)" }

    @Test func `a plain request has the fields of curl's`() async throws {
        let sent = try await lines("-H", "X-Two: 2", "-H", "X-One: 1")

        #expect(sent.first == "GET /x HTTP/1.1")
        #expect(sent[1] == host && sent[2].hasPrefix("User-Agent: afnet/") && sent[3] == "Accept: */*")
        #expect(sent[4...] == ["X-Two: 2", "X-One: 1"])
    }

    @Test func `default fields can be left out`() async throws {
        #expect(try await lines("-H", "Accept:", "-H", "User-Agent:") == ["GET /x HTTP/1.1", host])
    }

    @Test(arguments: ["Host:", "Content-Length:"])
    func `fields that a request needs cannot be left out`(field: String) async throws {
        let run = try await Program.run("-H", field, url)

        #expect(run.code == 43 && server.acceptedConnections == 0)
    }

    @Test func `--http1.0 sends HTTP/1.0`() async throws {
        let sent = try await lines("--http1.0", "-d", "a=1", "-H", "Accept:", "-H", "User-Agent:")

        #expect(
            sent == ["POST /x HTTP/1.0", host, "Content-Type: application/x-www-form-urlencoded", "Content-Length: 3"]
        )
    }

    @Test func `--http1.0 cannot send a body without a length`() async throws {
        let run = try await Program.run(["--http1.0", "-T", "-", url], input: Data("abc".utf8))

        #expect(run.code == 43 && run.errors.contains("Content-Length") && server.requests.isEmpty)
    }

    @Test func `a body is sent in chunks if Transfer-Encoding says so, and again after a redirect`() async throws {
        let file = try folder.make("body", Data("from a file".utf8))
        for body in [["-d", "from the line"], ["-T", file], ["--data-file", file]] {
            let target = server.url("/away").absoluteString
            let run = try await Program.run(["-L", "-H", "Transfer-Encoding: chunked"] + body + [target])
            #expect(run.code == 0, "\(run.errors)")
        }

        let requests = try await server.waitForRequests(6)
        let expected = ["from the line", "from a file", "from a file"].flatMap { [$0, $0] }
        #expect(requests.map(\.bodyText) == expected)
        #expect(requests.allSatisfy { $0.headers["Transfer-Encoding"] == "chunked" })
        #expect(requests.allSatisfy { $0.headers["Content-Length"] == nil })
    }

    @Test func `parts make a form, in order`() async throws {
        let file = try folder.make("picture.png", Data("PNG".utf8))
        let run = try await Program.run(
            "--part",
            #"{"name":"a","value":"ü\n"}"#,
            "--part",
            #"{"name":"f","file":"\#(file)"}"#,
            "--part",
            #"{"name":"g","file":"\#(file)","filename":"x.bin","type":"application/x-mine"}"#,
            "--part",
            #"{"name":"h","value":"{}","type":"application/json"}"#,
            url
        )
        let request = try #require(try await server.waitForRequests(1).first)

        #expect(run.code == 0, "\(run.errors)")
        let type = try #require(request.headers["Content-Type"])
        let boundary = try #require(type.split(separator: "boundary=").last)
        #expect(request.method == "POST" && type.hasPrefix("multipart/form-data; boundary="))
        let parts = request.bodyText.components(separatedBy: "--\(boundary)")
        #expect(parts.count == 6 && parts.last == "--\r\n")
        #expect(parts[1].contains("name=\"a\"") && parts[1].hasSuffix("\r\n\r\nü\n\r\n"))
        #expect(parts[2].contains("filename=\"picture.png\"") && parts[2].contains("Content-Type: image/png"))
        #expect(parts[3].contains("filename=\"x.bin\"") && parts[3].contains("application/x-mine"))
        #expect(parts[4].contains("Content-Type: application/json") && !parts[4].contains("filename"))
    }

    @Test(
        arguments: [
            "name=a", "[]", #"{"value":"b"}"#, #"{"name":"a"}"#, #"{"name":"a","value":"b","file":"c"}"#,
            #"{"name":1,"value":"b"}"#, #"{"name":"a","value":"b","kind":"c"}"#,
        ]
    )
    func `a malformed part is 43`(part: String) async throws {
        let run = try await Program.run("--part", part, url)

        #expect(run.code == 43 && run.errors.hasPrefix("afnet: --part"))
    }

    // MARK: - Host overrides

    @Test(arguments: [
        "api.test:80:127.0.0.1", "*:80:127.0.0.1", "api.test:80:[127.0.0.1]", "+api.test:80:127.0.0.1",
        "api.test:80:127.0.0.2,[::1],127.0.0.1",
    ])
    func `--resolve gives a host an address`(place: String) async throws {
        let port = "80"
        let place = place.replacing(":\(port):", with: ":\(server.port):")

        let run = try await Program.run("--resolve", place, "http://api.test:\(server.port)/x")

        #expect(run.text == "answer", "\(run.errors)")
        #expect(server.requests.first?.headers["Host"] == "api.test:\(server.port)")
    }

    @Test func `a later --resolve replaces a former one, and a host of its own any host`() async throws {
        let place = "api.test:\(server.port)"
        for others in [
            ["\(place):127.0.0.2", "\(place):127.0.0.1"], ["*:\(server.port):127.0.0.2", "\(place):127.0.0.1"],
        ] {
            for pair in [others, others[0].hasPrefix("*") ? others.reversed() : others] {
                let run = try await Program.run("--resolve", pair[0], "--resolve", pair[1], "http://\(place)/x")
                #expect(run.text == "answer", "\(pair): \(run.errors)")
            }
        }
    }

    @Test func `a --resolve with a minus sign takes out what another one said`() async throws {
        let place = "api.invalid:\(server.port)"
        for host in ["api.invalid", "API.invalid", "other.test", "*"] {
            let removed = "-\(host):\(server.port)"
            let options = ["--resolve", "\(place):127.0.0.1", "--resolve", removed]
            let run = try await Program.run(options + ["http://\(place)/x"])
            #expect(run.code == (removed.lowercased() == "-\(place)" ? 6 : 0), "\(removed): \(run.errors)")
        }
        let again = ["--resolve", "-\(place)", "--resolve", "\(place):127.0.0.1", "http://\(place)/x"]
        #expect(try await Program.run(again).text == "answer")
    }

    @Test func `an error names each address of --resolve`() async throws {
        let place = "api.test:\(server.port)"
        let run = try await Program.run("-v", "--resolve", "\(place):127.0.0.2,127.0.0.3", "http://\(place)/x")

        #expect(run.code == 7 && run.errors.contains("127.0.0.2") && run.errors.contains("127.0.0.3"), "\(run.errors)")
    }

    @Test func `--connect-to connects elsewhere, and TLS keeps the name`() async throws {
        let site = try SecuredSite(for: ["api.test"])
        for place in ["api.test:443:127.0.0.1:\(site.server.port)", "::127.0.0.1:\(site.server.port)"] {
            let run = try await Program.run(
                "--cacert",
                site.root,
                "--connect-to",
                place,
                "https://api.test/x"
            )
            #expect(run.text == "answer", "\(run.errors)")
        }
        let other = try await Program.run(
            "--cacert",
            site.root,
            "--connect-to",
            "::127.0.0.1:\(site.server.port)",
            "https://other.test/x"
        )

        #expect(other.code == 60)
        #expect(site.server.connections.map(\.tls?.serverName) == ["api.test", "api.test", "other.test"])
    }

    @Test func `an override for another host is not used`() async throws {
        let run = try await Program.run("--connect-to", "api.test:80:127.0.0.1:1", url)

        #expect(run.text == "answer")
    }

    @Test(
        arguments: [
            ["--resolve", "a"], ["--resolve", "a:80"], ["--resolve", "a:80:b.test"], ["--resolve", "a::127.0.0.1"],
            ["--resolve", ":80:127.0.0.1"], ["--resolve", "a:0:127.0.0.1"], ["--resolve", "a:80:1.2.3"],
            ["--resolve", "a:80:127.0.0.1,"], ["--resolve", "a:80:127.0.0.1,b.test"], ["--resolve", "-a"],
            ["--resolve", "-a:x"], ["--resolve", "-a:80:127.0.0.1"],
            ["--connect-to", "a:80:b"], ["--connect-to", "a:80:b:99999"], ["--connect-to", "a b:80:c:80"],
            ["--connect-to", "[::1:80:c:80"], ["--connect-to", "a:x:c:80"],
        ]
    )
    func `a malformed override is 49`(arguments: [String]) async throws {
        let run = try await Program.run(arguments + [url])

        #expect(run.code == 49 && run.errors.contains(arguments[0]) && server.acceptedConnections == 0)
    }
}
