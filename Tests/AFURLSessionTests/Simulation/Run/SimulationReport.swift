/// What a run has come to so far.
struct SimulationReport: Sendable {
    struct Row: Sendable {
        var seeds = 0
        var findings = 0
        var virtualSeconds = 0.0
        var seconds = 0.0
    }

    private(set) var rows: [String: Row] = [:]
    private(set) var findings: [String] = []
    private(set) var faults = [Int](repeating: 0, count: FaultPoint.allCases.count)
    private(set) var done = 0

    mutating func add(_ name: String, _ outcome: SimulationOutcome, _ seconds: Double, seeds: Int = 1, replay: String) {
        done += 1
        var row = rows[name] ?? Row()
        row.seeds += seeds
        row.findings += outcome.violations.isEmpty ? 0 : 1
        row.virtualSeconds += outcome.virtualSeconds
        row.seconds += seconds
        rows[name] = row
        for (number, count) in outcome.faults.enumerated() { faults[number] += count }
        if let first = outcome.violations.first { findings.append("\(name): \(first)\nreplay: \(replay)") }
    }

    // MARK: - While it runs

    func line(of total: Int, after seconds: Double) -> String {
        let virtual = rows.values.reduce(0) { $0 + $1.virtualSeconds }
        let rate = Double(done) / max(seconds, 0.001)
        let left = Int(Double(total - done) / max(rate, 0.001))
        let pace = "\(Int(rate))/s, \(Int(virtual / max(seconds, 0.001))) virtual seconds a second"
        return "\(done) of \(total) seeds, \(pace), \(findings.count) findings, \(left / 60) min \(left % 60) s left"
    }

    // MARK: - In the end

    /// Points that struck fewer times than this.
    func tooRare(_ wanted: Int) -> [String] {
        FaultPoint.allCases.filter { faults[$0.rawValue] < wanted }.map { "\($0.name) \(faults[$0.rawValue])" }
    }

    func table(wanted: Int) -> String {
        func left(_ text: String, _ width: Int) -> String { text.padding(toLength: width, withPad: " ", startingAt: 0) }
        func right(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        func line(_ name: String, _ cells: [String]) -> String {
            left(name, 24) + zip(cells, [12, 10, 16, 10]).map { right($0, $1) }.joined()
        }
        var lines = [line("kind", ["seeds", "findings", "virtual time", "time"])]
        for (name, row) in rows.sorted(by: { $0.key < $1.key }) {
            let virtual = row.virtualSeconds == 0 ? "-" : "\(Int(row.virtualSeconds / 3600)) h"
            lines.append(line(name, ["\(row.seeds)", "\(row.findings)", virtual, "\(Int(row.seconds)) s"]))
        }
        lines.append("")
        lines.append("fault points, and how often each struck:")
        let cells = FaultPoint.allCases.map { left($0.name, 26) + right("\(faults[$0.rawValue])", 10) }
        for start in stride(from: 0, to: cells.count, by: 3) {
            lines.append("  " + cells[start..<min(start + 3, cells.count)].joined(separator: "   "))
        }
        let rare = tooRare(wanted)
        lines.append("")
        let all = faults.reduce(0, +)
        lines.append("\(cells.count) points, \(all) faults; \(rare.count) points struck fewer than \(wanted) times")
        for name in rare { lines.append("  too rare: \(name)") }
        return lines.joined(separator: "\n")
    }
}
