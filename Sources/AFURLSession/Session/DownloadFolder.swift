import AFBase
import AFLoop
import AFTransport
import Foundation
import Glibc

/// The folder in which downloads are gathered, in the folder for temporary files. It belongs to this library, and only
/// this user may use it.
///
/// | file | name | kept until |
/// | --- | --- | --- |
/// | a download under way, where the file system cannot do without a name | `….download` | it ends; a day after a crash |
/// | a download that has ended, for its receiver | `….tmp` | its callback has returned, or its owner removes it |
/// | part of a download that may be resumed | `….partial` | it is resumed; seven days |
struct DownloadFolder: Sendable {
    enum Kind: String, CaseIterable {
        case underWay = ".download"
        case done = ".tmp"
        case partial = ".partial"

        /// Seconds after which a file belongs to a process that has died.
        var lifetime: Int64? {
            switch self {
            case .underWay: 86_400
            case .partial: 7 * 86_400
            // The `async` methods give the file to their caller for good.
            case .done: nil
            }
        }
    }

    let path: String
    let folder: Folder
    private let identity: FileStatus.Identity

    /// When this process last swept each folder, in seconds.
    private static let swept = Lock<[String: Int64]>([:])

    /// - Parameter parent: The folder for temporary files.
    init(in parent: String) throws(FileFailure) {
        let beginning = parent.hasSuffix("/") ? parent : parent + "/"
        do throws(SystemCallError) {
            let found = try DownloadFolder.find(in: Folder(path: parent))
            path = beginning + found.name
            folder = found.folder
            identity = found.identity
        } catch {
            throw FileFailure(.openFolder, at: beginning + DownloadFolder.name, cause: error)
        }
    }

    private typealias Found = (name: String, folder: Folder, identity: FileStatus.Identity)

    /// Each user has a folder of its own, which no other user can use.
    private static let name = "AFURLSession-\(geteuid())"

    /// In `/tmp` another user can first make a folder, a link or a file of that name. Then this user has another folder
    /// beside it, with the same name in every process, since parts are looked for in it.
    private static func find(in parent: Folder) throws(SystemCallError) -> Found {
        do throws(SystemCallError) {
            return try own(name, in: parent)
        } catch {
            guard [EPERM, EACCES, ELOOP, ENOTDIR].contains(error.code) else { throw error }
        }
        let others = parent.names.filter { $0.hasPrefix(name + "-") }.sorted()
        for other in others where (try? parent.status(of: other).isPrivate) == true {
            if let found = try? own(other, in: parent) { return found }
        }
        return try own("\(name)-\(try FileToken.random())", in: parent)
    }

    private static func own(_ name: String, in parent: Folder) throws(SystemCallError) -> Found {
        let folder = try parent.ownFolder(named: name)
        let status = try folder.status()
        guard status.isPrivate else { throw SystemCallError(.open, code: EPERM) }
        return (name, folder, status.identity)
    }

    /// Whether its path still leads to it, not through a link, and it belongs to this user alone. Its descriptor keeps
    /// its number from meaning another folder.
    fileprivate var isInPlace: Bool {
        guard let status = try? Folder.status(at: path) else { return false }
        return status.identity == identity && status.isPrivate
    }

    /// Whether other processes look for parts in it too. Where its name is taken, they may find another one meanwhile.
    fileprivate var hasUsualName: Bool { path.hasSuffix("/\(DownloadFolder.name)") }

    // MARK: - Sweeping up

    /// Removes what processes left and did not come back for, once a day: a service runs for years.
    ///
    /// - Parameter now: In seconds of the wall clock, which may be set back.
    fileprivate func sweepIfDue(at now: Int64) {
        let isDue = DownloadFolder.swept.withLock { swept in
            if let last = swept[path], (last..<last + 86_400).contains(now) { return false }
            swept[path] = now
            return true
        }
        if isDue { sweep(at: now) }
    }

    private func sweep(at now: Int64) {
        for name in folder.names {
            guard let kind = Kind.allCases.first(where: { name.hasSuffix($0.rawValue) }),
                let lifetime = kind.lifetime,
                FileToken.isToken(String(name.dropLast(kind.rawValue.count))),
                let status = try? folder.status(of: name),
                status.isRegular, status.modified / 1_000_000_000 < now - lifetime
            else { continue }
            removeUnlocked(name)
        }
    }

    /// Removes the file, unless a process has it locked, which still writes it.
    private func removeUnlocked(_ name: String) {
        guard let file = try? folder.openFile(named: name), (try? file.lock()) != nil else { return }
        try? folder.remove(name)
    }
}

/// Where a session's downloads gather. The session judges the folder once and keeps it open. Each download looks
/// whether it is still there, and another one is opened if it is not.
final class DownloadPlace: Sendable {
    private let parent: String
    private let wallClock: @Sendable () -> WallTime
    private let known = Lock<DownloadFolder?>(nil)

    /// - Parameter parent: The folder for temporary files.
    init(in parent: String, by wallClock: @escaping @Sendable () -> WallTime) {
        self.parent = parent
        self.wallClock = wallClock
    }

    /// Waits for the disk: not for the network thread. The lock is not held meanwhile, so a disk that hangs holds up
    /// one download.
    func folder() throws(FileFailure) -> DownloadFolder {
        let folder = try opened()
        folder.sweepIfDue(at: wallClock().seconds)
        return folder
    }

    private func opened() throws(FileFailure) -> DownloadFolder {
        if let folder = known.withLock({ $0 }), folder.isInPlace { return folder }
        let found = try DownloadFolder(in: parent)
        known.withLock { $0 = found.hasUsualName ? found : nil }
        return found
    }
}
