/// The line of a terminal that shows progress, and is drawn over itself.
@MainActor final class MeterLine {
    private let console: Console
    /// How many columns the text has that is drawn; 0 if there is none.
    private var drawn = 0

    init(_ console: Console) {
        self.console = console
    }

    /// The columns that the terminal has now.
    var width: Int { console.width }

    func draw(_ text: String) {
        console.write(start + text + "\u{1B}[K")
        drawn = text.count
    }

    /// Leaves what is drawn, and goes on below.
    func end() {
        if drawn > 0 { console.write("\n") }
        drawn = 0
    }

    /// Removes what is drawn.
    func clear() {
        if drawn > 0 { console.write(start + "\u{1B}[K") }
        drawn = 0
    }

    /// Goes to the beginning of what is drawn. A terminal that has become narrower shows it in several rows.
    private var start: String {
        let rows = (max(drawn, 1) - 1) / max(width, 1)
        return rows > 0 ? "\r\u{1B}[\(rows)A\u{1B}[J" : "\r"
    }
}

/// The progress of transfers that run in parallel, in one line: how many are done, and the bytes of all.
@MainActor final class GroupMeter {
    private let line: MeterLine
    private let total: Int
    private let start: ContinuousClock.Instant
    private var drawn: ContinuousClock.Instant?
    private var done = 0
    private var bytes: Int64 = 0

    init(_ line: MeterLine, of total: Int, now: ContinuousClock.Instant = .now) {
        self.line = line
        self.total = total
        start = now
    }

    /// Counts bytes that were sent or received.
    func moved(_ count: Int64) {
        bytes += count
        draw()
    }

    /// Counts a URL whose last try is over.
    func finished() {
        done += 1
        draw()
    }

    /// Removes the line, for a message; it comes back with the next bytes.
    func clear() {
        line.clear()
        drawn = nil
    }

    func end() {
        line.draw(text())
        line.end()
    }

    private func draw() {
        let now = ContinuousClock.now
        if let drawn, now - drawn < ProgressBar.interval { return }
        drawn = now
        line.draw(text(now))
    }

    func text(_ now: ContinuousClock.Instant = .now) -> String {
        let seconds = max((now - start) / .seconds(1), 0.001)
        let rate = ByteCount.text(Int64(Double(bytes) / seconds))
        let count = "\(done) of \(total)"
        let texts = ["\(count) done  \(ByteCount.text(bytes))  \(rate)/s", "\(count)  \(ByteCount.text(bytes))", count]
        return texts.first { $0.count < line.width } ?? String(count.prefix(max(line.width - 1, 0)))
    }
}
