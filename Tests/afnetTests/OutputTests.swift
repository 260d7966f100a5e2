import Testing
import afnet

@Suite struct OutputTests {
    @Test func `what a terminal would obey is escaped, the rest is left alone`() {
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
        #expect(half == " 50% [###############               ] 1.0 kB of 2.0 kB  2.0 kB/s")
        #expect(bar.line(received: 9000, now: start + .seconds(1))?.hasPrefix("100% [####") == true)
    }

    @Test func `without a length there is no bar to draw`() {
        let start = ContinuousClock.now
        var bar = ProgressBar(expected: -1, now: start)

        #expect(bar.line(received: 3000, now: start + .seconds(2)) == "3.0 kB  1.5 kB/s")
    }
}
