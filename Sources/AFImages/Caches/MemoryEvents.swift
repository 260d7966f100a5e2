import Foundation
import Glibc

/// How often a control group has hit its limits.
struct MemoryEvents: Equatable, Sendable {
    private let hits: [String: UInt64]

    /// The contents of `memory.events`; nil if they are something else.
    init?(_ text: some Sequence<UInt8>) {
        var hits: [String: UInt64] = [:]
        for line in String(decoding: Array(text), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = UInt64(words[1]) else { return nil }
            // `low` is about protection, and the kills come after `max`.
            if ["high", "max", "oom"].contains(words[0]) { hits[String(words[0])] = number }
        }
        guard !hits.isEmpty else { return nil }
        self.hits = hits
    }

    func isWorse(than former: MemoryEvents) -> Bool {
        hits.contains { $0.value > former.hits[$0.key] ?? 0 }
    }

    /// The path of the process's group in the one hierarchy, from the contents of `/proc/self/cgroup`.
    static func group(_ text: Data) -> String? {
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("0::/") }) else { return nil }
        let path = String(line.dropFirst(3))
        // The group is outside of this namespace.
        return path.split(separator: "/").contains("..") ? nil : path
    }
}
