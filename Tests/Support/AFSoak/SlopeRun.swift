import AFBase
import AFLoop
import Foundation

/// Does one thing again and again, and sees whether the process grows with it.
struct SlopeRun {
    /// What was seen of one kind.
    struct Row {
        let kind: Kind
        let repetitions: Int
        let heap: Slope
        let descriptors: Slope
        let threads: Slope
        let verdict: Slope.Verdict
        let time: Duration

        /// The heap's in bytes; the others' for a thousand repetitions.
        var line: String {
            func text(_ slope: Slope, times factor: Double = 1) -> String {
                String(format: "%8.2f ±%7.2f", slope.value * factor, slope.uncertainty * factor)
            }
            let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
            return kind.name.padding(toLength: 50, withPad: " ", startingAt: 0)
                + String(format: "%7d ", repetitions) + text(heap) + "  " + text(descriptors, times: 1000) + "  "
                + text(threads, times: 1000) + String(format: "  %6.1f s  ", seconds) + verdict.rawValue
        }
    }

    static let head =
        "kind".padding(toLength: 50, withPad: " ", startingAt: 0)
        + "  times  heap, bytes each  descriptors, 1000  threads, 1000 times    time  verdict"

    let stage: Stage
    let otherSide: OtherSide
    let repetitions: Int
    /// Bytes for each repetition.
    let bar: Double
    private let batches = 40
    /// What is not told from growth at first is looked at so many times longer, at most.
    private let patience = 4

    func measure(_ kind: Kind) async throws -> Row {
        let start = ContinuousClock.now
        let act = try kind.prepare(stage)
        let size = max(repetitions / kind.length / batches, 1)
        var levels: [(Double, Levels)] = []
        var done = 0
        levels.reserveCapacity(batches * patience)
        var row: Row?
        for _ in 1...patience {
            for _ in 1...batches {
                try await repeated(kind, act, from: done, count: size)
                done += size
                try otherSide.forget()
                levels.append((Double(done), await Levels.settled()))
            }
            row = self.row(kind, levels, done, start)
            if row?.verdict == .flat { break }
        }
        try await act.end()
        guard let row else { throw CocoaError(.featureUnsupported) }
        return row
    }

    private func repeated(_ kind: Kind, _ act: Kind.Act, from first: Int, count: Int) async throws {
        let next = Lock(first)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...kind.width {
                group.addTask {
                    while true {
                        let number = next.withLock { next in
                            defer { next += 1 }
                            return next
                        }
                        guard number < first + count else { return }
                        try await kind.perform(act, number)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func row(_ kind: Kind, _ levels: [(Double, Levels)], _ done: Int, _ start: ContinuousClock.Instant) -> Row?
    {
        func slope(_ level: KeyPath<Levels, Double>) -> Slope? {
            Slope(secondHalfOf: levels.map { ($0.0, $0.1[keyPath: level]) })
        }
        guard let heap = slope(\.heap), let descriptors = slope(\.descriptors), let threads = slope(\.threads) else {
            return nil
        }
        let half = Double(done) / 2
        let verdicts = [
            heap.verdict(bar: max(bar, kind.allowance / half)), descriptors.verdict(bar: 3 / half),
            threads.verdict(bar: 3 / half),
        ]
        let verdict: Slope.Verdict =
            verdicts.contains(.grows) ? .grows : verdicts.contains(.unclear) ? .unclear : .flat
        return Row(
            kind: kind,
            repetitions: done,
            heap: heap,
            descriptors: descriptors,
            threads: threads,
            verdict: verdict,
            time: ContinuousClock.now - start
        )
    }

    /// What was seen of all kinds.
    struct Summary {
        let count: Int
        var wrong: [String] = []
        var unclear: [String] = []

        var line: String {
            let names = unclear.isEmpty ? "" : ": \(unclear.joined(separator: ", "))"
            return "\(count) kinds, \(wrong.count) of them wrong, \(unclear.count) unclear\(names)"
        }

        /// - Parameter isFull: So many repetitions that whatever grows is seen to.
        func problems(isFull: Bool) -> [String] { isFull ? wrong + unclear.map { "\($0), which is unclear" } : wrong }
    }

    /// Measures kinds one after the other, and prints a table.
    static func all(_ kinds: [Kind], repetitions: Int, bar: Double) async throws -> Summary {
        let otherSide = try OtherSide()
        defer { otherSide.stop() }
        let run = SlopeRun(
            stage: try Stage(otherSide.addresses),
            otherSide: otherSide,
            repetitions: repetitions,
            bar: bar
        )
        // The network thread is started by the first request, and waited for by every look at the process.
        _ = await run.stage.session().end(of: run.stage.url("/hello"))
        Terminal.say(head)
        var summary = Summary(count: kinds.count)
        for kind in kinds {
            do {
                let row = try await run.measure(kind)
                Terminal.say(row.line)
                switch row.verdict {
                case .flat: break
                case .grows: summary.wrong.append(kind.name)
                case .unclear: summary.unclear.append(kind.name)
                }
            } catch {
                Terminal.say("\(kind.name): \(error)")
                summary.wrong.append(kind.name)
            }
        }
        return summary
    }
}

enum Terminal {
    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
