import AFURLSession
import Foundation
import Glibc
import Testing
import afnet

/// Parts, codings, uploads and the cache. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct TransferOptionTests {
    let server: TestServer
    let folder: Program.Folder
    private let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) })

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
        server.install(.ranges, .compression, .caching, .echo)
        server.route("*", "/take", .text("taken"))
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    // MARK: Groups

    @Test func `--next forgets --max-time and keeps the connection`() async throws {
        server.route("GET", "/slow", .text("slow").delayed(by: .milliseconds(1500)))

        let run = try await Program.run("-m", "1", url("/take"), "--next", url("/slow"))
        let late = try await Program.run(url("/take"), "--next", "-m", "1", url("/slow"))

        #expect(run.code == 0 && run.text == "takenslow" && late.code == 28)
        #expect(server.requests.map(\.connection) == [1, 1, 2, 2])
    }

    @Test func `--next forgets --compressed and keeps the connection`() async throws {
        let (decoded, coded) = (folder.path("decoded"), folder.path("coded"))

        let run = try await Program.run(
            ["--compressed", "-o", decoded, url("/gzip"), "--next", "-o", coded, url("/gzip")]
        )

        #expect(run.code == 0 && folder.contents("decoded")?.first == UInt8(ascii: "{"))
        #expect(folder.contents("coded")?.prefix(2) == Data([0x1F, 0x8B]))
        #expect(server.requests.map { $0.headers["Accept-Encoding"] == nil } == [false, true])
        #expect(server.requests.map(\.connection) == [1, 1])
    }

    // MARK: Parts

    @Test func `--range requests a part`() async throws {
        let whole = try await Program.run(url("/range/1000")).output

        #expect(try await Program.run("-r", "10-19", url("/range/1000")).output == whole[10..<20])
        #expect(try await Program.run("--range", "-5", url("/range/1000")).output == whole[995...])
    }

    @Test func `--resume continues after the bytes of the file`() async throws {
        let whole = try await Program.run(url("/range/1000")).output
        let file = try folder.make("f", whole.prefix(400))

        #expect(try await Program.run("--resume", "-o", file, url("/range/1000")).code == 0)
        #expect(folder.contents("f") == whole)
        // Now the file is complete.
        #expect(try await Program.run("-C", "-", "-o", file, url("/range/1000")).code == 0)
        #expect(folder.contents("f") == whole)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=400-", "bytes=1000-"])
        // A missing file gets the whole.
        #expect(try await Program.run("--resume", "-o", folder.path("new"), url("/range/1000")).code == 0)
        #expect(folder.contents("new") == whole)
    }

    @Test func `--resume-from names the byte`() async throws {
        let whole = try await Program.run(url("/range/1000")).output

        #expect(try await Program.run("--resume-from", "990", url("/range/1000")).output == whole[990...])
    }

    @Test func `--resume-from 0 loads the whole, in place of what the file has`() async throws {
        let whole = try await Program.run(url("/range/1000")).output
        let file = try folder.make("f", Data(count: 2000))

        #expect(try await Program.run("-C", "0", "-o", file, url("/range/1000")).code == 0)
        #expect(folder.contents("f") == whole && server.requests.last?.headers["Range"] == nil)
    }

    @Test func `a server that does not send the rest is 33, and the file stays`() async throws {
        let file = try folder.make("f", Data("1234".utf8))
        let replies: [ServerReply] = [
            .text("whole"), .status(404),
            ServerReply.text("x").status(206).header("Content-Range", "bytes 3-3/5"),
            ServerReply.text("x").status(206),
            ServerReply.text("x").status(416).header("Content-Range", "bytes */3"),
        ]
        for reply in replies {
            server.enqueue(reply)
            #expect(try await Program.run("-C", "-", "-o", file, url("/x")).code == 33)
            #expect(folder.contents("f") == Data("1234".utf8))
        }
        server.enqueue(.status(404))
        #expect(try await Program.run("-f", "-C", "-", "-o", file, url("/x")).code == 22)
    }

    @Test(arguments: [("56", 18), ("", 18), ("56789EVIL", 33)])
    func `T-FIL-13 a rest of another length than it says is not kept`(body: String, code: Int32) async throws {
        let file = try folder.make("f", Data("1234".utf8))
        let head = "HTTP/1.1 206 Part\r\nContent-Range: bytes 4-8/9\r\n\r\n"
        server.script(.expectHead, .send(head + body), .close)

        let run = try await Program.run("--resume", "-o", file, url("/x"))

        #expect(run.code == code && folder.contents("f") == Data("1234".utf8))
        #expect(run.errors.contains("than its Content-Range says"))
    }

    @Test func `T-FIL-11 the body of an error does not come behind a part`() async throws {
        let file = try folder.make("f", Data("1234".utf8))
        for status in [403, 404, 500] {
            server.enqueue(ServerReply.text("error").status(status))
            let run = try await Program.run("--fail-with-body", "-C", "-", "-o", file, url("/x"))
            #expect(run.code == 22 && folder.contents("f") == Data("1234".utf8))
        }
    }

    @Test func `T-FIL-11 the next try does not go on with the body of an error`() async throws {
        server.enqueue(ServerReply.text("error").status(404))
        server.route("GET", "/file") { .file(Data("123456789".utf8), entityTag: "\"one\"", to: $0) }

        let run = try await Program.run(
            "--retry",
            "1",
            "--retry-delay",
            "0.01",
            "--retry-all-errors",
            "--fail-with-body",
            "-C",
            "-",
            "-o",
            folder.path("f"),
            url("/file")
        )

        #expect(run.code == 0 && folder.contents("f") == Data("123456789".utf8), "\(run)")
    }

    @Test func `T-FIL-11 a download is resumed only while the resource is the same`() async throws {
        let file = folder.path("f")
        let whole = ServerReply.text("123456789").header("ETag", "\"one\"")
        server.enqueue(whole.closing(after: 4))
        #expect(try await Program.run("-o", file, url("/x")).code == 18)
        #expect(folder.contents("f") == Data("1234".utf8))
        let rest = ServerReply.text("56789").status(206).header("Content-Range", "bytes 4-8/9")

        // The server ignores If-Range and has another resource.
        for other in [rest.header("ETag", "\"two\""), rest, whole.header("ETag", "\"two\"")] {
            server.enqueue(other)
            let run = try await Program.run("-C", "-", "-o", file, url("/x"))
            #expect(run.code == 33 && run.errors.contains("has changed"))
            #expect(server.requests.last?.headers["If-Range"] == "\"one\"")
            #expect(folder.contents("f") == Data("1234".utf8))
        }
        server.enqueue(rest.header("ETag", "\"one\""))
        #expect(try await Program.run("-C", "-", "-o", file, url("/x")).code == 0)
        #expect(folder.contents("f") == Data("123456789".utf8))

        // A complete file has no validator.
        server.enqueue(ServerReply.text("").status(416).header("Content-Range", "bytes */9"))
        #expect(try await Program.run("-C", "-", "-o", file, url("/x")).code == 0)
        #expect(server.requests.last?.headers["If-Range"] == nil)
    }

    @Test func `a part of coded content is not appended`() async throws {
        let file = try folder.make("f", Data("1234".utf8))
        let part = ServerReply.text("5").status(206).header("Content-Range", "bytes 4-4/5")
        server.enqueue(part.header("Content-Encoding", "gzip"))

        #expect(try await Program.run("-C", "-", "-o", file, url("/x")).code == 33)
        #expect(folder.contents("f") == Data("1234".utf8))
    }

    // MARK: Codings

    @Test func `a coded body stays coded, and is decoded with --compressed`() async throws {
        let plain = try await Program.run(url("/gzip"))
        let decoded = try await Program.run("--compressed", url("/gzip"))

        #expect(plain.output.prefix(2) == Data([0x1F, 0x8B]) && decoded.text.contains("gzip"))
        #expect(server.requests[0].headers["Accept-Encoding"] == nil)
        #expect(server.requests[1].headers["Accept-Encoding"]?.hasPrefix("gzip, deflate") == true)
    }

    // MARK: Uploads

    @Test func `--upload-file sends a file with PUT`() async throws {
        let file = try folder.make("f", bytes)

        #expect(try await Program.run("-T", file, url("/take")).text == "taken")
        #expect(try await Program.run("-T", file, "-X", "PATCH", url("/take")).code == 0)
        let requests = try await server.waitForRequests(2)

        #expect(requests.map(\.method) == ["PUT", "PATCH"] && requests.allSatisfy { Data($0.body) == bytes })
        #expect(requests[0].headers["Content-Length"] == "200000" && requests[0].headers["Content-Type"] == nil)
    }

    @Test func `standard input is sent in chunks, unless there is a Content-Length`() async throws {
        let length = "Content-Length: \(bytes.count)"
        #expect(try await Program.run(["-v", "-T", "-", url("/take")], input: bytes).code == 0)
        #expect(try await Program.run(["-T", "-", "-H", length, url("/take")], input: bytes).code == 0)
        let requests = try await server.waitForRequests(2)

        #expect(requests.allSatisfy { Data($0.body) == bytes })
        #expect(requests[0].headers["Transfer-Encoding"] == "chunked")
        #expect(requests[1].headers["Content-Length"] == "200000" && requests[1].headers["Transfer-Encoding"] == nil)
    }

    @Test func `standard input is sent from its current position, also if it is a socket`() async throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.make("f", Data("sent before".utf8))))
        try file.seek(toOffset: 5)
        #expect(try await Program.run(["-T", "-", url("/take")], from: file).code == 0)

        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let (near, far) = (FileHandle(fileDescriptor: ends[0]), FileHandle(fileDescriptor: ends[1]))
        try near.write(contentsOf: Data("through a socket".utf8))
        try near.close()
        #expect(try await Program.run(["-T", "-", url("/take")], from: far).code == 0)
        try far.close()

        let bodies = try await server.waitForRequests(2).map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies == ["before", "through a socket"])
    }

    @Test func `standard input that cannot be read fails the upload`() async throws {
        let directory = try FileHandle(forReadingFrom: folder.url)
        let run = try await Program.run(["-T", "-", url("/take")], from: directory)
        #expect(run.code != 0 && run.errors.hasPrefix("afnet: "), "\(run)")
    }

    @Test func `a file that cannot be read is 26, and nothing is sent`() async throws {
        #expect(try await Program.run("-T", folder.path("none"), url("/take")).code == 26)
        #expect(server.acceptedConnections == 0)
    }

    @Test func `an upload shows a bar on a terminal`() async throws {
        // A small upload would end before a bar is drawn.
        let file = try folder.make("f", Data(count: 30_000_000))

        let shown = try await Program.runOnTerminal("-T", file, "-o", folder.path("o"), url("/take"))

        #expect(shown.text.contains(" of 30.0 MB"))
    }

    // MARK: Statuses

    @Test func `--fail-with-body fails and keeps the body`() async throws {
        server.enqueue(.text("gone").status(404), .text("gone").status(404))

        let run = try await Program.run("--fail-with-body", url("/x"))
        let filed = try await Program.run("--fail-with-body", "-o", folder.path("f"), url("/x"))

        #expect(run.code == 22 && run.text == "gone")
        #expect(filed.code == 22 && folder.contents("f") == Data("gone".utf8))
        #expect(filed.errors == "afnet: the server answered 404, not found\n")
    }

    /// A body in which the server says what is wrong.
    private func problem(_ body: String) -> ServerReply {
        ServerReply.text(body).status(403).header("Content-Type", "application/problem+json")
    }

    @Test func `T-ANS-10 a failing status has the words of the server's problem, without its controls`() async throws {
        let reply = problem(#"{"title": "Out of credit", "detail": "It costs\u001b[31m 50.", "status": 200}"#)
        server.enqueue(reply, reply)

        let run = try await Program.run("--fail", url("/x"))
        let kept = try await Program.run("--fail-with-body", url("/x"))

        let words = #"afnet: the server answered 403, forbidden: "Out of credit: It costs\x1b[31m 50.""# + "\n"
        #expect(run.code == 22 && run.errors == words && run.text.isEmpty)
        #expect(kept.code == 22 && kept.errors == words && kept.text.contains("Out of credit"))
    }

    @Test func `T-ANS-09 a problem that is long, cut off, none or without end leaves the status alone`() async throws {
        let long = problem("{\"title\": \"\(String(repeating: "a", count: 1 << 20))\"}")
        let short = problem(#"{"title": "a"}"#)
        server.enqueue(long, short.closing(after: 5), problem("[]"), short.stalling(after: 5))

        for _ in 0..<4 {
            let run = try await Program.run("--fail", url("/x"))
            #expect(run.code == 22 && run.errors == "afnet: the server answered 403, forbidden\n")
        }
    }

    // MARK: The cache

    @Test func `there is no cache without --cache, and later runs share its folder`() async throws {
        let address = url("/cache/60")
        _ = try await Program.run(address, address)
        #expect(server.requests.count == 2)

        let first = try await Program.run("--cache", folder.url.path, address)
        let second = try await Program.run("--cache", folder.url.path, address)

        #expect(server.requests.count == 3 && first.output == second.output && !first.output.isEmpty)
    }

    @Test func `a refresh in the background ends before the program does`() async throws {
        for (index, body) in ["old", "new", "never"].enumerated() {
            let reply = ServerReply.text(body).header("Cache-Control", "max-age=0, stale-while-revalidate=600")
            server.enqueue(index == 1 ? reply.delayed(by: .milliseconds(700)) : reply)
        }
        let words = ["--cache", folder.url.path, url("/stale")]
        #expect(try await Program.run(words).text == "old")
        #expect(try await Program.run(words).text == "old" && server.requests.count == 2)
        #expect(try await Program.run(["--cache-mode", "only-if-cached"] + words).text == "new")
    }

    @Test func `each mode of the cache works`() async throws {
        func run(_ mode: String) async throws -> [Int] {
            let before = server.requests.count
            let run = try await Program.run("--cache", folder.url.path, "--cache-mode", mode, url("/cache/60"))
            return [run.code == 0 ? 0 : 1, server.requests.count - before]
        }

        let missing = [1, 0]
        let asked = [0, 1]
        let kept = [0, 0]
        for (mode, result) in [
            ("only-if-cached", missing), ("no-store", asked), ("only-if-cached", missing), ("default", asked),
            ("default", kept), ("reload", asked), ("no-cache", asked), ("only-if-cached", kept), ("force-cache", kept),
        ] {
            #expect(try await run(mode) == result, "\(mode)")
        }
    }
}
