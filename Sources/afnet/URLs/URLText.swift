import Foundation

/// A URL as people write it, made into one that can be loaded: with a scheme, without `.` and `..` in its path, and with
/// letters beyond ASCII and signs such as `{` encoded. Blanks and control characters stay, and are an error.
package struct URLText {
    package private(set) var text: String

    /// - Parameters:
    ///   - scheme: The scheme of a URL that has none.
    ///   - keepsDots: Whether `.` and `..` stay in the path.
    package init(_ given: String, scheme: String, keepsDots: Bool = false) {
        text = Self.withScheme(given, scheme: scheme)
        guard let parts = Parts(text) else { return }
        var changed = parts
        if !keepsDots { changed.path = Self.withoutDots(parts.path) }
        changed.encode()
        text = changed.text
    }

    /// Adds to the query.
    mutating func add(query: String) {
        guard var parts = Parts(text), !query.isEmpty else { return }
        let former = parts.query ?? ""
        parts.query = former + (former.isEmpty || former.hasSuffix("&") ? "" : "&") + query
        text = parts.text
    }

    /// Adds the name of a file to a path that ends in a slash.
    mutating func add(name: String) {
        guard var parts = Parts(text), parts.path.isEmpty || parts.path.hasSuffix("/") else { return }
        var allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."\u{7F}"))
        allowed.insert(charactersIn: "-._~")
        parts.path +=
            (parts.path.isEmpty ? "/" : "") + (name.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
        text = parts.text
    }

    /// The target of a redirect with the `.` and `..` that the path had before they were removed. As in curl, those at the
    /// beginning of a relative path count, and lead back from the path before.
    ///
    /// - Parameters:
    ///   - place: The field `Location`.
    ///   - source: The URL that answered.
    ///   - target: Where the redirect leads. Nothing but its path changes, and only if it is the same without dots.
    static func keepingDots(of place: String, from source: URL?, in target: URL) -> URL {
        guard var parts = Parts(target.absoluteString), let base = source.flatMap({ Parts($0.absoluteString) }) else {
            return target
        }
        let place = place.prefix { $0 != "#" && $0 != "?" }
        let path: String
        if place.isEmpty {
            path = base.path
        } else if let whole = Parts(place.hasPrefix("//") ? "http:\(place)" : String(place)) {
            path = whole.path
        } else if place.hasPrefix("/") {
            path = String(place)
        } else {
            var folders = base.path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            var rest = place[...]
            while let dots = ["./", "../"].first(where: { rest.hasPrefix($0) }) {
                rest = rest.dropFirst(dots.count)
                if dots == "../", folders.count > 1 { folders.removeLast() }
            }
            path = (folders + [rest]).joined(separator: "/")
        }
        guard withoutDots(path) == parts.path else { return target }
        parts.path = path
        return URL(string: parts.text, encodingInvalidCharacters: false) ?? target
    }

    /// A scheme is followed by a colon and a slash: `localhost:8080` is a host with a port.
    private static func withScheme(_ given: String, scheme: String) -> String {
        let name = given.prefix { $0 != ":" }
        let isName = name.first?.isLetter == true && name.utf8.allSatisfy { isSchemeByte($0) }
        let rest = given.dropFirst(name.count)
        if isName, rest.hasPrefix(":/") {
            // As curl and browsers do, one slash or three stand for two.
            let slashes = rest.dropFirst().prefix { $0 == "/" }.count
            let isHTTP = ["http", "https"].contains(name.lowercased())
            return isHTTP && slashes < 4 ? "\(name)://\(rest.dropFirst(1 + slashes))" : given
        }
        return given.isEmpty || given.hasPrefix("/") ? given : "\(scheme)://\(given)"
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        (65...90).contains(byte & 0xDF) || (48...57).contains(byte) || "+-.".utf8.contains(byte)
    }

    /// Removes the segments `.` and `..` (RFC 3986 §5.2.4).
    private static func withoutDots(_ path: String) -> String {
        guard path.contains("/.") else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for segment in segments where segment != "." {
            if segment == ".." { _ = kept.popLast() } else { kept.append(segment) }
        }
        // The last segment is a folder: what it named is one.
        if let last = segments.last, last == "." || last == ".." { kept.append("") }
        return "/" + kept.joined(separator: "/")
    }
}

extension URLText {
    /// A URL of a host, in its parts: each has the signs in front of it that divide it from the part before.
    private struct Parts {
        private let scheme: Substring
        private var authority: String
        var path: String
        var query: String?
        private var fragment: Substring

        /// Nil if the text is no URL of a host.
        init?(_ text: String) {
            guard let slashes = text.range(of: "://") else { return nil }
            scheme = text[..<slashes.upperBound]
            var rest = text[slashes.upperBound...]
            let end = rest.firstIndex(of: "#") ?? rest.endIndex
            fragment = rest[end...]
            rest = rest[..<end]
            let mark = rest.firstIndex(of: "?") ?? rest.endIndex
            query = mark == rest.endIndex ? nil : String(rest[mark...].dropFirst())
            rest = rest[..<mark]
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
            (authority, path) = (String(rest[..<slash]), String(rest[slash...]))
        }

        var text: String { "\(scheme)\(authority)\(path)\(query.map { "?\($0)" } ?? "")\(fragment)" }

        /// Signs that stand in no URL, and in those that people write.
        private static let encodedSigns = Set("\"<>[\\]^`{|}".utf8)

        /// Encodes what may not stand in a URL: a host beyond ASCII as IDNA says, the rest as UTF-8 in percent.
        mutating func encode() {
            path = Self.percentEncoded(path)
            query = query.map(Self.percentEncoded)
            // The sign in front of a fragment stays.
            if let sign = fragment.first {
                let rest = Self.percentEncoded(String(fragment.dropFirst())).replacing("#", with: "%23")
                fragment = "\(sign)\(rest)"[...]
            }
            guard !authority.utf8.allSatisfy({ $0 < 0x80 }) else { return }
            let at = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
            let place = authority[at...]
            let host = place.prefix { $0 != ":" }
            // A host that IDNA does not allow stays as it is, and makes no URL.
            guard let name = URL(string: "http://\(host)/")?.host else { return }
            authority = Self.percentEncoded(String(authority[..<at])) + name + place[host.endIndex...]
        }

        private static func percentEncoded(_ text: String) -> String {
            let isFine: (UInt8) -> Bool = { $0 < 0x80 && !encodedSigns.contains($0) }
            guard !text.utf8.allSatisfy(isFine) else { return text }
            let digits = Array("0123456789ABCDEF".utf8)
            let bytes = text.utf8.flatMap { byte -> [UInt8] in
                isFine(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
