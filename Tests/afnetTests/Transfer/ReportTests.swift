import Foundation
import Testing

/// The line about each URL that other programs read.
/// Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct ReportTests {
    /// A line of the report.
    struct Report: Decodable {
        struct Response: Decodable {
            let kind: String
            let http_version: String
            let status: Int
            let reason: String
            let headers: [[String]]
            let trailers: [[String]]
        }

        struct Security: Decodable {
            let version: String
            let verify_error: String
        }

        let url, effective_url, errormsg, method, scheme, content_type, redirect_url, remote_ip, from_cache: String
        let exitcode, status, num_redirects, num_connects, size_download, size_upload: Int
        let remote_port, local_port, http_connect: Int
        let suggested_filename: String?
        let time_namelookup, time_connect, time_appconnect, time_starttransfer, time_total: Double
        let tls: Security
        let responses: [Response]

        var kinds: [String] { responses.map { "\($0.kind) \($0.status)" } }
    }

    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.install(.digestAuthentication, .caching)
        server.route("GET", "/away", .status(302).header("Location", "/end?x=1"))
        server.route("GET", "/cut", ServerReply.text("0123456789").closing(after: 4))
        server.route("*", "/*", .text("answer"))
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    /// Runs the program with a report, and reads it.
    private func report(_ arguments: String...) async throws -> (Program.Run, [Report]) {
        let run = try await Program.run(["--report", folder.path("report")] + arguments)
        return (run, try reports())
    }

    private func reports() throws -> [Report] {
        let lines = try #require(folder.contents("report")).split(separator: UInt8(ascii: "\n"))
        return try lines.map { try JSONDecoder().decode(Report.self, from: $0) }
    }

    @Test func `a line has everything about a URL`() async throws {
        let script = """
            HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 Quite OK\r\nX-B:  1 \r\nx-a: 2\r\nX-B: 3\r\n\
            Content-Type: text/plain; x=y\r\nContent-Disposition: attachment; filename="../../etc/name.txt"\r\n\
            Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 9\r\n\r\n
            """
        server.script(.expectRequest, .send(script), .expectEnd)

        let (run, reports) = try await report("-d", "1234", "\(url("/x"))#part")

        let line = try #require(reports.first)
        #expect(run.code == 0 && run.text == "abc" && reports.count == 1)
        #expect(line.url == "\(url("/x"))#part" && line.effective_url.hasPrefix(url("/x")))
        #expect(line.exitcode == 0 && line.errormsg == "" && line.status == 200)
        #expect(line.method == "POST" && line.scheme == "HTTP" && line.content_type == "text/plain; x=y")
        #expect(line.redirect_url == "" && line.num_redirects == 0 && line.num_connects == 1)
        #expect(line.size_download == 3 && line.size_upload == 4)
        #expect(line.remote_ip == "127.0.0.1" && line.remote_port == server.port && line.local_port > 0)
        #expect(line.http_connect == 0 && line.suggested_filename == "name.txt" && line.from_cache == "no")
        #expect(line.time_connect > 0 && line.time_starttransfer >= line.time_connect && line.time_appconnect == 0)
        #expect(line.time_total >= line.time_starttransfer)
        #expect(line.tls.version == "" && line.tls.verify_error == "")
        #expect(line.kinds == ["informational 103", "final 200"])
        let final = try #require(line.responses.last)
        #expect(final.http_version == "1.1" && final.reason == "Quite OK" && final.trailers == [["X-Sum", "9"]])
        #expect(Array(final.headers.prefix(3)) == [["X-B", "1"], ["x-a", "2"], ["X-B", "3"]])
        #expect(line.responses[0].headers == [["Link", "</a>"]])
    }

    @Test func `each URL has a line, and groups that name a file add to it`() async throws {
        try Data("old\n".utf8).write(to: folder.url.appendingPathComponent("report"))
        let path = folder.path("report")

        let run = try await Program.run(
            "--report",
            path,
            url("/1"),
            "http://127.0.0.1:1/",
            "--next",
            "--report",
            path,
            "nonsense://h/",
            "--next",
            url("/3")
        )
        let lines = try reports()

        #expect(run.code == 0)
        #expect(lines.map(\.url) == [url("/1"), "http://127.0.0.1:1/", "nonsense://h/"])
        #expect(lines.map(\.exitcode) == [0, 7, 1] && lines.map(\.num_connects) == [1, 0, 0])
        #expect(lines[1].errormsg.contains("127.0.0.1:1") && lines[1].responses.isEmpty && lines[1].status == 0)
    }

    @Test func `a group that cannot begin has its lines, too`() async throws {
        let (run, lines) = try await report("--cacert", folder.path("missing"), url("/1"), url("/2"))

        #expect(run.code == 77 && lines.map(\.exitcode) == [77, 77] && lines.map(\.url) == [url("/1"), url("/2")])
        #expect(server.acceptedConnections == 0)
    }

    @Test func `the report has redirects, followed or not`() async throws {
        let (_, stayed) = try await report(url("/away"))
        let (_, followed) = try await report("-L", url("/away"))

        #expect(stayed.first?.redirect_url == url("/end?x=1") && stayed.first?.kinds == ["final 302"])
        #expect(stayed.first?.num_redirects == 0)
        let line = try #require(followed.first)
        #expect(line.kinds == ["redirect 302", "final 200"] && line.num_redirects == 1 && line.redirect_url == "")
        #expect(line.url == url("/away") && line.effective_url == url("/end?x=1"))
        #expect(line.num_connects == 1)
    }

    @Test func `the report has answers to challenges`() async throws {
        let (run, lines) = try await report(
            "--auth",
            "digest",
            "-u",
            "user:passwd",
            url("/digest-auth/auth/user/passwd")
        )

        #expect(run.code == 0, "\(run.errors)")
        #expect(lines.first?.kinds == ["auth 401", "final 200"])
    }

    @Test func `the report has tunnels, granted and refused`() async throws {
        let proxy = try TestProxy()
        let (_, granted) = try await report("-x", "127.0.0.1:\(proxy.port)", "-p", url("/x"), url("/y"))
        #expect(granted.map(\.http_connect) == [200, 0] && granted.first?.kinds == ["connect 200", "final 200"])
        #expect(granted.map(\.num_connects) == [1, 0])

        let refusing = try TestServer()
        refusing.script(.expectHead, .send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"), .close)
        let (run, refused) = try await report("-x", "127.0.0.1:\(refusing.port)", "-p", url("/x"))
        #expect(run.code == 56 && refused.first?.kinds == ["connect 403"] && refused.first?.http_connect == 403)
    }

    @Test func `a request is sent twice to a proxy that asks for credentials`() async throws {
        let proxy = try TestProxy()
        proxy.rules.authentication = .password(user: "u", password: "p")

        let arguments = ["-x", "127.0.0.1:\(proxy.port)", "-p", "--proxy-auth", "any", "-U", "u:p", url("/x")]
        let run = try await Program.run(["--report", folder.path("report")] + arguments)

        #expect(run.code == 0, "\(run.errors)")
        #expect(try reports().first?.kinds == ["connect 407", "connect 200", "final 200"])
    }

    @Test func `the report has the use of the cache`() async throws {
        let cache = folder.path("cache")
        _ = try await Program.run("--cache", cache, url("/cache/60"), url("/etag/abc"))

        let (_, lines) = try await report("--cache", cache, url("/cache/60"), url("/etag/abc"))

        #expect(lines.map(\.from_cache) == ["hit", "revalidated"], "\(lines)")
        #expect(lines.map(\.kinds) == [["final 200"], ["final 200"]] && lines.allSatisfy { $0.size_download > 0 })
        #expect(lines.map(\.num_connects) == [0, 1])
    }

    @Test func `the report has TLS, also errors that --insecure ignores`() async throws {
        let site = try SecuredSite()
        let (_, trusted) = try await report("--cacert", site.root, site.url)
        let (_, insecure) = try await report("-k", site.url)
        let (run, refused) = try await report(site.url)

        #expect(trusted.first?.tls.version == "TLSv1.3" && trusted.first?.tls.verify_error == "")
        #expect(trusted.first?.scheme == "HTTPS")
        let plainAfterwards = ["--next", "--report", folder.path("report"), url("/x")]
        _ = try await Program.run(["--report", folder.path("report"), "-k", site.url, site.url] + plainAfterwards)
        let plain = try reports()
        #expect(plain.map { $0.tls.verify_error.isEmpty } == [false, false, true] && plain[1].num_connects == 0)
        let times = try #require(trusted.first)
        #expect(times.time_connect > 0 && times.time_appconnect > times.time_connect)
        #expect(times.time_starttransfer >= times.time_appconnect)
        #expect(insecure.first?.exitcode == 0 && insecure.first?.tls.verify_error != "")
        #expect(run.code == 60 && refused.first?.tls.verify_error != "" && refused.first?.exitcode == 60)
    }

    @Test func `the report has a truncated body with its error and size`() async throws {
        let (run, lines) = try await report(url("/cut"))

        #expect(run.code == 18 && lines.first?.exitcode == 18 && lines.first?.size_download == 4)
        #expect(lines.first?.kinds == ["final 200"])
    }

    @Test func `a report that cannot be written is 23, and goes to standard output with -`() async throws {
        let nowhere = try await Program.run("--report", folder.path("no/such"), "-o", folder.path("o"), url("/x"))
        #expect(nowhere.code == 23 && nowhere.errors.contains("--report"))

        let printed = try await Program.run("--report", "-", "-o", folder.path("o"), url("/x"))
        #expect(try JSONDecoder().decode(Report.self, from: printed.output).status == 200)
    }
}
