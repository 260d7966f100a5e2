import AFBase
import AFState
import AFWire
public import Foundation

/// Which redirects a session follows, and what goes along.
///
/// An *origin* is a scheme, a host and a port. A redirect from one origin to another never takes the secrets of the
/// request along, whatever the delegate answers and whatever this policy allows.
public struct RedirectPolicy: Hashable, Sendable, Codable {
    /// Whether the session follows redirects at all. True by default. If not, each is the response of its task, with
    /// its body, and the session does not ask the delegate.
    public var followsRedirects = true

    /// How many redirects one task follows. The next one fails it with `URLError.httpTooManyRedirects`. 20 by default;
    /// less than 0 means 0.
    public var maximumCount = 20

    /// Whether a redirect may lead from https to http, where any machine on the way can read and change what follows.
    /// False by default: such a redirect fails the task.
    public var allowsPlainText = false

    /// Whether the session may send the body of a request on to another origin (307 and 308). False by default: it asks
    /// the delegate, and where there is none to ask, such a redirect fails the task.
    public var sendsBodyToOtherOrigins = false

    /// Whether `http://host` and `https://host`, both at their standard ports, count as one origin for a redirect from
    /// the former to the latter. False by default.
    public var keepsSecretsOnUpgrade = false

    /// Further header fields, by name, that do not follow to another origin. Those that ``/AFState/SecretNames`` calls
    /// secrets, as `Authorization`, `Cookie` and `X-Api-Key`, never do, nor do `Proxy-…`, `WWW-Authenticate`,
    /// `Referer` and the subprotocols of a WebSocket.
    public var sensitiveFields: Set<String> = []

    /// The standard policy.
    public init() {}

    /// Whether two URLs have one origin. It reads them as a request does, which is not always how `URL` reads them. If
    /// no request can be made for one of them, as with the scheme of a ``/AFURLSession/URLProtocol``, they have one
    /// origin if they are the same up to their paths.
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

    /// The `Referer` that a request for `target` may have when `source` led to it (RFC 9110 §10.1.3): `source` without
    /// user info and fragment. Nil for a source that is not loaded over HTTP. Nil also for one over https if the target
    /// has another origin, above all one over http.
    ///
    /// A session adds no `Referer` by itself.
    public static func referer(from source: URL, to target: URL) -> String? {
        guard let url = try? RequestURL(source.absoluteString) else { return nil }
        if url.endpoint.isSecured, !haveSameOrigin(source, target) { return nil }
        return url.text
    }

    /// Fields that stay in their origin, beside those whose names say that they hold secrets. Some servers take a token
    /// as a subprotocol, and nothing tells it from a name.
    private static let fieldsOfOrigin = ["WWW-Authenticate", "Referer", WebSocketHandshake.subprotocolField]

    /// Whether the policy keeps a header field of this name, in any case, from other origins.
    public func withholds(_ name: String) -> Bool {
        ASCII.lowered(name).utf8.starts(with: "proxy-".utf8)
            || SecretNames.containsField(name)
            || RedirectPolicy.fieldsOfOrigin.contains { HTTPText.isSameName($0, other: name) }
            || sensitiveFields.contains { HTTPText.isSameName($0, other: name) }
    }
}
