import Foundation
import Testing

/// Every exit code, and one line that says why. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct ExitCodeTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
    }

    private var url: String { server.url("/x").absoluteString }

    private func code(_ options: String..., after steps: ScriptStep...) async throws -> Int32 {
        server.script(steps: [.expectRequest] + steps)
        let run = try await Program.run(options + [url])
        #expect(run.errors.hasPrefix("afnet: ") && run.errors.filter(\.isNewline).count == 1)
        return run.code
    }

    @Test func `help and version are 0`() async throws {
        let help = try await Program.run("--help")
        let version = try await Program.run("-V")

        #expect(help.code == 0 && help.text.hasPrefix("usage: afnet"))
        #expect(version.code == 0 && version.text.hasPrefix("afnet "))
    }

    @Test(
        arguments: [
            ("ftp://127.0.0.1/", 1), ("127.0.0.1:99999/x", 3), ("http://a b/", 3), ("/x", 3), ("", 3),
            ("http://127.0.0.1:99999/", 3), ("http:////x", 3),
        ] as [(String, Int32)]
    )
    func `a URL that cannot be loaded is 1 or 3`(url: String, code: Int32) async throws {
        let run = try await Program.run(url)

        #expect(run.code == code)
        #expect(run.errors.hasPrefix("afnet: ") && run.errors.filter(\.isNewline).count == 1)
    }

    @Test func `a bad command line is 2 and points at the help`() async throws {
        let run = try await Program.run("--nonsense")

        #expect(run.code == 2)
        #expect(run.errors == "afnet: there is no option --nonsense; see afnet --help\n")
    }

    @Test func `a name that does not resolve is 6`() async throws {
        // RFC 6761 §6.4: resolvers answer for "invalid" themselves.
        #expect(try await Program.run("http://afnet.invalid/").code == 6)
    }

    @Test func `a refused connection is 7`() async throws {
        let address = url
        server.stop()

        let run = try await Program.run(address)

        #expect(run.code == 7 && run.errors.contains("Connection refused"))
        let verbose = try await Program.run("-v", address)
        #expect(verbose.errors.contains("\n*   127.0.0.1:\(server.port): failed (Connection refused, errno 111)\n"))
    }

    @Test func `a reply that is not HTTP is 1`() async throws {
        #expect(try await code(after: .send("SSH-2.0-OpenSSH_9.2\r\n"), .close) == 1)
    }

    @Test func `a malformed or too long head is 8`() async throws {
        #expect(try await code(after: .send("HTTP/1.1 200 OK\r\nno colon\r\n\r\n"), .close) == 8)
        let long =
            "HTTP/1.1 200 OK\r\n" + String(repeating: "A: \(String(repeating: "b", count: 5000))\r\n", count: 100)
        #expect(try await code(after: .send(long), .close) == 8)
    }

    @Test func `a truncated body is 18`() async throws {
        #expect(try await code(after: .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"), .close) == 18)
    }

    @Test func `a body that cannot be decoded is 61`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n"
        #expect(try await code("--compressed", after: .send("\(head)ab"), .close) == 61)
        let unknown = head.replacing("gzip", with: "gzip, compress")
        #expect(try await code("--compressed", after: .send("\(unknown)ab"), .close) == 61)
    }

    @Test func `a body to send that cannot be read is 26`() async throws {
        let run = try await Program.run("--data-file", "/no/such/file", url)

        #expect(run.code == 26 && run.errors.contains("No such file or directory"))
        #expect(server.acceptedConnections == 0)
    }

    @Test func `a server that does not answer is 28 after --max-time`() async throws {
        server.script(.expectRequest, .stall)

        #expect(try await Program.run("--max-time", "0.2", url).code == 28)
    }

    @Test func `--connect-timeout is for connecting, and not for the answer`() async throws {
        let site = try SecuredSite { _ in
        } tls: { tls, _ in
            tls.handshakeFault = .stall(after: 0)
        }
        server.route("GET", "/x", ServerReply.text("late").delayed(by: .milliseconds(400)))

        #expect(try await site.run("--connect-timeout", "0.2").code == 28)
        #expect(try await Program.run("--connect-timeout", "0.2", url).text == "late")
    }

    @Test func `a connection closed without a byte is 52`() async throws {
        #expect(try await code(after: .close) == 52)
    }

    @Test func `a reset, and broken chunks, are 56`() async throws {
        #expect(try await code(after: .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"), .reset) == 56)
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        #expect(try await code(after: .send("\(chunks)"), .close) == 56)
    }

    @Test func `the code is that of the last URL, and a failure does not stop the rest`() async throws {
        server.route("GET", "/x", .text("fine"))

        let last = try await Program.run("ftp://h/", url)
        let first = try await Program.run(url, "ftp://h/")

        #expect(last.code == 0 && last.text == "fine")
        #expect(first.code == 1 && first.text == "fine")
    }
}
