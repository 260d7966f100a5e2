/// The progress of transfers that run in parallel, in one line: how many are done, and the bytes of all.
@MainActor final class GroupMeter {
    private let line: MeterLine
    private let total: Int
    private let start: ContinuousClock.Instant
    private var drawn: ContinuousClock.Instant?
    private var done = 0
    private var bytes: Int64 = 0

    init(line: MeterLine, of total: Int, now: ContinuousClock.Instant = .now) {
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
