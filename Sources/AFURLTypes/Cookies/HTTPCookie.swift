import AFState
import AFWire
public import Foundation

/// A cookie: a name and a value that a server sets, and that are sent back to it. It never changes.
///
/// Bytes that are not UTF-8 are shown as Latin-1, and sent as they were received.
public final class HTTPCookie: NSObject, Sendable {
    /// The sites whose cookies are stored and sent.
    @nonexhaustive
    public enum AcceptPolicy: UInt, Sendable {
        /// All sites.
        case always = 0
        /// No site.
        case never = 1
        /// The site of the main document (``URLRequest/mainDocumentURL``). A request without a main document is its
        /// own.
        case onlyFromMainDocumentDomain = 2
    }

    package let content: CookieContent

    package init(_ content: CookieContent) {
        self.content = content
        super.init()
    }

    /// The name; may be empty.
    public var name: String { HTTPText.decode(content.name) }

    /// The value, with its quotes if it has any, and as it is encoded.
    public var value: String { HTTPText.decode(content.value) }

    /// The host that the cookie belongs to; with a leading dot, that name and all names below it.
    public var domain: String { content.isHostOnly ? content.domain : "." + content.domain }

    /// The path below which the cookie is sent.
    public var path: String { HTTPText.decode(content.path) }

    /// When the cookie ends, in whole seconds; nil if it ends with its store.
    public var expiresDate: Date? {
        content.expires.map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    /// Whether the cookie ends with its store, and is never written to a file.
    public var isSessionOnly: Bool { content.expires == nil }

    /// Whether the cookie is sent over secured connections only.
    public var isSecure: Bool { content.isSecure }

    /// Whether scripts of a document must not see the cookie.
    public var isHTTPOnly: Bool { content.isHTTPOnly }

    /// Which sites' documents the cookie is sent for; nil if the server said nothing, `None`, or an unknown value.
    public var sameSitePolicy: HTTPCookieStringPolicy? {
        switch content.sameSite {
        case .unspecified, .none: nil
        case .lax: .sameSiteLax
        case .strict: .sameSiteStrict
        }
    }

    /// 0, or 1 if the program made it a cookie of RFC 2109.
    public var version: Int { Int(content.details?.version ?? 0) }

    /// The program's comment on the cookie.
    public var comment: String? { content.details?.comment }

    /// The URL of the program's comment.
    public var commentURL: URL? { content.details?.commentURL.flatMap { URL(string: $0) } }

    /// The only ports the cookie is sent to; nil if there is no such limit.
    public var portList: [NSNumber]? {
        guard let ports = content.details?.ports, !ports.isEmpty else { return nil }
        return ports.map { NSNumber(value: $0) }
    }

    // MARK: - Comparing and describing

    /// Whether the other object is a cookie with the same properties.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? HTTPCookie else { return false }
        return content == other.content
    }

    /// The same for equal cookies.
    public override var hash: Int { content.hashValue }

    /// Name, domain, path and flags. The value is left out: it is often a credential.
    public override var description: String {
        let marks = [
            isSecure ? "Secure" : nil, isHTTPOnly ? "HttpOnly" : nil, sameSitePolicy.map { "SameSite=\($0.rawValue)" },
            content.expires.map { "Expires=\(HTTPDate.text($0))" },
        ]
        let end = marks.compactMap { $0 }.map { "; \($0)" }.joined()
        let place = "\(PeerText.escaped(domain.utf8))\(PeerText.escaped(content.path))"
        return "HTTPCookie(\(PeerText.escaped(content.name)): \(content.value.count) bytes for \(place)\(end))"
    }

    /// The same as ``description``.
    public override var debugDescription: String { description }
}

extension HTTPCookie: CustomReflectable {
    /// The ``description`` only, for the same reason.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension CookiePolicy {
    package init(_ policy: HTTPCookie.AcceptPolicy) {
        self =
            switch policy {
            case .always: .always
            case .never: .never
            case .onlyFromMainDocumentDomain: .onlyFromMainDocumentDomain
            }
    }
}

extension HTTPCookie.AcceptPolicy {
    package init(_ policy: CookiePolicy) {
        self =
            switch policy {
            case .always: .always
            case .never: .never
            case .onlyFromMainDocumentDomain: .onlyFromMainDocumentDomain
            }
    }
}

/// The values of `SameSite`.
public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
    /// The value as it stands in a cookie, in lower case.
    public let rawValue: String

    /// A policy by its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Documents of other sites get the cookie only when they navigate to its site.
    public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
    /// Only documents of the same site get the cookie.
    public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
}
