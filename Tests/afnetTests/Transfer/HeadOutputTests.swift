import Foundation
import Testing

/// The heads of `--include` and `--dump-header`. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct HeadOutputTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.install(.redirects)
        server.route("GET", "/x", .text("body"))
        server.route("GET", "/gone", ServerReply.text("gone").status(404))
        server.route("GET", "/asking") { request in
            let isIn = request.headers["Authorization"] != nil
            return isIn
                ? .text("in") : ServerReply.text("out").status(401).header("WWW-Authenticate", "Basic realm=\"r\"")
        }
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    /// The first lines of the heads in a text.
    private func statuses(_ text: String?) -> [String] {
        (text ?? "").components(separatedBy: "\r\n").filter { $0.hasPrefix("HTTP/1.1 ") }.map {
            String($0.dropFirst(9).prefix(3))
        }
    }

    private func file(_ name: String) -> String? { folder.contents(name).map { String(decoding: $0, as: UTF8.self) } }

    @Test func `a challenge that is answered has a head, too`() async throws {
        let run = try await Program.run("-i", "-D", folder.path("d"), "--anyauth", "-u", "a:b", url("/asking"))

        #expect(run.code == 0 && statuses(run.text) == ["401", "200"] && run.text.hasSuffix("\r\n\r\nin"))
        #expect(statuses(file("d")) == ["401", "200"])
        let wrong = try await Program.run("-i", url("/asking"))
        #expect(statuses(wrong.text) == ["401"] && wrong.text.hasSuffix("out"))
    }

    @Test func `heads are shown if there is no body to show`() async throws {
        let refused = try await Program.run("-i", "-f", url("/gone"))
        #expect(refused.code == 22 && statuses(refused.text) == ["404"] && !refused.text.contains("gone"))
        let many = try await Program.run("-i", "-L", "--max-redirs", "1", "-o", folder.path("f"), url("/redirect/3"))
        #expect(many.code == 47 && statuses(file("f")) == ["302", "302"])
        let other = try await Program.run("-i", "-L", "--proto-redir", "=https", url("/redirect/1"))
        #expect(other.code == 1 && statuses(other.text) == ["302"])
        #expect(try await Program.run("-i", url("/x")).text.components(separatedBy: "HTTP/1.1").count == 2)
    }

    @Test func `an attempt that is repeated shows no head`() async throws {
        server.enqueue(ServerReply.text("later").status(503), .text("now"))
        let run = try await Program.run("-s", "-i", "--retry", "1", "--retry-delay", "0", url("/y"))

        #expect(run.code == 0 && statuses(run.text) == ["200"] && run.text.hasSuffix("now"))
    }

    @Test func `interim heads stand in front, and trailers behind the body`() async throws {
        let interim = "HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\n"
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        server.script(
            on: .connection(1),
            .expectRequest,
            .send(interim + head + "2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n"),
            .close
        )
        let run = try await Program.run("-i", "-D", folder.path("d"), url("/x"))

        #expect(run.text == interim + head + "hiX-Sum: 1\r\n", "\(run.text)")
        #expect(file("d") == interim + head + "X-Sum: 1\r\n")
    }

    @Test func `an interim head is shown if nothing follows it`() async throws {
        let interim = "HTTP/1.1 100 Continue\r\n\r\n"
        server.script(on: .connection(1), .expectRequest, .send(interim), .close)
        let run = try await Program.run("-i", url("/x"))

        #expect(run.code != 0 && run.text == interim, "\(run.text)")
    }

    @Test func `what a proxy says of a tunnel stands in front, unless it is not wanted`() async throws {
        let proxy = try TestProxy()
        let options = ["-i", "-D", folder.path("d"), "-p", "-x", "127.0.0.1:\(proxy.server.port)", url("/x")]
        let run = try await Program.run(options)
        #expect(statuses(run.text) == ["200", "200"] && run.text.hasSuffix("body"))
        #expect(statuses(file("d")) == ["200", "200"])

        let quiet = try await Program.run(["--suppress-connect-headers"] + options)
        #expect(statuses(quiet.text) == ["200"] && quiet.text.hasSuffix("body") && statuses(file("d")) == ["200"])
    }

    @Test func `a proxy that refuses a tunnel is shown`() async throws {
        let other = try TestServer()
        other.script(on: .connection(1), .expectRequest, .send("HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n"), .close)
        let run = try await Program.run("-i", "-p", "-x", "127.0.0.1:\(other.port)", url("/x"))

        #expect(run.code == 56 && run.text.hasPrefix("HTTP/1.1 405 No\r\n"), "\(run.code) \(run.text) \(run.errors)")
    }

    @Test func `--dump-header replaces its file in each group`() async throws {
        let file = folder.path("d")
        _ = try await Program.run("-D", file, url("/x"), url("/gone"))
        #expect(statuses(self.file("d")) == ["200", "404"])
        _ = try await Program.run("-D", file, url("/gone"), "--next", "-D", file, url("/x"))
        #expect(statuses(self.file("d")) == ["200"])
    }
}
