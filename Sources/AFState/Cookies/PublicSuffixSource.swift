import AFBase
import AFLoop
package import Dispatch

/// The source of the public suffixes: the list that the system has installed. It is read once, on a queue of its own,
/// when a store first asks for it. If there is none, the built-in rules apply.
///
/// No cookie is judged before the list has been read, or could not be: the network thread lets cookies wait
/// (``HTTPCookieStorage``), and other threads wait themselves.
package final class PublicSuffixSource: Sendable {
    package enum Origin: Hashable, Sendable {
        case builtIn
        case file(String)
    }

    private struct State {
        package var suffixes = PublicSuffixes.builtIn
        package var origin = Origin.builtIn
        var hasStarted = false
        package var hasEnded = false
        package var failures: [PublicSuffixFailure] = []
    }

    /// The paths of the list on Debian, Ubuntu, Fedora and Arch.
    static let systemPaths = [
        "/usr/share/publicsuffix/public_suffix_list.dat",
        "/usr/share/publicsuffix/effective_tld_names.dat",
        "/usr/share/publicsuffix/public_suffix_list.dafsa",
    ]

    package static let system = PublicSuffixSource(paths: systemPaths)

    private let paths: [String]
    private let state = Lock(State())

    private let queue: DispatchQueue

    package init(paths: [String], queue: DispatchQueue = DispatchQueue(label: "AFURLSession.suffixes")) {
        self.paths = paths
        self.queue = queue
    }

    /// Always uses these rules, for tests and for programs that bring a list.
    package init(_ suffixes: PublicSuffixes) {
        paths = []
        queue = DispatchQueue(label: "AFURLSession.suffixes")
        state.withLock { state in
            state.suffixes = suffixes
            state.hasStarted = true
            state.hasEnded = true
        }
    }

    /// The rules that apply; nil while the list is being read. Never waits.
    package var current: PublicSuffixes? {
        let (suffixes, mustStart) = state.withLock { state in
            defer { state.hasStarted = true }
            return (state.hasEnded ? state.suffixes : nil, !state.hasStarted)
        }
        if mustStart { queue.async { self.load() } }
        return suffixes
    }

    /// The rules that apply. Waits for the disk, once in a process: never call it on the network thread.
    package var loaded: PublicSuffixes {
        if let current { return current }
        // Another thread may have begun the reading without having put it into the queue yet.
        queue.async { self.load() }
        queue.sync {}
        return known
    }

    /// The built-in rules, unless others are known. Reads nothing.
    package var known: PublicSuffixes { state.withLock { $0.suffixes } }

    /// Where the rules that apply come from.
    package var origin: Origin { state.withLock { $0.origin } }

    /// The errors of the lists that could not be read. Each list is tried once.
    package var failures: [PublicSuffixFailure] { state.withLock { $0.failures } }

    /// Uses this list in place of the rules that applied before.
    package func replace(withFileAt path: String) throws(PublicSuffixFailure) {
        let suffixes = try PublicSuffixes.read(path)
        state.withLock { state in
            state.suffixes = suffixes
            state.origin = .file(path)
            state.hasStarted = true
            // A list that is still being read must not replace this one.
            state.hasEnded = true
        }
    }

    /// Calls back when the list has been read, or could not be.
    package func whenLoaded(_ body: @escaping @Sendable () -> Void) {
        _ = current
        queue.async(execute: body)
    }

    private func load() {
        guard !state.withLock({ $0.hasEnded }) else { return }
        var failures: [PublicSuffixFailure] = []
        var found: (suffixes: PublicSuffixes, path: String)?
        for path in paths {
            do throws(PublicSuffixFailure) {
                found = (try PublicSuffixes.read(path), path)
                break
            } catch {
                failures.append(error)
            }
        }
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.hasEnded = true
            state.failures = failures
            guard let found else { return }
            state.suffixes = found.suffixes
            state.origin = .file(found.path)
        }
    }
}

extension PublicSuffixes {
    private static let longestFile: Int64 = 16 << 20

    /// Reads a list in either format. May wait for the disk.
    package static func read(_ path: String) throws(PublicSuffixFailure) -> PublicSuffixes {
        let bytes = try bytes(of: path)
        if let graph = PublicSuffixGraph(bytes) { return PublicSuffixes(graph) }
        guard let table = bytes.withUnsafeBytes({ completeTable($0) }) else {
            throw PublicSuffixFailure(path: path, fault: .malformed)
        }
        return PublicSuffixes(table)
    }

    /// The official list marks where its parts begin and end, so that a list that was cut off is refused.
    private static func completeTable(_ text: UnsafeRawBufferPointer) -> PublicSuffixTable? {
        let head = text.prefix(1 << 16)
        let tail = text.suffix(1 << 12)
        if contains(head, words: "===BEGIN ICANN DOMAINS==="), !contains(tail, words: "===END PRIVATE DOMAINS===") {
            return nil
        }
        // Text contains no NUL.
        guard !text.contains(0) else { return nil }
        let table = PublicSuffixTable(text)
        return table.count > 0 ? table : nil
    }

    private static func contains(_ text: Slice<UnsafeRawBufferPointer>, words: String) -> Bool {
        let words = Array(words.utf8)
        return text.indices.contains { text[$0...].starts(with: words) }
    }

    private static func bytes(of path: String) throws(PublicSuffixFailure) -> [UInt8] {
        let file: DiskFile
        let status: FileStatus
        do throws(SystemCallError) {
            file = try DiskFile(reading: path)
            status = try file.status()
        } catch {
            throw PublicSuffixFailure(path: path, fault: .open(error))
        }
        guard status.isRegular else { throw PublicSuffixFailure(path: path, fault: .notRegular) }
        guard status.size <= longestFile else { throw PublicSuffixFailure(path: path, fault: .tooLong) }
        do throws(SystemCallError) {
            return try file.readAll(Int(status.size))
        } catch {
            throw PublicSuffixFailure(path: path, fault: .read(error))
        }
    }
}
