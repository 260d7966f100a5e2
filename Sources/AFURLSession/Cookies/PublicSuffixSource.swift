import AFBase
import AFLoop
import AFWire
import Dispatch

/// Where the public suffixes come from: the list the system has installed, read once, on a queue of its own, when a
/// store first asks for it. If there is none, the built-in rules apply.
///
/// No cookie is judged before the list has been read, or could not be: the network thread lets cookies wait
/// (``HTTPCookieStorage``), other threads wait themselves.
final class PublicSuffixSource: Sendable {
    enum Origin: Hashable, Sendable {
        case builtIn
        case file(String)
    }

    private struct State {
        var suffixes = PublicSuffixes.builtIn
        var origin = Origin.builtIn
        var hasStarted = false
        var hasEnded = false
        var failures: [PublicSuffixFailure] = []
    }

    /// Where Debian, Ubuntu, Fedora and Arch put it.
    static let systemPaths = [
        "/usr/share/publicsuffix/public_suffix_list.dat",
        "/usr/share/publicsuffix/effective_tld_names.dat",
        "/usr/share/publicsuffix/public_suffix_list.dafsa",
    ]

    static let system = PublicSuffixSource(paths: systemPaths)

    private let paths: [String]
    private let state = Lock(State())

    private let queue: DispatchQueue

    init(paths: [String], queue: DispatchQueue = DispatchQueue(label: "AFURLSession.suffixes")) {
        self.paths = paths
        self.queue = queue
    }

    /// Always the same rules, for tests and for those who bring a list.
    init(_ suffixes: PublicSuffixes) {
        paths = []
        queue = DispatchQueue(label: "AFURLSession.suffixes")
        state.withLock { state in
            state.suffixes = suffixes
            state.hasStarted = true
            state.hasEnded = true
        }
    }

    /// The rules that apply; nil as long as the list is being read. Never waits.
    var current: PublicSuffixes? {
        let (suffixes, mustStart) = state.withLock { state in
            defer { state.hasStarted = true }
            return (state.hasEnded ? state.suffixes : nil, !state.hasStarted)
        }
        if mustStart { queue.async { self.load() } }
        return suffixes
    }

    /// The rules that apply. Waits for the disk, once in a process: never called on the network thread.
    var loaded: PublicSuffixes {
        if let current { return current }
        // Another thread may have started it, and not yet have put it into the queue.
        queue.async { self.load() }
        queue.sync {}
        return known
    }

    /// The built-in rules, unless others are known. Reads nothing.
    var known: PublicSuffixes { state.withLock { $0.suffixes } }

    /// Which rules apply.
    var origin: Origin { state.withLock { $0.origin } }

    /// What was wrong with the lists that could not be read. Each is tried once.
    var failures: [PublicSuffixFailure] { state.withLock { $0.failures } }

    /// Takes a list in place of what applied before.
    func replace(withFileAt path: String) throws(PublicSuffixFailure) {
        let suffixes = try PublicSuffixes.read(path)
        state.withLock { state in
            state.suffixes = suffixes
            state.origin = .file(path)
            state.hasStarted = true
            // One that is being read must not come after it.
            state.hasEnded = true
        }
    }

    /// Calls back when the list has been read, or could not be.
    func whenLoaded(_ body: @escaping @Sendable () -> Void) {
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

/// A public suffix list that could not be used.
public struct PublicSuffixFailure: Error, Hashable, Sendable, CustomStringConvertible {
    enum Fault: Hashable, Sendable {
        case notAFileURL
        case open(SystemCallError)
        case notRegular
        case tooLong
        case read(SystemCallError)
        /// Neither form of the list, or one that is cut off.
        case malformed
    }

    /// Where it is.
    public let path: String
    let fault: Fault

    /// What was read, and what is wrong with it.
    public var description: String {
        let what =
            switch fault {
            case .notAFileURL: "the URL names no file; make it with URL(fileURLWithPath:)"
            case .open(let error), .read(let error): error.description
            case .notRegular: "it is no regular file"
            case .tooLong: "it is longer than 16 MiB"
            case .malformed: "it holds no complete list; get one from https://publicsuffix.org/list"
            }
        return "reading the public suffix list \(PeerText.escaped(path.utf8)) failed: \(what)"
    }
}

extension PublicSuffixes {
    private static let longestFile: Int64 = 16 << 20

    /// Reads a list in either form. May wait for the disk.
    static func read(_ path: String) throws(PublicSuffixFailure) -> PublicSuffixes {
        let bytes = try bytes(of: path)
        if let graph = PublicSuffixGraph(bytes) { return PublicSuffixes(graph) }
        guard let table = bytes.withUnsafeBytes({ completeTable($0) }) else {
            throw PublicSuffixFailure(path: path, fault: .malformed)
        }
        return PublicSuffixes(table)
    }

    /// The official list says where its parts begin and end, so one that was cut off is noticed.
    private static func completeTable(_ text: UnsafeRawBufferPointer) -> PublicSuffixTable? {
        let head = text.prefix(1 << 16)
        let tail = text.suffix(1 << 12)
        if contains(head, "===BEGIN ICANN DOMAINS==="), !contains(tail, "===END PRIVATE DOMAINS===") { return nil }
        // A NUL stands in no text.
        guard !text.contains(0) else { return nil }
        let table = PublicSuffixTable(text)
        return table.count > 0 ? table : nil
    }

    private static func contains(_ text: Slice<UnsafeRawBufferPointer>, _ words: String) -> Bool {
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
