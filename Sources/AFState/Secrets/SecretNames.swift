import AFBase
import AFWire

/// Which header fields and query items are secrets. This one list decides what follows no redirect to another origin,
/// and what logs, events, commands, archives and the cache's files do not show.
///
/// A name is a secret if it contains one of these words, in any case: `token`, `secret`, `key`, `auth`, `password`,
/// `passwd`, `passphrase`, `session`, `credential`, `cookie`, `signature`, `assertion`, `csrf`, `xsrf`, `jwt`,
/// `bearer`. So `X-Vault-Token`, `Api-Key` and `apikey` are secrets. These are not, although they contain one:
/// `Idempotency-Key`, `Sec-WebSocket-Key`, `Cache-Key`, `Surrogate-Key`, `Sort-Key`, `Partition-Key`,
/// `Public-Key-Pins`, `Access-Control-Allow-Credentials`, the challenges and answers of servers (`WWW-Authenticate`,
/// `Authentication-Info` and those of proxies), and names with `author`, `keyword` or `keyboard` in them. Items with
/// the names `code`, `user_code`, `device_code`, `code_verifier`, `sig`, `pass`, `pwd`, `pin` or `otp` are secrets,
/// too.
///
/// Logs show no secret of other fields either: not the secret items of URLs in them, not the nonces of
/// `Authentication-Info`, and not a token among the names of `Sec-WebSocket-Protocol`.
///
/// Add the names that your servers use for other secrets:
///
/// ```swift
/// SecretNames.added.insert("X-Tenant-Pass")
/// ```
///
/// Safe to use from any thread.
public enum SecretNames {
    private static let words = [
        "token", "secret", "key", "auth", "password", "passwd", "passphrase", "session", "credential", "cookie",
        "signature", "assertion", "csrf", "xsrf", "jwt", "bearer",
    ].map { Array($0.utf8) }

    /// Longer words that contain a word of the list, but name no secret.
    private static let harmlessWords = ["author", "keyword", "keyboard"].map { Array($0.utf8) }

    private static let harmlessNames = [
        "idempotency-key", "x-idempotency-key", "sec-websocket-key", "cache-key", "x-cache-key", "surrogate-key",
        "x-surrogate-key", "sort-key", "partition-key", "public-key-pins", "public-key-pins-report-only",
        "access-control-allow-credentials", "www-authenticate", "proxy-authenticate", "authentication-info",
        "proxy-authentication-info",
    ].map { Array($0.utf8) }

    private static let items = [
        "code", "user-code", "device-code", "code-verifier", "sig", "pass", "pwd", "pin", "otp",
    ].map { Array($0.utf8) }

    private struct Added {
        var given: Set<String> = []
        var canonical: Set<[UInt8]> = []
    }

    private static let names = Lock(Added())

    /// Further names, of header fields and of query items, in any case. They hold for all sessions of the process, from
    /// the next redirect and the next line of a log on. Empty unless set.
    public static var added: Set<String> {
        get { names.withLock { $0.given } }
        set { names.withLock { $0 = Added(given: newValue, canonical: Set(newValue.map { canonical($0.utf8) })) } }
    }

    /// Whether there are further names.
    static var hasAdded: Bool { names.withLock { !$0.canonical.isEmpty } }

    /// Whether the name is one of the further ones.
    static func isAdded(_ name: some Collection<UInt8>) -> Bool {
        let name = canonical(name)
        return names.withLock { $0.canonical.contains(name) }
    }

    /// Whether a header field of this name holds a secret.
    public static func containsField(_ name: String) -> Bool { containsField(name.utf8) }

    static func containsField(_ name: some Collection<UInt8>) -> Bool { contains(canonical(name)) }

    /// Whether a query item, or an item of a form, of this name holds a secret.
    public static func containsItem(_ name: String) -> Bool {
        let name = canonical(name.utf8)
        return items.contains(name) || contains(name)
    }

    /// Whether a URL in the value of a field holds a secret: an item of its query or its fragment, or a user in front of
    /// its host. An item whose name cannot be decoded may be one.
    static func areHeld(inURLs value: UnsafeRawBufferPointer) -> Bool {
        guard value.contains(where: { "?#@".utf8.contains($0) }) else { return false }
        var name: [UInt8]?
        var slashes = 0
        for byte in value {
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "#"): name = []
            case UInt8(ascii: "="):
                if let name, isSecretItem(encoded: name) { return true }
                name = nil
            case UInt8(ascii: "@") where slashes == 2: return true
            default: name?.append(byte)
            }
            // The host and what is in front of it end like this.
            if byte == UInt8(ascii: "/") { slashes += 1 } else if slashes == 1 || endsHost(byte) { slashes = 0 }
        }
        return false
    }

    private static func endsHost(_ byte: UInt8) -> Bool { "?#\"<> ".utf8.contains(byte) }

    private static func isSecretItem(encoded name: [UInt8]) -> Bool {
        guard let decoded = name.withUnsafeBytes({ PercentEncoding.decode($0) }) else { return true }
        return containsItem(String(decoding: decoded, as: UTF8.self))
    }

    private static func contains(_ name: [UInt8]) -> Bool {
        if names.withLock({ !$0.canonical.isEmpty && $0.canonical.contains(name) }) { return true }
        return holdsWord(name) && !harmlessNames.contains(name)
    }

    private static func holdsWord(_ name: [UInt8]) -> Bool {
        name.indices.contains { start in
            let first = name[start]
            guard words.contains(where: { $0[0] == first && name[start...].starts(with: $0) }) else { return false }
            let isHarmless = harmlessWords.contains { name[start...].starts(with: $0) }
            // `author` is harmless, `authorization` is not.
            return !isHarmless || ["authoriz", "authoris"].contains { name[start...].starts(with: $0.utf8) }
        }
    }

    /// In lower case, with hyphens: `client_id` of a query is `Client-Id` of a field.
    private static func canonical(_ name: some Collection<UInt8>) -> [UInt8] {
        name.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : ASCII.folded($0) }
    }
}
