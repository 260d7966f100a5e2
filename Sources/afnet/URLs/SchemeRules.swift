/// The schemes that the command line allows.
package struct SchemeRules: Sendable, Equatable {
    /// What afnet can load.
    package enum Scheme: String, CaseIterable, Sendable {
        case http, https
    }

    /// `--proto`
    package var allowed = Set(Scheme.allCases)
    /// `--proto-redir`
    package var redirected = Set(Scheme.allCases)
    /// The scheme of URLs that have none.
    package var `default` = Scheme.http

    /// Schemes of curl that afnet does not load: they may be named in lists that are made for it.
    private static let others: Set<String> = [
        "dict", "file", "ftp", "ftps", "gopher", "gophers", "imap", "imaps", "ipfs", "ipns", "ldap", "ldaps", "mqtt",
        "mqtts",
        "pop3", "pop3s", "rtmp", "rtmpe", "rtmps", "rtmpt", "rtmpte", "rtmpts", "rtsp", "scp", "sftp", "smb", "smbs",
        "smtp",
        "smtps", "telnet", "tftp", "ws", "wss",
    ]

    /// The schemes after a list such as `=https`, `-http` or `-all,https`.
    static func changed(_ schemes: Set<Scheme>, by list: String, of name: String) throws(ArgumentError) -> Set<Scheme> {
        var schemes = schemes
        for part in list.split(separator: ",") {
            let sign = part.first.flatMap { "+-=".contains($0) ? $0 : nil }
            let word = part.dropFirst(sign == nil ? 0 : 1).lowercased()
            guard word == "all" || Scheme(rawValue: word) != nil || others.contains(word) else {
                throw .usage("\(name) knows no scheme \"\(word)\": write =https, or -all,http,https")
            }
            let named = word == "all" ? Set(Scheme.allCases) : Set([Scheme(rawValue: word)].compactMap(\.self))
            switch sign {
            case "-": schemes.subtract(named)
            case "=": schemes = named
            default: schemes.formUnion(named)
            }
        }
        return schemes
    }

    func allows(_ scheme: String?) -> Bool {
        Scheme(rawValue: scheme?.lowercased() ?? "").map(allowed.contains) ?? true
    }

    /// Whether a redirect may lead to this scheme. `--proto` holds for redirects, too.
    func allowsRedirect(to scheme: String?) -> Bool {
        guard let scheme = Scheme(rawValue: scheme?.lowercased() ?? "") else { return true }
        return allowed.contains(scheme) && redirected.contains(scheme)
    }
}
