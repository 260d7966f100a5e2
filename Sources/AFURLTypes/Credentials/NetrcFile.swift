import AFLoop
import AFState
import AFTLS
package import AFWire
public import Foundation

/// User names and passwords by host, in the format of `~/.netrc`.
///
/// A session uses such a file only if its configuration is given one:
///
/// ```swift
/// configuration.netrc = try NetrcFile(contentsOf: URL(fileURLWithPath: "/home/me/.netrc"))
/// ```
///
/// An entry is for exactly the host it names, on any port, and is sent only once that host asks. `default` entries,
/// which are for every host, and macros are skipped, as are entries without a user or a password.
public struct NetrcFile: Sendable {
    private struct Entry: Sendable {
        let host: String
        let user: [UInt8]
        let credential: URLCredential
    }

    /// The size of the largest file that is read.
    package static let maximumSize: Int64 = 1 << 20

    private var entries: [Entry] = []

    /// Reads a file. This may wait for the disk.
    ///
    /// - Throws: ``NetrcError`` if it cannot be read, if other users may read or change it, or if a line of it is not
    ///   understood: then no entry of it is used.
    public init(contentsOf url: URL) throws(NetrcError) {
        let path = url.path
        guard url.isFileURL else { throw NetrcError(.notAFile, at: path) }
        var bytes = try NetrcFile.read(path)
        defer { SecretBytes.wipe(&bytes) }
        try self.init(bytes: bytes, path: path)
    }

    /// Reads a text that is in memory already.
    ///
    /// - Throws: ``NetrcError`` if a line is not understood.
    public init(text: String) throws(NetrcError) {
        var bytes = Array(text.utf8)
        defer { SecretBytes.wipe(&bytes) }
        try self.init(bytes: bytes, path: nil)
    }

    private init(bytes: [UInt8], path: String?) throws(NetrcError) {
        var reader = NetrcReader(bytes)
        do throws(NetrcReader.Misunderstanding) {
            while let machine = try reader.next() { add(machine) }
        } catch {
            throw NetrcError(.malformed(line: error.line), at: path)
        }
    }

    private mutating func add(_ machine: NetrcReader.Machine) {
        // No URL can have such a host, so the entry is never used.
        guard let name = machine.name, let user = machine.user, let password = machine.password,
            let endpoint = try? Endpoint(scheme: .https, host: String(decoding: name, as: UTF8.self))
        else { return }
        let credential = URLCredential(
            user: String(decoding: user, as: UTF8.self),
            password: String(decoding: password, as: UTF8.self),
            persistence: .forSession
        )
        entries.append(Entry(host: endpoint.host.text, user: user, credential: credential))
    }

    /// The first entry of the URL's host, or the host's first entry for the user that the URL names. Nil if there is none.
    ///
    /// A session asks it by itself when a server wants a password. Programs that send the password unasked, as many
    /// command lines do, find it here.
    public func credential(for url: URL) -> URLCredential? {
        guard let place = try? RequestURL(url.absoluteString, opensWebSocket: true) else { return nil }
        let named = place.userInfo.flatMap { URLUserInfo($0) }
        // A user that cannot be read is none of the file.
        if named == nil, place.userInfo?.contains(where: { $0 != UInt8(ascii: ":") }) == true { return nil }
        return credential(for: place.endpoint.host, user: named?.user)
    }

    /// The first entry of a host, or the host's first entry for this user.
    package func credential(for host: Endpoint.Host, user: [UInt8]?) -> URLCredential? {
        entries.first { $0.host == host.text && (user == nil || user == $0.user) }?.credential
    }

    // MARK: - The file

    private static func read(_ path: String) throws(NetrcError) -> [UInt8] {
        let file: DiskFile
        let status: FileStatus
        do throws(SystemCallError) {
            file = try DiskFile(reading: path)
            status = try file.status()
        } catch {
            throw NetrcError(.unreadable(SystemCallError.text(of: error.code)), at: path)
        }
        if !status.isRegular { throw NetrcError(.notAFile, at: path) }
        if !status.isPrivate { throw NetrcError(.openToOthers, at: path) }
        if status.size > maximumSize { throw NetrcError(.tooLarge, at: path) }
        do throws(SystemCallError) {
            return try file.bytes(at: 0, count: Int(status.size))
        } catch {
            throw NetrcError(.unreadable(SystemCallError.text(of: error.code)), at: path)
        }
    }
}

extension NetrcFile: CustomStringConvertible, CustomReflectable {
    /// How many entries there are. It contains no password and no user.
    public var description: String { "NetrcFile(\(entries.count) entries)" }

    /// The description only.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
