import Foundation
import Testing
import afnet

/// Retries. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct RetryTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
    }

    private var url: String { server.url("/x").absoluteString }

    @Test(arguments: [429, 500, 502, 503, 504, 522, 524])
    func `a request with a temporary status is sent again, and the body is dropped`(status: Int) async throws {
        server.enqueue(.text("sorry").status(status), .text("sorry").status(status), .text("fine"))

        let run = try await Program.run(
            "--retry",
            "2",
            "--retry-delay",
            "0.01",
            "-w",
            " %{num_retries}",
            "-d",
            "a",
            url
        )

        #expect(run.code == 0 && run.text == "fine 2" && server.requests.map(\.bodyText) == ["a", "a", "a"])
        #expect(run.errors.components(separatedBy: "next try in 0.0 s").count == 3)
    }

    @Test func `a request with 408 is sent again, too`() async throws {
        server.enqueue(.text("sorry").status(408), .text("fine"))

        #expect(try await Program.run("--retry", "1", "--retry-delay", "0", url).text == "fine")
    }

    @Test func `the last response is written, also if it is an error`() async throws {
        server.enqueue(.text("1").status(503), .text("2").status(503), .text("3").status(503))

        let run = try await Program.run("-s", "--retry", "1", "--retry-delay", "0", url)
        #expect(run.code == 0 && run.text == "2" && run.errors == "")
        #expect(try await Program.run("-f", "--retry", "0", url).code == 22)
    }

    @Test func `other failures are not retried without --retry-all-errors`() async throws {
        server.enqueue(.status(404), .status(404), .text("fine"), .status(403))

        #expect(try await Program.run("-f", "--retry", "3", "--retry-delay", "0", url).code == 22)
        let all = ["--retry", "3", "--retry-delay", "0", "--retry-all-errors"]
        #expect(try await Program.run(["-f"] + all + [url]).text == "fine")
        #expect(try await Program.run(all + [url]).code == 0)
        #expect(server.requests.count == 4)
    }

    @Test func `afnet waits as long as Retry-After says`() async throws {
        server.enqueue(ServerReply.status(503).header("Retry-After", "1"), .text("fine"))
        let start = ContinuousClock.now

        #expect(try await Program.run("--retry", "1", "--retry-delay", "0", url).text == "fine")

        #expect(ContinuousClock.now - start > .seconds(1))
        server.enqueue(ServerReply.text("later").status(503).header("Retry-After", "100"))
        #expect(try await Program.run("--retry", "1", "--retry-max-time", "20", url).text == "later")
    }

    @Test func `a refused connection is retried only with --retry-connrefused`() async throws {
        let address = url
        server.stop()

        let plain = try await Program.run("--retry", "2", "--retry-delay", "0", address)
        let wanted = try await Program.run("--retry", "2", "--retry-delay", "0", "--retry-connrefused", address)

        #expect(plain.code == 7 && !plain.errors.contains("next try"))
        #expect(wanted.code == 7 && wanted.errors.components(separatedBy: "next try").count == 3)
    }

    @Test func `standard input is sent again only if it is in memory`() async throws {
        server.enqueue(.text("busy").status(503), .text("busy").status(503), .text("fine"))
        let options = ["--retry", "1", "--retry-delay", "0"]

        let stream = try await Program.run(options + ["-T", "-", url], input: Data("in".utf8))
        let memory = try await Program.run(options + ["-d", "@-", url], input: Data("in".utf8))

        #expect(stream.text == "busy" && memory.text == "fine")
        #expect(server.requests.map(\.bodyText) == ["in", "in", "in"])
    }

    @Test func `each try has its own time limit, and a file begins anew`() async throws {
        let file = try folder.make("f")
        server.script(
            on: .connection(1),
            .expectRequest,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
            .stall
        )
        server.route("GET", "/x", .text("the whole"))

        let run = try await Program.run("--retry", "1", "--retry-delay", "0", "-m", "3", "-o", file, url)

        #expect(run.code == 0 && folder.contents("f") == Data("the whole".utf8))
    }

    @Test func `a body on standard output is not written twice`() async throws {
        server.script(
            on: .connection(1),
            .expectRequest,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
            .close
        )

        let run = try await Program.run("--retry", "2", "--retry-delay", "0", "--retry-all-errors", url)

        #expect(run.code == 18 && run.text == "half")
    }

    @Test func `waits double, up to ten minutes`() {
        var options = RetryOptions()
        options.count = 12
        #expect((1...4).map { options.wait(after: $0, elapsed: 0, asked: nil) } == [1, 2, 4, 8])
        #expect(options.wait(after: 12, elapsed: 0, asked: nil) == 600)
        #expect(options.wait(after: 13, elapsed: 0, asked: nil) == nil)
        options.maximumTime = 10
        #expect(options.wait(after: 1, elapsed: 9.5, asked: nil) == nil)
        #expect(options.wait(after: 1, elapsed: 5, asked: 6) == nil)
    }

    @Test func `T-RTY-04 a Retry-After of more than ten minutes ends the retries, unless --retry-max-time allows it`() {
        var options = RetryOptions()
        options.count = 1
        #expect(options.wait(after: 1, elapsed: 0, asked: 600) == 600)
        #expect(options.wait(after: 1, elapsed: 0, asked: 601) == nil)
        options.delay = 0
        #expect(options.wait(after: 1, elapsed: 0, asked: 601) == nil)
        options.maximumTime = 3600
        #expect(options.wait(after: 1, elapsed: 0, asked: 601) == 601)
    }

    @Test(arguments: ["99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func `T-RTY-04 a Retry-After of a hundred years ends the retries`(value: String) async throws {
        server.enqueue(ServerReply.text("never").status(503).header("Retry-After", value), .text("fine"))

        let run = try await Program.run("--retry", "1", url)

        #expect(run.code == 0 && run.text == "never" && server.requests.count == 1)
    }
}
