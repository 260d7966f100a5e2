import Dispatch
import Foundation

@main
struct AFBench {
    /// Not an async `main`: that parks the main thread in a way instruction counters
    /// cannot follow.
    static func main() {
        let finished = DispatchSemaphore(value: 0)
        Task {
            await measure()
            finished.signal()
        }
        finished.wait()
    }

    private static func measure() async {
        guard let arguments = Arguments(Array(CommandLine.arguments.dropFirst())) else { stop(Arguments.usage) }
        let loader = Loader(arguments)
        if arguments.warm > 0 { await loader.load(Tally(total: arguments.warm)) }
        let tally = Tally(total: arguments.total)

        let before = Usage()
        await loader.load(tally)
        let after = Usage()

        report(tally, from: before, to: after, style: arguments.style)
    }

    /// The line that `run.py` reads.
    private static func report(_ tally: Tally, from before: Usage, to after: Usage, style: Arguments.Style) {
        let (latencies, bytes) = tally.results()
        let count = Double(latencies.count)
        let seconds = Double(after.wall - before.wall) / 1e9
        let numbers: [(String, String)] = [
            ("n", "\(latencies.count)"),
            ("rps", String(format: "%.0f", count / seconds)),
            ("cpu_us_req", String(format: "%.3f", (after.cpuMicroseconds - before.cpuMicroseconds) / count)),
            ("p50_us", String(format: "%.1f", latencies[latencies.count / 2])),
            ("p99_us", String(format: "%.1f", latencies[Int(count * 0.99)])),
            ("rss_kb", "\(Usage.peakKilobytes())"),
            ("wall_s", String(format: "%.4f", seconds)),
            ("bytes", "\(bytes)"),
        ]
        let fields = numbers.map { ", \"\($0)\": \($1)" }.joined()
        print("{\"client\": \"afbench-\(style.rawValue)\"\(fields)}")
    }
}
