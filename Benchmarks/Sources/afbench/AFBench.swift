import Dispatch
import Foundation

@main
struct AFBench {
    static func main() {
        guard let arguments = Arguments(Array(CommandLine.arguments.dropFirst())) else { stop(Arguments.usage) }
        let loader = Loader(arguments)
        if arguments.warm > 0 { load(Tally(total: arguments.warm), with: loader) }
        let tally = Tally(total: arguments.total)

        let before = Usage()
        load(tally, with: loader)
        let after = Usage()

        report(tally, from: before, to: after, style: arguments.style)
    }

    private static func load(_ tally: Tally, with loader: Loader) {
        let finished = DispatchSemaphore(value: 0)
        loader.load(tally) { finished.signal() }
        finished.wait()
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
