import AFFaults
package import Foundation
import Glibc

/// Plays one scenario again and again, with one more call failing each time.
///
/// This is what a process of its own does. It tells its parent process how it gets on, a line at a time, so that a
/// crash loses nothing: see ``Report``.
package struct Torture: Sendable {
    /// What is left out, and where to start.
    package struct Options: Sendable {
        /// How much of all is tried, in percent.
        package var percent = 100.0
        package var seed: UInt64 = 1
        /// Begins behind this point, which has ended a process before.
        package var last: String?
        /// The only point that is tried.
        package var only: String?

        package init() {}
    }

    let scenario: Scenario
    let sources: [any FaultSource]
    let options: Options
    /// Where the process has its temporary files: nothing may be left in it.
    let temporary: URL
    let watchdog = Watchdog()
    let report: @Sendable (Report) -> Void

    package init(
        _ scenario: Scenario,
        sources: [any FaultSource],
        options: Options = Options(),
        temporary: URL,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.scenario = scenario
        self.sources = sources
        self.options = options
        self.temporary = temporary
        self.report = report
    }

    /// Plays it all.
    package func run() async {
        watchdog.start { report(.finding($0, $1)) }
        // Twice without looking: whatever is opened on first use is opened then.
        for _ in 1...2 { _ = await play(nil, against: nil) }
        var baseline = await settledBaseline()
        var balance = MemoryBalance(sources)
        for source in sources { source.watch() }
        var (findings, counts) = await play(nil, against: baseline)
        if let loss = await loss(nil, &balance) { findings.append(loss) }
        for finding in findings { report(.finding("nothing", finding)) }
        if options.only == nil { report(.planned(planned(counts))) }
        // With what goes wrong by itself nothing can be learnt from faults.
        guard findings.isEmpty else { return report(.done) }
        for (source, fault, first) in remaining {
            let count = counts[source][fault.number] ?? 0
            var ordinal = first
            // As many calls as without a fault, at least: a fault can make them fewer, or more.
            while count > 0, ordinal <= count * 2 + 10 {
                let point = FaultPoint(fault, ordinal: ordinal)
                ordinal += 1
                if isChosen(point) {
                    report(.begun(point.description))
                    var findings = await play(point, on: sources[source], against: baseline).findings
                    let hasFired = sources[source].hasFired
                    if let loss = await loss(point, on: sources[source], &balance) { findings.append(loss) }
                    for finding in findings { report(.finding(point.description, finding)) }
                    if !findings.isEmpty { baseline = await settledBaseline() }
                    report(.ended(fault.call, hasFired: hasFired))
                    if hasFired { continue }
                }
                if ordinal > count { break }
            }
        }
        report(.done)
    }

    /// All faults from where to start on, each with its source and its first ordinal.
    private var remaining: [(source: Int, fault: Fault, first: Int)] {
        let all = sources.enumerated().flatMap { index, source in
            source.faults.map { (source: index, fault: $0, first: 1) }
        }
        let start = all.firstIndex { options.last?.hasPrefix("\($0.fault.call):\($0.fault.word):") == true }
        let ordinal = options.last?.split(separator: ":").last.flatMap { Int($0) }
        guard let start, let ordinal else { return all }
        let again = (source: all[start].source, fault: all[start].fault, first: ordinal + 1)
        return [again] + all[(start + 1)...]
    }

    /// How many faults are going to be tried.
    private func planned(_ counts: [[Int32: Int]]) -> Int {
        var sum = 0
        for (source, counts) in zip(sources, counts) {
            for fault in source.faults {
                let count = counts[fault.number] ?? 0
                sum += (0..<count).count { isChosen(FaultPoint(fault, ordinal: $0 + 1)) }
            }
        }
        return sum
    }

    private func isChosen(_ point: FaultPoint) -> Bool {
        if let only = options.only { return point.description == only }
        guard options.percent < 100 else { return true }
        let number = Seeds.mix("\(scenario.id) \(point)", options.seed)
        return Double(number % 1_000_000) < options.percent * 10_000
    }

    // MARK: - One playing

    private func play(
        _ point: FaultPoint?,
        on source: (any FaultSource)? = nil,
        against baseline: Baseline?
    ) async -> (findings: [String], calls: [[Int32: Int]]) {
        let state = ProcessState.now
        let seed = Seeds.mix("\(scenario.id) \(point?.description ?? "")", options.seed)
        let offences = sources.map(\.offences)
        var findings: [String] = []
        var calls = sources.map { _ in [Int32: Int]() }
        do {
            let stage = try Stage(scenario, point: point, sources: sources, seed: seed, temporary: temporary)
            watchdog.watch(point?.description ?? "nothing", stage)
            if let point { source?.arm(point) }
            do {
                try await scenario.play(stage)
            } catch {
                stage.find("the scenario cannot be played: \(ErrorRules.text(of: error).prefix(400))")
            }
            findings = await stage.finish()
            calls = stage.calls
        } catch {
            findings.append("there is no stage: \(error)")
        }
        watchdog.rest()
        for (source, before) in zip(sources, offences) where source.offences != before {
            findings.append("\(source.offences - before) closes of what was not open")
        }
        if let baseline, let excess = await baseline.excess(mayLeaveFiles: point?.fault.call == "unlinkat") {
            findings.append("left over: \(excess)")
        }
        if let change = ProcessState.now.change(since: state) { findings.append("the process was changed: \(change)") }
        return (findings, calls)
    }

    /// Looks whether memory is lost whenever this is played: what the libraries keep for their next use they take once.
    private func loss(
        _ point: FaultPoint?,
        on source: (any FaultSource)? = nil,
        _ balance: inout MemoryBalance
    ) async -> String? {
        guard point?.fault.mayLoseMemory != true else {
            balance = MemoryBalance(sources)
            return nil
        }
        var growths: [Int] = []
        for round in 1...8 {
            if round > 1 { _ = await play(point, on: source, against: nil) }
            growths.append(await balance.growth())
            if growths.contains(where: { $0 <= 0 }) { return nil }
        }
        return "left over: blocks of memory, in each playing: \(growths)"
    }

    private func settledBaseline() async -> Baseline {
        var last = Baseline(temporary)
        for _ in 0..<50 {
            try? await Task.sleep(for: .milliseconds(10))
            let now = Baseline(temporary)
            if now.isAsMuch(as: last) { return now }
            last = now
        }
        return last
    }
}

/// What a process tells about the scenario that it plays: a line each.
package enum Report: Sendable, Equatable {
    /// So many faults are going to be tried.
    case planned(Int)
    /// A fault is going to be tried.
    case begun(String)
    /// A call of this kind was to fail, and did if there was one.
    case ended(String, hasFired: Bool)
    /// With this fault something went wrong.
    case finding(String, String)
    case done

    package var line: String {
        switch self {
        case .planned(let count): "planned\t\(count)"
        case .begun(let point): "begun\t\(point)"
        case .ended(let call, let hasFired): "ended\t\(call)\t\(hasFired ? 1 : 0)"
        case .finding(let point, let text):
            "finding\t\(point)\t\(text.replacingOccurrences(of: "\n", with: " ").replacingOccurrences(of: "\t", with: " "))"
        case .done: "done"
        }
    }

    package init?(line: String) {
        let words = String(line).components(separatedBy: "\t")
        switch (words.first, words.count) {
        case ("planned", 2): self = .planned(Int(words[1]) ?? 0)
        case ("begun", 2): self = .begun(words[1])
        case ("ended", 3): self = .ended(words[1], hasFired: words[2] == "1")
        case ("finding", 3): self = .finding(words[1], words[2])
        case ("done", 1): self = .done
        default: return nil
        }
    }
}

/// Numbers that are the same each time.
enum Seeds {
    /// FNV-1a, and the last steps of splitmix64.
    static func mix(_ text: String, _ seed: UInt64) -> UInt64 {
        var number: UInt64 = 0xcbf2_9ce4_8422_2325 ^ seed
        for byte in text.utf8 { number = (number ^ UInt64(byte)) &* 0x100_0000_01b3 }
        number = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ number >> 27) &* 0x94d0_49bb_1331_11eb
        return number ^ number >> 31
    }
}
