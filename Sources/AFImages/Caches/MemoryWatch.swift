import Foundation
import Glibc

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
