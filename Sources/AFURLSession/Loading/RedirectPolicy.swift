import AFWire
public import Foundation

/// Which redirects a session follows, and what goes along.
///
/// An *origin* is a scheme, a host and a port. Whatever crosses from one to another goes without its secrets, whoever
/// is asked, and whatever is allowed here.
public struct RedirectPolicy: Hashable, Sendable, Codable {
    /// Whether redirects are followed at all. True. If not, each is the answer of its task, with its body, and no
    /// delegate is asked.
    public var followsRedirects = true

    /// How many redirects one task follows; the next one fails it with `URLError.httpTooManyRedirects`. 20; less than
    /// 0 means 0.
    public var maximumCount = 20

    /// Whether a redirect may lead from https to http, where anybody on the way can read and change what follows.
    /// False: such a redirect fails the task.
    public var allowsPlainText = false

    /// Whether the body of a request may be sent on to another origin (307 and 308). False: the delegate is asked, and
    /// where there is none to ask, such a redirect fails the task.
    public var sendsBodyToOtherOrigins = false

    /// Whether `http://host` and `https://host`, both at their standard ports, count as one origin for a redirect
    /// from the former to the latter. False.
    public var keepsSecretsOnUpgrade = false

    /// Further header fields, by name, that do not follow to another origin. Those that ``SecretNames`` calls secrets,
    /// as `Authorization`, `Cookie` and `X-Api-Key`, and `Proxy-…`, `WWW-Authenticate` and `Referer` never do.
    public var sensitiveFields: Set<String> = []

    /// The standard policy.
    public init() {}

    /// Whether two URLs have one origin, read as a request is and not as `URL` reads them. If no request can be made for
    /// one of them, as of a scheme that a ``URLProtocol`` has, they have if they are the same up to their paths.
    public static func haveSameOrigin(_ one: URL, _ other: URL) -> Bool {
        let (one, other) = (one.absoluteString, other.absoluteString)
        guard let first = try? RequestURL(one), let second = try? RequestURL(other) else {
            return beginning(one) == beginning(other)
        }
        return first.endpoint == second.endpoint
    }

    /// Scheme and authority.
    private static func beginning(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return [] }
        let rest = bytes[(colon + 1)...]
        guard rest.starts(with: "//".utf8) else { return Array(bytes[...colon]) }
        return Array(bytes[..<(rest.dropFirst(2).firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex)])
    }

    /// What `Referer` may say in a request for `target` that `source` led to (RFC 9110 §10.1.3): `source` without user
    /// info and fragment. Nil for a source that is not loaded over HTTP, and for one over https if the target has another
    /// origin, above all one over http.
    ///
    /// A session adds no `Referer` by itself.
    public static func referer(from source: URL, to target: URL) -> String? {
        guard let url = try? RequestURL(source.absoluteString) else { return nil }
        if url.endpoint.scheme == .https, !haveSameOrigin(source, target) { return nil }
        return url.text
    }

    /// Whether a header field of this name, in any case, does not follow to another origin.
    public func withholds(_ name: String) -> Bool { RedirectRules.isSecret(name, to: self) }
}
