import AFBase
import AFLoop
import Foundation

/// A mixed load for some time: everything at once, with servers that come and go.
struct SoakRun {
    private static let restartSeconds = 15
    private static let progressSeconds = 10

    let minutes: Double
    let connections: Int
    let kinds: [Kind]
    /// Where the figures go.
    let output: URL

    private let tally = Tally()
    private let isOver = Lock(false)

    init(minutes: Double, connections: Int, output: URL) {
        (self.minutes, self.connections, self.output) = (minutes, connections, output)
        kinds = Kind.all.filter { !$0.isAlone } + Kind.nginx(ProcessInfo.processInfo.environment)
    }

    /// One look at the process.
    struct Sample: Sendable {
        let seconds: Double
        let requests: Double
        let levels: Levels
    }

    /// - Returns: What is wrong; nothing, if all is well.
    func run() async throws -> [String] {
        let otherSide = try OtherSide()
        defer { otherSide.stop() }
        let rack = Rack(try Stage(otherSide.addresses))
        let pool = Pool()
        Terminal.say(
            "\(kinds.count) kinds, \(connections) at a time, for \(minutes) minutes; "
                + "servers are replaced every \(Self.restartSeconds) s"
        )
        let slots = (0..<connections).map { _ in
            Task(executorPreference: pool) { try await fill(rack) }
        }
        let samples = try await watch(otherSide)
        isOver.withLock { $0 = true }
        var problems = try await missing()
        if problems.isEmpty { for slot in slots { try await slot.value } }
        try await rack.end()
        let (counts, last) = (tally.counts, await Levels.settled())
        problems += counts.wrong.map { "\($0.key), \($0.value) times" } + growth(samples)
        try SoakReport(samples: samples).write(to: output)
        Terminal.say(
            "\(counts.all) in all: \(counts.right) as they should be, \(counts.cancelled) cancelled, \(counts.excused) "
                + "hit by servers being replaced, \(counts.wrongCount) wrong; \(rack.replaced) sessions and managers "
                + "replaced. At the end heap \(SoakReport.mebibytes(last.heap)), \(Int(last.descriptors)) descriptors, "
                + "\(Int(last.threads)) threads. Figures in \(output.path)"
        )
        return problems
    }

    // MARK: - The load

    /// Does one thing after the other.
    private func fill(_ rack: Rack) async throws {
        var number = Int.random(in: 1...1_000_000)
        while !isOver.withLock({ $0 }) {
            guard let kind = kinds.randomElement(), .random(in: 1...kind.length) == 1 else { continue }
            guard let loan = try rack.borrow(kind) else { continue }
            number += 1
            await perform(loan, number)
            try await rack.giveBack(loan)
        }
    }

    private func perform(_ loan: Rack.Loan, _ number: Int) async {
        let start = ContinuousClock.now
        let isCancelled = Int.random(in: 0..<12) == 0
        tally.begin()
        let task = Task { try await loan.kind.perform(loan.act, number, mayBeCancelled: isCancelled) }
        if isCancelled {
            try? await Task.sleep(for: .microseconds(.random(in: 0...8000)))
            task.cancel()
        }
        switch await task.result {
        case .success(let end): tally.end(end, nil, since: start)
        case .failure(let error): tally.end(nil, error, since: start)
        }
    }

    // MARK: - Watching

    private func watch(_ otherSide: OtherSide) async throws -> [Sample] {
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        var samples: [Sample] = []
        samples.reserveCapacity(Int(minutes * 60) + 1)
        var former = (requests: 0, seconds: 0.0)
        for second in 1...max(Int(minutes * 60), 1) {
            try await clock.sleep(until: start + .seconds(second))
            try otherSide.forget()
            if second % Self.restartSeconds == 0 {
                tally.disturbed(true)
                try await otherSide.restarted()
                tally.disturbed(false)
            }
            let counts = tally.counts
            let seconds = Double((ContinuousClock.now - start) / .milliseconds(1)) / 1000
            samples.append(Sample(seconds: seconds, requests: Double(counts.all), levels: .now))
            if second % Self.progressSeconds == 0 {
                let rate = Double(counts.all - former.requests) / max(seconds - former.seconds, 0.001)
                Terminal.say(progress(samples[samples.count - 1], counts, rate))
                former = (counts.all, seconds)
            }
            if counts.wrongCount > 100 { break }
        }
        return samples
    }

    private func progress(_ sample: Sample, _ counts: Tally.Counts, _ rate: Double) -> String {
        let levels = sample.levels
        let codes = counts.codes.sorted { $0.value > $1.value }.prefix(8).map { "\($0.key): \($0.value)" }
        return String(format: "%5.0f s %9d, %6.0f/s", sample.seconds, counts.all, rate)
            + ", heap \(SoakReport.mebibytes(levels.heap)), resident \(SoakReport.mebibytes(levels.resident)), "
            + "\(Int(levels.descriptors)) descriptors, \(Int(levels.threads)) threads, \(counts.wrongCount) wrong, "
            + "\(counts.excused) excused; \(codes.joined(separator: ", "))"
    }

    /// Everything has to end, once it was begun.
    private func missing() async throws -> [String] {
        for _ in 1...600 where tally.running > 0 { try await Task.sleep(for: .milliseconds(100)) }
        return tally.running > 0 ? ["\(tally.running) have not ended within a minute"] : []
    }

    private func growth(_ samples: [Sample]) -> [String] {
        func problem(_ what: String, _ level: KeyPath<Levels, Double>, bar: Double) -> String? {
            let slope = Slope(secondHalfOf: samples.map { ($0.requests, $0.levels[keyPath: level]) })
            guard let slope else { return "\(what): too few samples" }
            let text = String(format: "%.4f ± %.4f", slope.value, slope.uncertainty)
            Terminal.say("\(what) for each request: \(text), \(slope.verdict(bar: bar))")
            return slope.verdict(bar: bar) == .grows ? "\(what) grows: \(text) for each request" : nil
        }
        let requests = max(samples.last?.requests ?? 1, 1) / 2
        // In a short run, what comes and goes with the load is more than 8 bytes for each request.
        return [
            problem("heap, in bytes,", \.heap, bar: max(8, 1_048_576 / requests)),
            problem("resident memory, in bytes,", \.resident, bar: max(16, 8 * 1_048_576 / requests)),
            problem("descriptors", \.descriptors, bar: Double(connections) / requests),
            // Dispatch keeps as many as were ever busy at a time.
            problem("threads", \.threads, bar: Double(connections) / requests),
        ].compactMap { $0 }
    }
}

/// More threads than Swift's own, so that the library is called from several at once, on a machine of any size.
private final class Pool: TaskExecutor {
    private let queue = DispatchQueue(label: "soak", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
