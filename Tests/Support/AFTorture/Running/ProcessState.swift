import AFFaults
import Foundation
import Glibc

/// What belongs to the whole process, which is not ours to change.
struct ProcessState: Equatable {
    /// As texts, by what they are of.
    private let parts: [String: String]

    static var now: ProcessState {
        var parts = ProcessInfo.processInfo.environment
        for line in ProcessUse.text(of: "/proc/self/status").split(separator: "\n") {
            let words = line.split(separator: "\t")
            guard words.count == 2, fields.contains(String(words[0])) else { continue }
            parts["\(words[0])"] = String(words[1])
        }
        parts["folder:"] = FileManager.default.currentDirectoryPath
        parts["locale:"] = setlocale(LC_ALL, nil).map { String(cString: $0) }
        return ProcessState(parts: parts)
    }

    /// The mask for new files, and the signals that are blocked, ignored and caught.
    private static let fields: Set<String> = ["Umask:", "SigBlk:", "SigIgn:", "SigCgt:"]

    func change(since before: ProcessState) -> String? {
        let changed = Set(parts.keys).union(before.parts.keys).filter { parts[$0] != before.parts[$0] }.sorted()
        guard !changed.isEmpty else { return nil }
        return changed.map { "\($0) \(before.parts[$0] ?? "nothing") became \(parts[$0] ?? "nothing")" }
            .joined(separator: ", ")
    }
}
