import Foundation
import Glibc
import Testing

/// `afnet events`. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct EventsTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.events)
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    @Test func `each event is printed, over as many responses as it takes`() async throws {
        let run = try await Program.run("events", url("/events/3?per_response=2&retry=0"))

        #expect(run.code == 0 && run.text == "{\"number\": 1}\n{\"number\": 2}\n{\"number\": 3}\n")
        #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "2", "3"])
        #expect(server.requests.allSatisfy { $0.headers["Accept"] == "text/event-stream" })
    }

    @Test func `an event is printed when it has arrived`() async throws {
        server.route("GET", "/slow", ServerReply.events("data: one\ndata: more", "data: two").stalling(after: 28))
        let running = try Program.begin(["events", url("/slow")])

        #expect(try await running.firstLine() == "one")
        #expect(try await running.interrupt() == 0 && running.errors.isEmpty)
    }

    @Test func `JSON has the name, the data and the identifier`() async throws {
        server.route("GET", "/news", .events("id: 7\nevent: add\ndata: a\ndata: \"b\""))

        let run = try await Program.run("events", "--once", "--as-json", "-v", url("/news"))

        #expect(run.code == 0 && run.text == #"{"data":"a\n\"b\"","event":"add","id":"7"}"# + "\n")
        #expect(run.errors.contains("* event add, id 7"))
    }

    @Test func `a question may be a file, or in chunks`() async throws {
        server.route("POST", "/chat", .events("data: hello"))
        let folder = try Program.Folder()
        let file = try folder.make("question", Data("what?".utf8))

        for words in [["--data-binary", "@\(file)"], ["-H", "Transfer-Encoding: chunked", "--data-raw", "what?"]] {
            #expect(try await Program.run(["events"] + words + [url("/chat")]).text == "hello\n")
            #expect(server.requests.last?.body == Data("what?".utf8), "\(words)")
        }
    }

    @Test func `a question is asked once, with its fields`() async throws {
        server.route("POST", "/chat", .events("data: hello"))

        let run = try await Program.run("events", "--json", "{}", "-H", "X-A: b", "--bearer", "t", url("/chat"))

        #expect(run.code == 0 && run.text == "hello\n" && server.requests.count == 1)
        let request = try #require(server.requests.first)
        #expect(request.body == Data("{}".utf8) && request.headers["X-A"] == "b")
        #expect(request.headers["Authorization"] == "Bearer t" && request.headers["Accept"] == "text/event-stream")
    }

    @Test func `a stream goes on behind an event, and gives up after the attempts`() async throws {
        let rest = try await Program.run("events", "--last-event-id", "2", url("/events/3?retry=0"))
        #expect(rest.text == "{\"number\": 3}\n")

        server.route("GET", "/none", ServerReply.events("data: a").closing(after: 2))
        let none = try await Program.run("events", "--once", url("/none"))
        #expect(none.code == 18 && none.text.isEmpty)
    }

    @Test func `what is no stream has an exit code and a reason`() async throws {
        server.route("GET", "/page", .text("<p>"))

        let missing = try await Program.run("events", url("/missing"))
        #expect(missing.code == 22 && missing.errors.contains("404"))
        let page = try await Program.run("events", url("/page"))
        #expect(page.code == 1 && page.errors.contains("text/plain"))
        #expect(try await Program.run("events").code == 2)
        #expect(try await Program.run("events", "-o", "x", url("/page")).code == 2)
    }

    @Test func `the jar is written, also if the stream fails`() async throws {
        let jar = try Program.Folder()
        server.route("GET", "/page", ServerReply.text("<p>").header("Set-Cookie", "a=b"))

        let run = try await Program.run("events", "-c", jar.path("jar"), url("/page"))

        #expect(run.code == 1)
        #expect(String(decoding: jar.contents("jar") ?? Data(), as: UTF8.self).contains("\ta\tb"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `the jar is written when the command is interrupted, whatever the stream does`(signal: Int32) async throws {
        let jar = try Program.Folder()
        let cookie = ServerReply.events("retry: 200000\ndata: one", "data: two").header("Set-Cookie", "a=b")
        // The stream waits for an event in the first case, and to connect again in the second.
        server.route("GET", "/silent", cookie.stalling(after: 31))
        server.route("GET", "/again", cookie.closing(after: 31))

        for path in ["/silent", "/again"] {
            let running = try Program.begin(["events", "-c", jar.path(path), url(path)])
            #expect(try await running.firstLine() == "one")
            #expect(try await running.interrupt(by: signal) == 0 && running.errors.isEmpty)
            #expect(String(decoding: jar.contents(path) ?? Data(), as: UTF8.self).contains("\ta\tb"))
        }
    }

    @Test func `--max-time ends the stream as a whole with the code of a timeout, and the jar is written`() async throws
    {
        let jar = try Program.Folder()
        // Without the limit, the server would end the stream five seconds later.
        let first = ServerReply.events("id: 1\nretry: 5000\ndata: one", "data: two").header("Set-Cookie", "a=b")
        for (path, reply) in [("/silent", first.stalling(after: 33)), ("/again", first.closing(after: 33))] {
            server.route("GET", path) { $0.headers["Last-Event-ID"] == nil ? reply : .status(204) }
            server.forgetRequests()

            let run = try await Program.run("events", "-m", "2", "-c", jar.path(path), url(path))

            #expect(run.code == 28 && run.text == "one\n" && run.errors.contains("--max-time"), "\(run)")
            #expect(server.requests.count == 1)
            #expect(String(decoding: jar.contents(path) ?? Data(), as: UTF8.self).contains("\ta\tb"))
        }
        #expect(try await Program.run("events", "-m", "100", url("/events/2")).code == 0)
    }

    @Test func `digest is answered, and a redirect is followed with -L only`() async throws {
        server.install(.authentication)
        server.route("GET", "/moved", .status(302).header("Location", "/events/1"))

        #expect(try await Program.run("events", "--once", url("/moved")).code == 22)
        #expect(try await Program.run("events", "--once", "-L", url("/moved")).text == "{\"number\": 1}\n")
        // The answer to a challenge is a page, so the stream ends with its type and not with 401.
        let run = try await Program.run("events", "--digest", "-u", "ann:secret", url("/digest-auth/auth/ann/secret"))
        #expect(run.code == 1 && server.requests.last?.headers["Authorization"]?.hasPrefix("Digest ") == true)
    }
}
