import AFFaults
import Foundation

/// What the process holds when nothing goes on.
struct Baseline: Sendable {
    private let temporary: URL
    private let held: LeakCheck
    private let threads: Int
    private let files: Set<String>

    init(_ temporary: URL) {
        self.temporary = temporary
        held = LeakCheck.now
        threads = Self.ownThreads
        files = Set(LeakCheck.entries(of: temporary.path))
    }

    func isAsMuch(as other: Baseline) -> Bool {
        held.descriptors == other.held.descriptors && threads == other.threads && files == other.files
    }

    /// Waits, since others end in their own time, until no more is held than before.
    func excess(mayLeaveFiles: Bool) async -> String? {
        var now = Baseline(temporary)
        _ = await Patience.until(
            {
                now = Baseline(temporary)
                return now.excessText(over: self, mayLeaveFiles) == nil
            },
            seconds: 5
        )
        return now.excessText(over: self, mayLeaveFiles)
    }

    private func excessText(over before: Baseline, _ mayLeaveFiles: Bool) -> String? {
        var parts: [String] = []
        if held.descriptors.count > before.held.descriptors.count {
            var more = held.descriptors
            for descriptor in before.held.descriptors {
                if let index = more.firstIndex(of: descriptor) { more.remove(at: index) }
            }
            parts.append("descriptors: \(more.joined(separator: ", "))")
        }
        if threads > before.threads { parts.append("\(threads - before.threads) threads") }
        let left = files.subtracting(before.files)
        if !mayLeaveFiles, !left.isEmpty { parts.append("files: \(left.sorted().joined(separator: ", "))") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// Threads that the library starts itself; those of Dispatch and of Swift come and go.
    private static var ownThreads: Int {
        LeakCheck.entries(of: "/proc/self/task").count {
            ProcessUse.text(of: "/proc/self/task/\($0)/comm").hasPrefix("AFNet")
        }
    }
}
