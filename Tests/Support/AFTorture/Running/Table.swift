/// The results: a line for each scenario, and one for each kind of call.
struct Table {
    let text: String

    init(_ troupes: [Troupe], seconds: Double) {
        let rows = troupes.sorted { $0.scenario.id < $1.scenario.id }
        let width = max(rows.map(\.scenario.id.count).max() ?? 0, 20)
        var lines = [Self.line("scenario", "kinds", "failures", "findings", "seconds", width)]
        for row in rows {
            lines.append(
                Self.line(
                    row.scenario.id,
                    "\(row.failures.count)",
                    "\(row.fired)",
                    "\(row.findings.count)",
                    "\(Int(row.seconds.rounded()))",
                    width
                )
            )
        }
        var kinds: [String: Int] = [:]
        for row in rows { kinds.merge(row.failures, uniquingKeysWith: +) }
        lines.append(
            Self.line(
                "\(rows.count) scenarios",
                "\(kinds.count)",
                "\(kinds.values.reduce(0, +))",
                "\(rows.reduce(0) { $0 + $1.findings.count })",
                "\(Int(seconds.rounded()))",
                width
            )
        )
        let calls = kinds.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        text = (lines + ["", "by call: \(calls)"]).joined(separator: "\n")
    }

    private static func line(
        _ name: String,
        _ kinds: String,
        _ failures: String,
        _ findings: String,
        _ seconds: String,
        _ width: Int
    ) -> String {
        func padded(_ text: String, _ count: Int) -> String {
            String(repeating: " ", count: max(count - text.count, 1)) + text
        }
        let numbers = padded(kinds, 7) + padded(failures, 10) + padded(findings, 10) + padded(seconds, 9)
        return name + padded("", width + 1 - name.count) + numbers
    }
}
