package import AFWire

/// The requests to a party that a credential that worked is sent with, unasked.
package struct ProtectionScope: Sendable {
    /// Nil covers everything.
    private(set) var prefixes: [[UInt8]]?
    /// More prefixes than a site needs, and few enough to compare with each request.
    private static let maximumPrefixes = 32

    package static let everything = ProtectionScope(prefixes: nil)

    /// RFC 7617 §2.2: everything in and below the folder of the path that was requested.
    package static func folder(of path: [UInt8]) -> ProtectionScope {
        let path = ProtectionScope.withoutQuery(path)
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")), !hasDots(path) else {
            return ProtectionScope(prefixes: [])
        }
        return ProtectionScope(prefixes: [Array(path[...slash])])
    }

    /// RFC 7616 §3.3: what the server lists as `domain`, and everything if it lists nothing. Other origins on the list
    /// are left out: what is known about one origin goes to no other.
    package static func domain(_ words: [[UInt8]]?, at endpoint: Endpoint) -> ProtectionScope {
        guard let words else { return .everything }
        let paths = words.compactMap { word -> [UInt8]? in
            if word.first == UInt8(ascii: "/"), word.dropFirst().first != UInt8(ascii: "/") { return word }
            let url = try? word.withUnsafeBytes { bytes throws(RequestRejection) in try RequestURL(bytes) }
            guard let url, url.endpoint == endpoint else { return nil }
            return url.target
        }
        return ProtectionScope(prefixes: paths.map(withoutQuery).filter { !hasDots($0) })
    }

    /// The length of the prefix that covers the path, to compare scopes; nil if the path is outside.
    package func reach(to path: [UInt8]) -> Int? {
        guard let prefixes else { return 0 }
        let path = ProtectionScope.withoutQuery(path)
        // The server decides which folder a path with dots leads to.
        guard !ProtectionScope.hasDots(path) else { return nil }
        return prefixes.filter { ProtectionScope.covers($0, path: path) }.map(\.count).max()
    }

    package mutating func formUnion(_ other: ProtectionScope) {
        guard let own = prefixes, let others = other.prefixes else {
            prefixes = nil
            return
        }
        let new = others.filter { prefix in !own.contains { ProtectionScope.covers($0, path: prefix) } }
        prefixes = Array((own + new).suffix(ProtectionScope.maximumPrefixes))
    }

    /// `/a` covers `/a` and `/a/b`, not `/ab`.
    private static func covers(_ prefix: [UInt8], path: [UInt8]) -> Bool {
        guard path.starts(with: prefix) else { return false }
        return prefix.last == UInt8(ascii: "/") || path.count == prefix.count
            || path[prefix.count] == UInt8(ascii: "/")
    }

    private static func withoutQuery(_ path: [UInt8]) -> [UInt8] {
        Array(path.prefix { $0 != UInt8(ascii: "?") })
    }

    /// Whether the path names a folder by dots, encoded or not.
    private static func hasDots(_ path: [UInt8]) -> Bool {
        let decoded = path.withUnsafeBytes { PercentEncoding.decode($0) } ?? path
        let isSlash = { (byte: UInt8) in byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
        return decoded.split(whereSeparator: isSlash).contains {
            $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8)
        }
    }
}
