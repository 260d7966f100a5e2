import Foundation
import Testing
import afnet

@Suite struct OutputTests {
    @Test func `control characters are escaped, the rest stays`() {
        #expect(
            TerminalText.escaped("a\u{1B}[2Jb\r\n\u{9B}1m\u{202E}\u{0}")
                == #"a\u{1B}[2Jb\u{D}\u{A}\u{9B}1m\u{202E}\u{0}"#
        )
        #expect(TerminalText.escaped("naïve – 東京 🙂") == "naïve – 東京 🙂")
    }

    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
            (5_368_709_120, "5.4 GB"), (Int64.max, "9223372.0 TB"),
        ] as [(Int64, String)]
    )
    func `byte counts are short`(count: Int64, text: String) {
        #expect(ByteCount.text(count) == text)
    }

    @Test func `the bar grows with the body and is drawn ten times a second`() {
        let start = ContinuousClock.now
        var bar = ProgressBar(expected: 2000, now: start)

        #expect(bar.line(received: 0, now: start)?.hasPrefix("  0% [      ") == true)
        #expect(bar.line(received: 500, now: start + .milliseconds(99)) == nil)
        let half = bar.line(received: 1000, now: start + .milliseconds(500))
        #expect(half == " 50% [###############               ] 1.0 kB of 2.0 kB  2.0 kB/s  0:01 left")
        #expect(bar.line(received: 9000, now: start + .seconds(1))?.hasPrefix("100% [####") == true)
    }

    @Test(
        arguments: [
            (200, " 10% [###                           ] 100.0 MB of 1.0 GB  1.0 MB/s  15:00 left"),
            (60, " 10% [#          ] 100.0 MB of 1.0 GB  1.0 MB/s  15:00 left"),
            (53, " 10% 100.0 MB of 1.0 GB  1.0 MB/s  15:00 left"), (30, " 10% 100.0 MB of 1.0 GB"), (12, " 10%"),
            (3, " 1"),
        ] as [(Int, String)]
    )
    func `the bar says how long the rest takes, and fits the terminal`(width: Int, text: String) {
        let start = ContinuousClock.now
        let bar = ProgressBar(expected: 1_000_000_000, width: width, now: start)
        let line = bar.text(received: 100_000_000, now: start + .seconds(100))

        #expect(line == text && line.count < width)
    }

    @Test func `the time left may be hours, or unknown`() {
        let start = ContinuousClock.now
        let bar = ProgressBar(expected: 10_000_000, now: start)

        #expect(bar.text(received: 1000, now: start + .seconds(1)).hasSuffix(" 2:46:39 left"))
        #expect(!bar.text(received: 1, now: start + .seconds(1)).contains("left"))
        #expect(!bar.text(received: 10_000_000, now: start + .seconds(1)).contains("left"))
    }

    @Test func `the plain bar is a bar`() {
        let bar = ProgressBar(expected: 200, width: 16, isPlain: true)

        #expect(bar.text(received: 100) == "#####       50%")
        #expect(ProgressBar(expected: -1, isPlain: true).text(received: 7) == "#  7 B")
    }

    @Test func `without a length there is no bar to draw`() {
        let start = ContinuousClock.now
        var bar = ProgressBar(expected: -1, now: start)

        #expect(bar.line(received: 3000, now: start + .seconds(2)) == "3.0 kB  1.5 kB/s")
    }
}

/// What a terminal shows. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct MeterTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        server.route("GET", "/big", .stream(.repeating("x", count: 3_000_000)))
        server.route("GET", "/gone", .text("gone").status(404))
        server.route(
            "GET",
            "/slow",
            ServerReply.stream(.repeating("x", count: 60)).dribbling(1, every: .milliseconds(50))
        )
    }

    private func url(_ path: String) -> String { server.url(path).absoluteString }

    @Test func `a body for a file of the shell has a bar, one for the terminal has none`() async throws {
        let folder = try Program.Folder()
        let script = "exec \"$@\" >\(folder.path("f"))"
        let shown = try await Program.runOnTerminal(inShell: script, [url("/big")])
        #expect(shown.contains("100% [####"))
        #expect(try await !Program.runOnTerminal(url("/slow")).text.contains("%"))
        #expect(try await Program.runOnTerminal(inShell: script, ["-s", url("/big")]) == "")
        #expect(try await Program.runOnTerminal(inShell: script, ["--no-progress-meter", url("/big")]) == "")
    }

    @Test func `transfers in parallel have one line, and messages stand above it`() async throws {
        let folder = try Program.Folder()
        let words = [
            "-Z", "-f", "--output-dir", folder.url.path, "--remote-name-all", url("/big"), url("/gone"), url("/slow"),
        ]
        let shown = try await Program.runOnTerminal(inShell: "exec \"$@\"", words)

        #expect(shown.contains("3 of 3 done  3.0 MB"))
        #expect(shown.components(separatedBy: "\n").filter { $0.contains("of 3 done") }.count == 1)
        let message = "\r\u{1B}[Kafnet: \(url("/gone")): the server answered 404, not found\r\n"
        #expect(shown.contains(message) || shown.hasPrefix(String(message.dropFirst(4))))
        #expect(try await Program.runOnTerminal(inShell: "exec \"$@\"", ["-s"] + words) == "")
    }

    @Test func `a terminal that becomes narrower has one line`() async throws {
        let terminal = try Terminal()
        terminal.resize(columns: 100)
        let folder = try Program.Folder()
        let words = ["-o", folder.path("f"), url("/slow")]
        let run = Task { try await Program.run(on: terminal, words) }
        var shown = ""
        let limit = ContinuousClock.now + .seconds(60)
        while !shown.contains(" left"), ContinuousClock.now < limit {
            shown += String(decoding: terminal.read(), as: UTF8.self)
            try await Task.sleep(for: .milliseconds(5))
        }
        terminal.resize(columns: 30)
        #expect(try await run.value == 0)

        shown += String(decoding: terminal.finish(), as: UTF8.self)
        // The line of 100 columns stands in several rows now: it is taken away once, from its first row on.
        #expect(shown.components(separatedBy: "A\u{1B}[J").count == 2, "\(shown.debugDescription)")
        let last = shown.components(separatedBy: "A\u{1B}[J").last ?? ""
        #expect(last.components(separatedBy: "\r").allSatisfy { $0.count < 30 + 3 })
    }
}
