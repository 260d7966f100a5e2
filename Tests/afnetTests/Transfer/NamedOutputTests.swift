import Foundation
import Testing

/// Files that are named after URLs or by servers. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct NamedOutputTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.route("*", "/*") { request in
            let reply = ServerReply.text("body of \(request.path)")
            guard let item = request.queryItems.first, let value = item.value else { return reply }
            let field = item.name == "field" ? value : "attachment; filename=\"\(value)\""
            return reply.header("Content-Disposition", field)
        }
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    private func run(_ options: String...) async throws -> Program.Run {
        try await Program.run(["--output-dir", folder.url.path] + options)
    }

    private func text(_ name: String) -> String? { folder.contents(name).map { String(decoding: $0, as: UTF8.self) } }

    @Test func `-O takes the name of the URL, -o and -O belong to the URLs in order`() async throws {
        let run = try await run(
            "-O",
            "-o",
            "mine",
            "-O",
            url("/a/one.txt?q=/x"),
            url("/two"),
            url("/3%20%2F3"),
            url("/4")
        )

        #expect(run.code == 0 && run.text == "body of /4")
        #expect(text("one.txt") == "body of /a/one.txt" && text("mine") == "body of /two")
        #expect(text("3%20%2F3") == "body of /3%20%2F3")
    }

    @Test func `--remote-name-all is for all that have no output`() async throws {
        #expect(try await run("--remote-name-all", "-o", "mine", url("/a"), url("/b"), url("/c")).text == "")
        #expect(["mine", "b", "c"].map(text) == ["body of /a", "body of /b", "body of /c"])
    }

    @Test(arguments: ["/", "/a/", "/a/.."])
    func `a URL without a name has none for a file`(path: String) async throws {
        let run = try await Program.run("--output-dir", folder.url.path, "-O", "http://127.0.0.1:\(server.port)\(path)")

        #expect(run.code == 23 && run.errors.hasPrefix("afnet: --remote-name: "))
        #expect(server.acceptedConnections == 0)
    }

    @Test func `-J takes the server's name, without folders`() async throws {
        for (given, name) in [
            ("report.pdf", "report.pdf"), ("../../etc/passwd", "passwd"), ("/tmp/x1", "x1"), (".profile", "profile"),
            ("..%5C..%5Cw.ini", "w.ini"),
        ] {
            #expect(try await run("-OJ", url("/download?name=\(given)")).code == 0)
            #expect(text(name) == "body of /download", "\(given)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(names.sorted() == ["passwd", "profile", "report.pdf", "w.ini", "x1"])
        #expect(try await run("-OJ", url("/plain")).code == 0 && text("plain") == "body of /plain")
    }

    @Test func `T-FIL-08 -J reads malformed fields of servers`() async throws {
        for (index, (given, name)) in [
            ("filename=a.txt", "a.txt"), ("attachment; filename=a b.txt", "a b.txt"),
            ("attachment; filename=../../etc/c d", "c d"), ("attachment; x; filename=\"e.txt\"", "e.txt"),
            ("attachment; filename=f; filename*=UTF-8''%2e%2e%2f%2e%2egh", "gh"), ("attachment; filename=..", "5"),
        ].enumerated() {
            let field = given.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            #expect(try await run("-OJ", url("/\(index)?field=\(field)")).code == 0)
            #expect(text(name) == "body of /\(index)", "\(given)")
        }
    }

    @Test func `-J is for -O, and what -o names keeps its name`() async throws {
        let address = url("/download?name=given")

        #expect(try await run("-o", "mine", "-O", "-J", address, address).code == 0)
        #expect(text("mine") != nil && text("given") != nil)
        #expect(try await Program.run("-J", address).text.hasPrefix("body of"))
    }

    @Test func `-J leaves files alone`() async throws {
        _ = try folder.make("report.pdf", Data("mine".utf8))

        let run = try await run("-OJ", url("/download?name=report.pdf"))

        #expect(run.code == 23 && run.errors.contains("report.pdf: File exists") && text("report.pdf") == "mine")
    }

    @Test func `--create-dirs makes missing folders`() async throws {
        #expect(try await run("-o", "a/b/c", url("/x")).code == 23)
        #expect(try await run("--create-dirs", "-o", "a/b/c", url("/x")).code == 0)
        #expect(text("a/b/c") == "body of /x")
    }
}
