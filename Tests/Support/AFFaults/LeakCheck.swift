import CAFTestSupport
import Glibc

/// What a process holds at one moment, to be compared with a later one.
///
/// Only meaningful where nothing else goes on: in a process of the test's own.
package struct LeakCheck: Sendable, Equatable {
    package let descriptors: [String]
    package let threads: Int

    package static var now: LeakCheck {
        LeakCheck(descriptors: openDescriptors, threads: entries(of: "/proc/self/task").count)
    }

    /// What each open descriptor refers to, without the numbers of sockets.
    private static var openDescriptors: [String] {
        entries(of: "/proc/self/fd").compactMap { name in
            var buffer = [CChar](repeating: 0, count: 256)
            let count = readlink("/proc/self/fd/\(name)", &buffer, 255)
            guard count > 0 else { return nil }
            let target = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // The directory being listed is the descriptor of this listing, and timers of this
            // kind are only used by Dispatch, which opens them as it needs them.
            let isForeign = target.hasPrefix("/proc/") || target.contains("timerfd")
            return isForeign ? nil : target.hasPrefix("socket:") ? "socket" : target
        }.sorted()
    }

    /// The names in a directory.
    package static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Waits, since threads and sockets of others end in their own time, until nothing
    /// more is held than before.
    ///
    /// - Returns: What is held too much; nil if nothing.
    package func excess(within seconds: Int = 10, threadsToo: Bool = false) -> String? {
        var left = seconds * 200
        while true {
            let now = LeakCheck.now
            let more = now.descriptors.count - descriptors.count
            let moreThreads = threadsToo ? now.threads - threads : 0
            if more <= 0, moreThreads <= 0 { return nil }
            guard left > 0 else {
                return "\(more) descriptors and \(moreThreads) threads: \(now.descriptors) was \(descriptors)"
            }
            left -= 1
            usleep(5000)
        }
    }
}

/// What a process has used.
package enum ProcessUse {
    package static var cpuMicroseconds: Int { Int(caft_cpu_microseconds()) }
    package static var heapBytes: Int { Int(caft_heap_bytes()) }

    /// Resident memory in bytes.
    package static var residentBytes: Int { status("VmRSS:").map { $0 * 1024 } ?? 0 }

    /// The most it ever was.
    package static var peakBytes: Int { status("VmHWM:").map { $0 * 1024 } ?? 0 }

    private static func status(_ field: String) -> Int? {
        text(of: "/proc/self/status").split(separator: "\n").first { $0.hasPrefix(field) }
            .flatMap { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first }
            .flatMap { Int($0) }
    }

    /// The contents of a small file; empty if it cannot be read.
    package static func text(of path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A child made by `fork`, without `exec`.
package enum Fork {
    /// Runs `body` in the child and returns what it returned, -1 if the child died.
    package static func run(_ body: () -> Int32) -> Int32 {
        withoutActuallyEscaping(body) { escapable in
            var box = escapable
            return withUnsafeMutablePointer(to: &box) { pointer in
                caft_run_in_fork({ $0?.assumingMemoryBound(to: (() -> Int32).self).pointee() ?? -1 }, pointer)
            }
        }
    }
}
