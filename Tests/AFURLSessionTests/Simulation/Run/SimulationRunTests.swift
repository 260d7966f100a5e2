/// What `./dev simulate` runs: all kinds of simulation and all models, on as many threads as it is told.
///
/// `AFNET_SIMULATE` has the number of seeds; without it a few are run. `AFNET_SIMULATE_FROM` is the first of them,
/// `AFNET_SIMULATE_SEED` replays a single one with its trace, `AFNET_SIMULATE_THREADS` is how many run at a time, and
/// `AFNET_SIMULATE_OPERATIONS` how many steps each model takes.
@Suite("Simulations", .serialized)
struct SimulationRunTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    private static let seeds = number("AFNET_SIMULATE")
    private static let one = number("AFNET_SIMULATE_SEED")
    private static let threads = number("AFNET_SIMULATE_THREADS") ?? 1

    @Test func `M-03 nothing is wrong in any seed, and each fault strikes`() async throws {
        guard Self.one == nil else { return }
        let total = Self.seeds ?? 300
        let run = SimulationRun(total: total, isLoud: Self.seeds != nil)
        await run.work(on: Self.threads) { index in
            let seed = ModelSeed.first &+ UInt64(index)
            let kind = SimulationKind.of(seed)
            return try (kind.rawValue, kind.hold(seed), "./dev simulate --seed \(seed)", 1)
        }
        let report = run.end()
        for finding in report.findings { Issue.record("\(finding)") }
        guard Self.seeds != nil else { return }
        // A thousandth of the seeds meets each fault, or it is armed too rarely to find anything. In fewer seeds chance
        // decides how many do, and in still fewer whether any does.
        let wanted = total < 3000 ? 0 : total < 10_000 ? 1 : total / 1000
        print(report.table(wanted: wanted))
        #expect(report.tooRare(wanted) == [])
    }

    @Test func `M-04 the pool and the cache of images do what their models do`() async throws {
        guard Self.one == nil else { return }
        let operations = Self.number("AFNET_SIMULATE_OPERATIONS") ?? 20_000
        let each = 1000
        let run = SimulationRun(total: 2 * operations / each, isLoud: false)
        await run.work(on: Self.threads) { index in
            let seed = ModelSeed.first &+ UInt64(index / 2)
            let difference =
                try index % 2 == 0
                ? PoolComparison.run(seed: seed, operations: each)
                : ImageCacheComparison.run(seed: seed, operations: each)
            var outcome = SimulationOutcome()
            if let difference { outcome.violations = ["seed \(seed), \(difference)"] }
            return (index % 2 == 0 ? "model of the pool" : "model of the image cache", outcome, "the same test", each)
        }
        let report = run.end()
        for finding in report.findings { Issue.record("\(finding)") }
        #expect(report.rows.values.allSatisfy { $0.seeds >= operations / 2 })
        guard Self.seeds != nil else { return }
        for (name, row) in report.rows.sorted(by: { $0.key < $1.key }) {
            print("\(name): \(row.seeds) operations, \(row.findings) findings, \(Int(row.seconds)) s")
        }
    }

    @Test func `one seed can be replayed with its trace`() throws {
        guard let seed = Self.one.map({ UInt64($0) }) else { return }
        let kind = SimulationKind.of(seed)
        let outcome = try kind.hold(seed, traced: true)
        print("seed \(seed), \(kind.rawValue)")
        for line in outcome.trace { print(line) }
        for point in FaultPoint.allCases where outcome.faults[point.rawValue] > 0 {
            print("\(point.name) struck \(outcome.faults[point.rawValue]) times")
        }
        for violation in outcome.violations { Issue.record("\(violation)") }
    }

    @Test func `M-03 there are sixty points at least, each with a name of its own`() {
        let names = FaultPoint.allCases.map(\.name)
        #expect(names.count >= 60 && Set(names).count == names.count)
        #expect(FaultPoint.dialRefusedLate.name == "dial.refused-late")
    }
}

/// Seeds given out to threads, and what they came to.
private final class SimulationRun: Sendable {
    typealias Job = @Sendable (Int) throws -> (name: String, SimulationOutcome, replay: String, seeds: Int)

    private struct State {
        var next = 0
        var report = SimulationReport()
        var spoken = ContinuousClock.now
    }

    private let total: Int
    private let isLoud: Bool
    private let began = ContinuousClock.now
    private let state = Lock(State())

    init(total: Int, isLoud: Bool) {
        self.total = total
        self.isLoud = isLoud
    }

    /// One seed after the other, so many at a time. A world lives and ends within one job, on one thread.
    func work(on threads: Int, _ job: @escaping Job) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<max(1, threads) {
                group.addTask { [self] in
                    while let index = take() { perform(index, job) }
                }
            }
        }
    }

    private func take() -> Int? {
        state.withLock { state in
            guard state.next < total else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private func perform(_ index: Int, _ job: Job) {
        let start = ContinuousClock.now
        do {
            let (name, outcome, replay, seeds) = try job(index)
            let seconds = SimulationRun.seconds(since: start)
            state.withLock { $0.report.add(name, outcome, seconds, seeds: seeds, replay: replay) }
        } catch {
            let outcome = SimulationOutcome(violations: ["\(error)"])
            state.withLock { $0.report.add("not run", outcome, 0, replay: "the \(index)th") }
        }
        speak()
    }

    private func speak() {
        guard isLoud else { return }
        let line = state.withLock { state -> String? in
            guard state.report.done == total || state.spoken.duration(to: .now) >= .seconds(5) else { return nil }
            state.spoken = .now
            return state.report.line(of: total, after: SimulationRun.seconds(since: began))
        }
        if let line { FileHandle.standardError.write(Data((line + "\n").utf8)) }
    }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        let spent = start.duration(to: .now).components
        return Double(spent.seconds) + Double(spent.attoseconds) / 1e18
    }

    func end() -> SimulationReport { state.withLock { $0.report } }
}
