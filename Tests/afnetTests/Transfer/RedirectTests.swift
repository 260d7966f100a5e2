import Foundation
import Testing

/// The options about redirects. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) final class RedirectTests {
    let server: TestServer
    let other: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        other = try TestServer()
        folder = try Program.Folder()
        server.install(.redirects, .echo)
        other.route("*", "/end", .text("end"))
    }

    deinit {
        server.stop()
        other.stop()
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    private func away(_ status: Int = 302) -> String {
        url("/redirect-to?url=\(other.url("/end").absoluteString)&status_code=\(status)")
    }

    @Test func `without --location a redirect is the answer`() async throws {
        let run = try await Program.run("-i", url("/redirect/1"))

        #expect(run.code == 0 && run.text.hasPrefix("HTTP/1.1 302 Found\r\n"))
        #expect(server.requests.count == 1)
    }

    @Test func `a redirect without a valid target is an answer, unless it is to be followed`() async throws {
        server.route("GET", "/nowhere", ServerReply.text("here").status(302).header("Location", "http://a b/"))

        let plain = try await Program.run(url("/nowhere"))
        let following = try await Program.run("-L", url("/nowhere"))

        #expect(plain.code == 0 && plain.text == "here")
        #expect(following.code == 3)
    }

    @Test func `--location follows, and --include shows every head`() async throws {
        let run = try await Program.run("-L", "-i", url("/redirect/2"))

        #expect(run.code == 0)
        #expect(
            run.text.components(separatedBy: "HTTP/1.1 302 Found\r\n").count == 3
                && run.text.contains("HTTP/1.1 200 OK\r\n")
        )
    }

    @Test func `--max-redirs limits redirects, by default to 50`() async throws {
        #expect(try await Program.run("-L", "--max-redirs", "2", url("/redirect/2")).code == 0)
        #expect(try await Program.run("-L", "--max-redirs", "1", url("/redirect/2")).code == 47)
        #expect(try await Program.run("-L", "--max-redirs", "0", url("/redirect/1")).code == 47)
        #expect(try await Program.run("-L", url("/redirect/50")).code == 0)
        #expect(try await Program.run("-L", url("/redirect/51")).code == 47)
    }

    @Test func `credentials of the command line stay with their origin, unless there is --location-trusted`()
        async throws
    {
        let options = ["-u", "me:secret", "-b", "a=1", "-H", "X-Mine: 1", "-H", "X-Api-Key: k"]
        _ = try await Program.run(["-L"] + options + [away()])
        _ = try await Program.run(["--location-trusted"] + options + [away()])
        let requests = try await other.waitForRequests(2)

        #expect(requests[0].headers["Authorization"] == nil && requests[0].headers["Cookie"] == nil)
        #expect(requests.map { $0.headers["X-Mine"] } == ["1", "1"])
        #expect(requests.map { $0.headers["X-Api-Key"] } == [nil, "k"])
        #expect(requests[1].headers["Authorization"] == "Basic bWU6c2VjcmV0" && requests[1].headers["Cookie"] == "a=1")
    }

    @Test func `--keep-post does not bring back a body that a redirect has dropped`() async throws {
        server.route("POST", "/post", ServerReply.status(303).header("Location", "/get"))
        server.route("GET", "/get", ServerReply.status(302).header("Location", other.url("/end").absoluteString))

        #expect(try await Program.run("-L", "--keep-post", "302", "-d", "secret=1", url("/post")).code == 0)

        let last = try #require(other.requests.last)
        #expect(last.method == "GET" && last.bodyText.isEmpty && last.headers["Content-Type"] == nil)
    }

    @Test(arguments: [301, 302, 303])
    func `--keep-post keeps a POST over that redirect`(status: Int) async throws {
        let file = try folder.make("body", Data("file".utf8))
        _ = try await Program.run("-L", "-d", "a=1", away(status))
        _ = try await Program.run("-L", "--keep-post", "\(status)", "-d", "a=1", away(status))
        _ = try await Program.run("-L", "--keep-post", "\(status)", "--data-file", file, away(status))
        _ = try await Program.run("-L", "--keep-post", "\(status)", "-T", file, "-X", "POST", away(status))
        let requests = try await other.waitForRequests(4)

        #expect(requests.map(\.method) == ["GET", "POST", "POST", "POST"])
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["", "a=1", "file", "file"])
        #expect(requests[1].headers["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func `a file is sent again over a 307, standard input cannot be`() async throws {
        let file = try folder.make("body", Data("file".utf8))

        #expect(try await Program.run("-L", "-T", file, away(307)).code == 0)
        #expect(try await Program.run(["-L", "-T", "-", away(307)], input: Data("input".utf8)).code == 65)

        #expect(try await other.waitForRequests(1).map { Data($0.body) } == [Data("file".utf8)])
    }

    @Test func `the method of the command line holds for redirects, and the body does not`() async throws {
        for method in ["PUT", "POST", "DELETE"] {
            _ = try await Program.run("-L", "-X", method, "-d", "secret", away(302))
        }
        let requests = try await other.waitForRequests(3)
        #expect(requests.map(\.method) == ["PUT", "POST", "DELETE"] && requests.allSatisfy { $0.body.isEmpty })
    }

    @Test func `--proto and --proto-redir refuse schemes, also of redirects`() async throws {
        let plain = try await Program.run("--proto", "=https", "-L", away())
        let redirected = try await Program.run("--proto-redir", "=https", "-L", away())
        let both = try await Program.run("--proto", "=https,http", "--proto-redir", "-all,http", "-L", away())

        #expect(plain.code == 1 && plain.errors == "afnet: --proto does not allow http URLs\n")
        #expect(redirected.code == 1 && redirected.errors.contains("--proto-redir does not allow"))
        #expect(both.text == "end" && other.requests.count == 1 && server.requests.count == 2)
    }

    @Test func `--dump-header writes the heads of all responses of a run to a file`() async throws {
        let file = try folder.make("heads", Data("before\n".utf8))

        let run = try await Program.run("-L", "-D", file, url("/redirect/1"))

        let text = String(decoding: folder.contents("heads") ?? Data(), as: UTF8.self)
        #expect(
            run.code == 0 && text.hasPrefix("HTTP/1.1 302 Found\r\n")
                && text.contains("\r\n\r\nHTTP/1.1 200 OK\r\n")
        )
        #expect(try await Program.run("-D", folder.path("no/heads"), url("/get")).code == 23)
    }

    @Test func `--verbose shows every hop`() async throws {
        let run = try await Program.run("-L", "-v", url("/redirect/1"))

        #expect(
            run.errors.contains("> GET /redirect/1 HTTP/1.1\n") && run.errors.contains("> GET /redirect/0 HTTP/1.1\n")
        )
        #expect(run.errors.contains("< HTTP/1.1 302 ") && run.errors.contains("< HTTP/1.1 200 "))
    }
}
