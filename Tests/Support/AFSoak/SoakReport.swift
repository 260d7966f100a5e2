import Foundation

/// The figures of a run, for later: numbers and a picture.
struct SoakReport {
    private static let (width, height) = (800.0, 300.0)

    let samples: [SoakRun.Sample]

    static func mebibytes(_ bytes: Double) -> String { String(format: "%.1f MiB", bytes / 1_048_576) }

    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(table.utf8).write(to: folder.appendingPathComponent("samples.csv"))
        try Data(picture.utf8).write(to: folder.appendingPathComponent("memory.svg"))
    }

    private var table: String {
        "seconds,requests,heap,resident,descriptors,threads\n"
            + samples.map {
                "\($0.seconds),\(Int($0.requests)),\(Int($0.levels.heap)),\(Int($0.levels.resident)),"
                    + "\(Int($0.levels.descriptors)),\(Int($0.levels.threads))\n"
            }.joined()
    }

    /// Memory over time.
    private var picture: String {
        let top = (samples.map(\.levels.resident).max() ?? 1) * 1.1
        let last = max(samples.last?.seconds ?? 1, 1)
        func line(_ level: KeyPath<Levels, Double>, _ colour: String) -> String {
            let points = samples.map { sample in
                let x = sample.seconds / last * Self.width
                let y = Self.height - sample.levels[keyPath: level] / top * Self.height
                return String(format: "%.1f,%.1f", x, y)
            }
            return "<polyline fill='none' stroke='\(colour)' points='\(points.joined(separator: " "))'/>"
        }
        let text = "resident (grey) and heap (blue), up to \(Self.mebibytes(top)), over \(Int(last)) s"
        return """
            <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 -24 \(Int(Self.width)) \(Int(Self.height) + 24)'>
            <rect y='-24' width='100%' height='100%' fill='white'/>
            <text x='4' y='-8' font-family='sans-serif' font-size='14'>\(text)</text>
            \(line(\.resident, "#888"))
            \(line(\.heap, "#06c"))
            </svg>

            """
    }
}
