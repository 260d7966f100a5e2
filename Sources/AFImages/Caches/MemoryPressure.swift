import AFBase
import Foundation
import Glibc

/// Tells caches that memory is scarce.
///
/// ``system`` listens to the kernel: to its measure of the time that is lost waiting for memory (PSI), of the machine
/// and of the process's control group, and to the events of the group that hits its limit. If the kernel offers
/// neither, or denies access, it stays silent; call ``announce()`` if your program knows that memory is scarce.
///
/// Safe to use from any thread.
public final class MemoryPressure: Sendable {
    private struct State: Sendable {
        var observers: [UUID: @Sendable () -> Void] = [:]
        var isWatching: Bool
    }

    /// The pressure that the kernel reports. From the first observer on, a thread waits for the reports.
    public static let system = MemoryPressure(isWatching: false)

    private let state: Lock<State>

    /// An object that only ``announce()`` triggers.
    public convenience init() {
        self.init(isWatching: true)
    }

    private init(isWatching: Bool) {
        state = Lock(State(isWatching: isWatching))
    }

    /// Tells all observers, on the calling thread.
    public func announce() {
        let observers = state.withLock { Array($0.observers.values) }
        for observer in observers { observer() }
    }

    /// Calls `body` whenever memory is scarce, on any thread, until the observation is released or cancelled.
    public func observe(_ body: @escaping @Sendable () -> Void) -> Observation {
        let key = UUID()
        let isFirst = state.withLock { state in
            state.observers[key] = body
            defer { state.isWatching = true }
            return !state.isWatching
        }
        if isFirst { MemoryWatch.start { [weak self] in self?.announce() } }
        return Observation { [weak self] in
            // Release the closure after the lock: its deinit may run the program's code.
            _ = self?.state.withLock { $0.observers.removeValue(forKey: key) }
        }
    }

    /// Ends when it is released.
    public final class Observation: Sendable {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit {
            end()
        }

        /// Ends it now. A call that has begun may still arrive.
        public func cancel() {
            end()
        }
    }
}

/// Waits, on a thread of its own, for the kernel to say that memory is scarce.
///
/// Docs: Documentation/accounting/psi.rst and admin-guide/cgroup-v2.rst of the kernel.
enum MemoryWatch {
    /// A fifth of a second lost within two seconds. Other lengths are for privileged processes.
    private static let trigger = "some 200000 2000000"
    /// The kernel may report one cause in several ways, and a limit over and over.
    private static let quietTime: TimeInterval = 2

    private enum Source {
        /// Reports when its trigger is reached.
        case stalls(Int32)
        /// Reports when one of its numbers has changed.
        case events(Int32, MemoryEvents)

        var descriptor: Int32 {
            switch self {
            case .stalls(let descriptor), .events(let descriptor, _): descriptor
            }
        }
    }

    /// Calls `announce` from now on; never if the kernel offers no reports.
    static func start(_ announce: @escaping @Sendable () -> Void) {
        let thread = Thread {
            var sources = open()
            while !sources.isEmpty {
                if wait(for: &sources) { announce() }
                Thread.sleep(forTimeInterval: quietTime)
            }
        }
        thread.name = "AFImages.memory"
        thread.stackSize = 256 << 10
        thread.start()
    }

    private static func open() -> [Source] {
        var sources: [Source] = []
        let group = FileManager.default.contents(atPath: "/proc/self/cgroup").flatMap(MemoryEvents.group)
        let folder = group.map { "/sys/fs/cgroup" + ($0 == "/" ? "" : $0) }
        for path in [folder.map { "\($0)/memory.pressure" }, "/proc/pressure/memory"] {
            if let path, let descriptor = openTrigger(path) { sources.append(.stalls(descriptor)) }
        }
        if let folder {
            let descriptor = Glibc.open("\(folder)/memory.events", O_RDONLY | O_CLOEXEC)
            if descriptor >= 0 {
                if let events = read(descriptor) {
                    sources.append(.events(descriptor, events))
                } else {
                    close(descriptor)
                }
            }
        }
        return sources
    }

    private static func openTrigger(_ path: String) -> Int32? {
        let descriptor = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let text = Array(trigger.utf8) + [0]
        guard write(descriptor, text, text.count) == text.count else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func read(_ descriptor: Int32) -> MemoryEvents? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? MemoryEvents(buffer[..<count]) : nil
    }

    /// Waits for a report, and drops sources that will report no more. True if memory is scarce.
    private static func wait(for sources: inout [Source]) -> Bool {
        var entries = sources.map { pollfd(fd: $0.descriptor, events: Int16(POLLPRI), revents: 0) }
        guard poll(&entries, nfds_t(entries.count), -1) > 0 else { return false }
        var isScarce = false
        var rest: [Source] = []
        for (source, entry) in zip(sources, entries) {
            let said = Int32(entry.revents)
            switch source {
            case _ where said == 0: rest.append(source)
            case .stalls(let descriptor):
                if said & POLLPRI != 0 { isScarce = true }
                // The group is gone.
                if said & (POLLERR | POLLNVAL) != 0 { close(descriptor) } else { rest.append(source) }
            case .events(let descriptor, let former):
                // Here POLLERR comes with every change.
                guard said & POLLNVAL == 0, let events = read(descriptor) else {
                    close(descriptor)
                    continue
                }
                if events.isWorse(than: former) { isScarce = true }
                rest.append(.events(descriptor, events))
            }
        }
        sources = rest
        return isScarce
    }
}

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
