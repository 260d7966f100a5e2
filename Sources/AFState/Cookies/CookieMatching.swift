/// Which hosts and paths a cookie belongs to (RFC 6265bis §5.1.3 and §5.1.4), byte for byte.
package enum CookieMatching {
    /// Whether `host` is `domain` or, if the host is a name, below it.
    package static func host(_ host: String, isName: Bool, matches domain: String) -> Bool {
        host == domain || isName && self.host(host, isBelow: domain)
    }

    /// The dot is compared too: `notexample.com` is not below `example.com`.
    package static func host(_ host: String, isBelow domain: String) -> Bool {
        let (host, domain) = (host.utf8, domain.utf8)
        guard host.count > domain.count, !domain.isEmpty, host.suffix(domain.count).elementsEqual(domain) else {
            return false
        }
        return host.dropLast(domain.count).last == UInt8(ascii: ".")
    }

    package static func path(_ path: some Collection<UInt8>, matches cookiePath: [UInt8]) -> Bool {
        guard path.starts(with: cookiePath) else { return false }
        if path.count == cookiePath.count || cookiePath.last == UInt8(ascii: "/") { return true }
        return path.dropFirst(cookiePath.count).first == UInt8(ascii: "/")
    }

    /// The folder of a path, without its last slash.
    package static func defaultPath(_ path: some BidirectionalCollection<UInt8>) -> [UInt8] {
        guard path.first == UInt8(ascii: "/"), let slash = path.lastIndex(of: UInt8(ascii: "/")),
            slash != path.startIndex
        else { return [UInt8(ascii: "/")] }
        return Array(path[..<slash])
    }
}
