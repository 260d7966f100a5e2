import Foundation
import Testing

/// The options about the request. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct RequestTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("*", "/*", .text("answer"))
    }

    private var url: String { server.url("/x?y=1").absoluteString }

    @Test func `a plain request has the default method and fields`() async throws {
        let run = try await Program.run("get", "\(url)#fragment")
        let request = try await server.waitForRequests(1)[0]

        #expect(run.code == 0 && run.text == "answer" && run.errors == "")
        #expect(request.method == "GET" && request.target == "/x?y=1")
        #expect(request.headers["User-Agent"]?.hasPrefix("afnet/") == true)
        #expect(request.headers["Accept"] == "*/*")
    }

    @Test func `--request names the method and --header the fields`() async throws {
        let run = try await Program.run(
            "-X",
            "PURGE",
            "-H",
            "X-One: 1",
            "-H",
            "X-One: 2",
            "-H",
            "Accept: text/css",
            "-H",
            "X-Empty;",
            "-H",
            "X-Gone: a",
            "-H",
            "X-Gone:",
            url
        )
        let request = try await server.waitForRequests(1)[0]

        #expect(run.code == 0)
        #expect(request.method == "PURGE")
        #expect(request.headers["X-One"] == "1,2" && request.headers["X-Empty"] == "")
        #expect(request.headers.values(of: "Accept") == ["text/css"])
        #expect(request.headers["X-Gone"] == nil)
    }

    @Test func `--data is a form sent with POST`() async throws {
        _ = try await Program.run("--data", "a=1&b=ü", url)
        let request = try await server.waitForRequests(1)[0]

        #expect(request.method == "POST")
        #expect(Data(request.body) == Data("a=1&b=ü".utf8))
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func `a body can have another type, or none`() async throws {
        _ = try await Program.run("-d", "{}", "-H", "content-type: application/json", url)
        _ = try await Program.run("-d", "{}", "-H", "Content-Type:", "-X", "PATCH", url)
        let requests = try await server.waitForRequests(2)

        #expect(requests.map { $0.headers.values(of: "Content-Type") } == [["application/json"], []])
        #expect(requests.map(\.method) == ["POST", "PATCH"])
    }

    @Test func `--data-file sends any bytes, also those of standard input`() async throws {
        let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let folder = try Program.Folder()
        _ = try await Program.run("--data-file", folder.make("body", bytes), url)
        _ = try await Program.run(["--data-file", "-", url], input: bytes)

        #expect(try await server.waitForRequests(2).map { Data($0.body) } == [bytes, bytes])
    }

    @Test func `--head shows the head and nothing else, whatever the method is`() async throws {
        let long = try await Program.run("--head", url)
        let short = try await Program.run("-I", url)
        let other = try await Program.run("-I", "-X", "GET", url)
        let plain = try await Program.run("-X", "HEAD", url)

        #expect(try await server.waitForRequests(4).map(\.method) == ["HEAD", "HEAD", "GET", "HEAD"])
        #expect(long.code == 0 && short.code == 0 && other.code == 0 && plain.code == 0)
        #expect(short.text.hasPrefix("HTTP/1.1 200 OK\r\n") && short.text.hasSuffix("\r\n\r\n"))
        #expect(long.text == short.text && other.text == short.text && plain.text == "")
    }

    @Test func `a header option may be a file of fields`() async throws {
        let folder = try Program.Folder()
        let file = try folder.make("fields", Data("X-One: 1\r\n\nAccept:\nX-Empty;\n".utf8))
        #expect(try await Program.run("-H", "@\(file)", url).code == 0)
        let request = try await server.waitForRequests(1)[0]

        #expect(request.headers["X-One"] == "1" && request.headers["X-Empty"] == "" && request.headers["Accept"] == nil)
        #expect(try await Program.run("-H", "@\(folder.path("none"))", url).code == 26)
        #expect(try await Program.run("-H", "@\(folder.make("bad", Data("A: b\nnonsense\n".utf8)))", url).code == 43)
    }

    @Test func `--unix-socket connects to the socket, and Host is that of the URL`() async throws {
        let folder = try Program.Folder()
        let path = folder.path("socket")
        let other = try TestServer(on: .unix(path))
        other.route("GET", "/version", .text("24"))

        let run = try await Program.run("--unix-socket", path, "http://docker/version")

        #expect(run.text == "24")
        #expect(other.requests.first?.headers["Host"] == "docker")
    }

    @Test(arguments: ["X: a\r\nInjected: b", "X: a\nInjected: b", "X\r\nInjected: b", "X Y: z", "Upgrade: h2c"])
    func `T-REQ-01 T-REQ-02 a field that would break the head is refused and nothing is sent`(
        field: String
    ) async throws {
        let run = try await Program.run("-H", field, url)

        #expect(run.code == 43)
        #expect(run.errors.hasPrefix("afnet: The request was not sent: the header field"))
        #expect(server.acceptedConnections == 0)
    }

    @Test func `T-REQ-03 a method that is no token is refused and nothing is sent`() async throws {
        let run = try await Program.run("-X", "GET /evil HTTP/1.1\r\nX:", url)

        #expect(run.code == 43)
        #expect(server.acceptedConnections == 0)
    }

    @Test func `several URLs share a connection`() async throws {
        let run = try await Program.run("-v", url, url)
        let requests = try await server.waitForRequests(2)

        #expect(run.text == "answeranswer")
        #expect(requests.map(\.connection) == [1, 1])
        #expect(run.errors.contains("* new connection to 127.0.0.1:\(server.port), from 127.0.0.1:"))
        #expect(run.errors.contains("* reused connection to 127.0.0.1:\(server.port)"))
    }

    @Test func `--verbose shows the request as it was sent`() async throws {
        let run = try await Program.run("-v", "-d", "a", "-H", "X-Mine: 1", url)
        let request = try await server.waitForRequests(1)[0]

        let sent = run.errors.split(separator: "\n").filter { $0.hasPrefix("> ") }.map { String($0.dropFirst(2)) }
        #expect(sent.first == "POST /x?y=1 HTTP/1.1")
        #expect(Set(sent.dropFirst()) == Set(request.headers.fields.map { "\($0.name): \($0.value)" }))
        #expect(run.errors.contains("\n< HTTP/1.1 200 OK\n< Content-Type: "))
        for phase in ["name lookup", "connect", "request sent", "first byte", "body", "total"] {
            #expect(run.errors.contains("\n*   \(phase) "))
        }
        #expect(run.errors.contains("1 of body, received"))
    }
}
