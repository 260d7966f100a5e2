import Foundation
import Testing

/// What happens to the response. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct ResponseTests {
    let server: TestServer
    let folder: Program.Folder

    init() throws {
        server = try TestServer()
        folder = try Program.Folder()
    }

    private var url: String { server.url("/x").absoluteString }

    @Test func `a body arrives byte for byte, however large`() async throws {
        let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) })
        server.route("GET", "/x", .data(bytes))

        #expect(try await Program.run(url).output == bytes)
        #expect(try await Program.run("-o", folder.path("f"), url).output == Data())
        #expect(folder.contents("f") == bytes)
    }

    @Test func `each URL has its output, further ones go to standard output`() async throws {
        server.enqueue(.text("one"), .text("two"), .text("three"))

        let run = try await Program.run("-o", folder.path("1"), "--output", folder.path("2"), url, url, url)

        #expect(folder.contents("1") == Data("one".utf8) && folder.contents("2") == Data("two".utf8))
        #expect(run.text == "three")
    }

    @Test func `an empty body makes an empty file`() async throws {
        server.enqueue(.status(204))

        #expect(try await Program.run("-o", folder.path("f"), url).code == 0)
        #expect(folder.contents("f") == Data())
    }

    @Test func `--include puts the head before the body`() async throws {
        server.enqueue(.text("body").header("X-One", "1"))

        let run = try await Program.run("-i", url)

        #expect(run.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(run.text.contains("\r\nX-One: 1\r\n"))
        #expect(run.text.hasSuffix("\r\n\r\nbody"))
    }

    @Test(
        arguments: [
            "HTTP/1.1 200 All is well", "HTTP/1.0 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 404 n\u{F6}",
            "HTTP/1.1 500 (x) y",
        ]
    )
    func `--include and --dump-header have the first line as the server sent it`(line: String) async throws {
        let head = "\(line)\r\nContent-Length: 4\r\nX-One: 1\r\n\r\n"
        server.script(on: .connection(1), .expectRequest, .send(head + "body"), .close)

        let run = try await Program.run("-s", "-i", "-D", folder.path("heads"), url)

        #expect(run.text == head + "body")
        #expect(folder.contents("heads") == Data(head.utf8))
    }

    @Test func `a response of the cache has the status, and no phrase`() async throws {
        server.route("GET", "/x", .text("body").header("Cache-Control", "max-age=60"))
        let options = ["-s", "-i", "--cache", folder.path("cache"), url]

        #expect(try await Program.run(options).text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        let stored = try await Program.run(options)

        #expect(stored.text.hasPrefix("HTTP/1.1 200 \r\n") && stored.text.hasSuffix("\r\n\r\nbody"))
        #expect(server.requests.count == 1)
    }

    @Test func `a status is no failure unless --fail says so`() async throws {
        server.enqueue(.text("gone").status(404), .text("gone").status(404))

        let plain = try await Program.run(url)
        let failing = try await Program.run("-f", "-o", folder.path("f"), url)

        #expect(plain.code == 0 && plain.text == "gone")
        #expect(failing.code == 22 && failing.errors == "afnet: the server answered 404, not found\n")
        #expect(folder.contents("f") == nil)
    }

    @Test func `a file is replaced when the response begins, and keeps the bytes that arrived`() async throws {
        let file = try folder.make("f", Data("earlier".utf8))
        server.script(on: .connection(1), .expectRequest, .close)
        server.script(
            on: .connection(2),
            .expectRequest,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf "),
            .close
        )

        let closed = try await Program.run("-o", file, url)
        #expect(closed.code == 52 && folder.contents("f") == Data("earlier".utf8))
        let torso = try await Program.run("-o", file, url)

        #expect(torso.code == 18 && folder.contents("f") == Data("half ".utf8))
        #expect(torso.errors.hasSuffix(" What arrived is kept in \(file).\n"))
    }

    @Test func `a larger body than --max-filesize is refused, announced or not`() async throws {
        server.enqueue(.text("12345"), .text("12345").chunked(1), .text("1234"))

        let announced = try await Program.run("--max-filesize", "4", "-o", folder.path("f"), url)
        #expect(announced.code == 63 && folder.contents("f") == nil)
        #expect(try await Program.run("--max-filesize", "4", url).code == 63)
        #expect(try await Program.run("--max-filesize", "4", url).text == "1234")
    }

    @Test func `--max-filesize does not count the length of a body that is not there`() async throws {
        server.route("*", "/x", ServerReply.status(304).header("Content-Length", "5000"))

        #expect(try await Program.run("--max-filesize", "4", url).code == 0)
        #expect(try await Program.run("--max-filesize", "4", "--request", "HEAD", url).code == 0)
    }

    @Test func `a reader that goes away is 23, not a signal`() async throws {
        server.route("GET", "/x", .stream(.repeating("0123456789", count: 50_000_000)))

        let run = try await Program.runWithoutReader(url)

        #expect(run.code == 23)
        #expect(run.errors == "afnet: cannot write standard output: Broken pipe\n")
    }

    @Test func `a full device and a missing folder are 23`() async throws {
        server.route("GET", "/x", .text("body"))

        let full = try await Program.run("-o", "/dev/full", url)
        let missing = try await Program.run("-o", folder.path("no/f"), url)

        #expect(full.code == 23 && full.errors.contains("No space left on device"))
        #expect(missing.code == 23 && missing.errors.contains("No such file or directory"))
    }

    @Test func `--silent writes no message, --show-error only errors`() async throws {
        server.route("GET", "/x", .status(500))

        #expect(try await Program.run("-sf", url).errors == "")
        #expect(try await Program.run("-fsS", url).errors.hasPrefix("afnet: the server answered 500"))
    }

    // MARK: Terminals

    @Test func `no text of the server reaches a terminal as an escape sequence`() async throws {
        server.route("GET", "/x", .text("body").header("X-Evil", "\u{9B}31m\u{202E}"))

        let run = try await Program.runOnTerminal("-i", "-v", url)

        #expect(run.code == 0)
        #expect(run.text.contains(#"X-Evil: \u{9B}31m\u{202E}"#))
        #expect(!run.text.unicodeScalars.contains { "\u{1B}\u{9B}\u{202E}".unicodeScalars.contains($0) })
    }

    @Test func `a binary body is not written to a terminal`() async throws {
        server.route("GET", "/x", .data([0x1B, 0x5B, 0x32, 0x4A, 0]))

        let run = try await Program.runOnTerminal(url)

        #expect(run.code == 23)
        #expect(!run.output.contains(0x1B) && run.text.contains("--output PATH"))
    }

    @Test func `a download to a file shows a bar on a terminal and nowhere else`() async throws {
        server.route("GET", "/x", .text("0123456789"))

        let shown = try await Program.runOnTerminal("-o", folder.path("f"), url)
        let silent = try await Program.runOnTerminal("-s", "-o", folder.path("f"), url)
        let piped = try await Program.run("-o", folder.path("f"), url)

        #expect(shown.text.contains("100% [##############################] 10 B of 10 B"))
        #expect(silent.text == "" && piped.errors == "")
        let plain = try await Program.runOnTerminal("-#", "-o", folder.path("f"), url)
        #expect(plain.text.contains("#### 100%") && !plain.text.contains("10 B"))
        #expect(try await Program.runOnTerminal("--no-progress-meter", "-o", folder.path("f"), url).text == "")
    }
}
