package import AFLoop
package import AFState
import AFTLS
import Glibc

/// Chooses the folder in which a program keeps the caches that it has named no folder for: a folder of the program's own
/// in the user's folder for caches. Nothing above that is ever made.
extension CacheHome {
    /// What a process knows of its surroundings.
    struct Surroundings: Sendable {
        /// `XDG_CACHE_HOME`
        var cacheHome: String?
        /// `HOME`
        var home: String?
        /// The home of the user's entry in the list of users. Asked for only if nothing else says where to go: the list
        /// may be on the network.
        var homeOfUser: @Sendable () -> String?
        /// The path of the program that runs.
        var program: String?
        /// Whose folder is at a path.
        var owner: @Sendable (_ path: String) -> Owner
    }

    enum Owner: Sendable {
        case thisUser
        case other
        /// There is no folder.
        case none
    }

    /// Why there is no folder to use.
    package enum Refusal: Error, Hashable {
        /// Neither the environment nor the list of users names a home.
        case noHome
        case missingHome(String)
        case foreignHome(String)
        case unknownProgram
        case unusable(String, SystemCallError)
    }

    init(in surroundings: Surroundings) throws(Refusal) {
        let caches = try CacheHome.caches(in: surroundings)
        guard let path = surroundings.program, let program = CacheHome.name(ofProgramAt: path) else {
            throw .unknownProgram
        }
        let former = path.utf8.split(separator: UInt8(ascii: "/")).last.map { "\(caches.path)/\(Substring($0))" }
        self.init(
            path: "\(caches.path)/\(program)",
            levels: caches.levels + 1,
            former: former.map { [$0] } ?? []
        )
    }

    /// A folder in the program's folder, of which nothing but its part of the path may be made as well.
    package func folder(at relative: String) -> CacheHome {
        let names = relative.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        if names.isEmpty { return self }
        let folder = names.joined(separator: "/")
        // The folder for caches.
        let caches = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] } ?? ""
        return CacheHome(
            path: "\(path)/\(folder)",
            levels: levels + names.count,
            former: ["\(caches)/\(folder)"]
        )
    }

    // MARK: - The folder for caches

    /// The XDG Base Directory Specification: a relative path is none, and a missing folder is made for the user alone.
    private static func caches(in surroundings: Surroundings) throws(Refusal) -> CacheHome {
        if let named = surroundings.cacheHome.flatMap(CacheHome.absolute) { return CacheHome(path: named, levels: 1) }
        guard let home = surroundings.home.flatMap(home(at:)) ?? surroundings.homeOfUser().flatMap(home(at:)) else {
            throw .noHome
        }
        switch surroundings.owner(home) {
        case .thisUser: return CacheHome(path: "\(home)/.cache", levels: 1)
        case .other: throw .foreignHome(home)
        case .none: throw .missingHome(home)
        }
    }

    /// The root of a machine is no home: containers name it where a user has none.
    private static func home(at path: String) -> String? { absolute(path).flatMap { $0.isEmpty ? nil : $0 } }

    /// An absolute path without a slash at its end: nothing for the root.
    private static func absolute(_ path: String) -> String? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        let length = path.utf8.lastIndex { $0 != UInt8(ascii: "/") }.map { path.utf8.index(after: $0) }
        return length.map { String(path[..<$0]) } ?? ""
    }

    // MARK: - The program's name

    private static let longestName = 64
    /// What the system adds to the path of a program whose file was removed, as when a newer version takes its place.
    private static let markOfRemoval = Array(" (deleted)".utf8)

    /// The name of a program and a digest of its path: two programs of one name do not share a folder.
    static func name(ofProgramAt path: String) -> String? {
        var bytes = Array(path.utf8)
        if bytes.suffix(markOfRemoval.count) == markOfRemoval[...] { bytes.removeLast(markOfRemoval.count) }
        guard let last = bytes.split(separator: UInt8(ascii: "/")).last else { return nil }
        let shown = last.prefix(longestName).map { byte in
            (byte > 0x20 && byte < 0x7F) ? byte : UInt8(ascii: "_")
        }
        // A name that begins with a dot is hidden.
        let start = shown.first == UInt8(ascii: ".") ? "_" : ""
        let digest = SHA256Digest.of(bytes).prefix(6).flatMap { byte in
            [byte >> 4, byte & 15].map { Array("0123456789abcdef".utf8)[Int($0)] }
        }
        return "\(start)\(String(decoding: shown, as: UTF8.self))-\(String(decoding: digest, as: UTF8.self))"
    }
}

extension CacheHome {
    /// That of this program. Found out once: another thread may change the environment during a later read.
    package static let ofThisProgram: Result<CacheHome, Refusal> = {
        let variables = ProcessVariables.values(of: ["XDG_CACHE_HOME", "HOME"])
        let surroundings = Surroundings(
            cacheHome: variables["XDG_CACHE_HOME"],
            home: variables["HOME"],
            homeOfUser: ProcessOrigin.homeOfUser,
            program: ProcessOrigin.pathOfProgram()
        ) { path in
            do throws(SystemCallError) {
                return try Folder(path: path).status().isOurs ? .thisUser : .other
            } catch {
                return error.code == ENOENT || error.code == ENOTDIR ? .none : .other
            }
        }
        return Result { () throws(Refusal) in try CacheHome(in: surroundings) }
    }()
}
