/// Why a request was refused before any socket was chosen: which part of it, which rule, and where.
///
/// Requests are never repaired. The excerpt is escaped and short, and there is none where the part may hold a
/// secret (user information, queries, field values): there the position has to do.
package struct RequestRejection: Error, Hashable, Sendable {
    package enum Component: String, Hashable, Sendable {
        case url = "URL"
        case scheme = "scheme of the URL"
        case userInfo = "user information of the URL"
        case host = "host of the URL"
        case port = "port of the URL"
        case target = "path or query of the URL"
        case method = "method"
        case fieldName = "header field name"
        case fieldValue = "header field value"
        case hostField = "Host header field"
        case head = "request head"
        case body = "body"
        case trailerName = "name of a trailer field"
        case trailers = "trailer section"
        case range = "byte range"
        case credentials = "user name or password"
        case token = "bearer token"
    }

    package enum Rule: String, Hashable, Sendable {
        case missing = "is missing"
        case empty = "must not be empty"
        case tooLong = "is too long"
        case control = "must not contain control characters"
        case backslash = "must not contain a backslash"
        case forbiddenByte = "contains a character that is not allowed there"
        case percentInHost = "must not be percent-encoded"
        case notHTTP = "must be http or https"
        case noAuthority = "must be followed by // and a host"
        case severalAtSigns = "must contain at most one @"
        case encodedSeparator = "must not contain an encoded @ / \\ ? # or control character"
        case emptyLabel = "must not have an empty label"
        case labelTooLong = "must not have a label of more than 63 bytes"
        case numericHost = "looks like a number but is no dotted-quad IPv4 address"
        case notIPv6 = "is no IPv6 address"
        case zoneNotAllowed = "may carry a zone only if it is a link-local address"
        case portRange = "must be a decimal number from 1 to 65535 without leading zeros"
        case notToken = "must be a token of letters, digits and !#$%&'*+-.^_`|~"
        case notAllowed = "is not allowed"
        case bodyNotAllowed = "is not allowed for this method"
        case notLength = "must be one decimal number"
        case lengthUnknown = "needs a Content-Length in HTTP/1.0, which knows no chunks"
        case reversed = "ends before it begins"
        case negative = "must not be negative"
        case notAnnounced = "is not among those that were announced"
        case trailersNeedBody = "is missing, and trailer fields need one"
        case trailersNeedChunks = "must not have a Content-Length, because trailer fields follow chunks"
        case notUpgradable = "must be a GET of HTTP/1.1 without a body, because it opens a WebSocket"
        case notSubprotocol = "must be a list of different tokens"
        case colonInUser = "must not contain a colon in the user name"
    }

    package let component: Component
    package let rule: Rule
    /// Offset in bytes: into the absolute URL for its parts, otherwise into the component itself.
    package let position: Int?
    package let excerpt: EscapedText?
    /// The field a refused value belongs to.
    package let field: EscapedText?

    package init(
        _ component: Component,
        rule: Rule,
        at position: Int? = nil,
        excerpt: EscapedText? = nil,
        field: EscapedText? = nil
    ) {
        self.component = component
        self.rule = rule
        self.position = position
        self.excerpt = excerpt
        self.field = field
    }
}

extension RequestRejection {
    /// The same, counted in a text that has so many bytes less in front of the place.
    func moved(by count: Int) -> RequestRejection {
        RequestRejection(component, rule: rule, at: position.map { max($0 - count, 0) }, excerpt: excerpt, field: field)
    }
}

extension RequestRejection: CustomStringConvertible {
    package var description: String {
        var text = "the \(component.rawValue)"
        if let field { text += " of \(field)" }
        text += " \(rule.rawValue)"
        if let position { text += ", at byte \(position)" }
        if let excerpt { text += ": \(excerpt)" }
        return text
    }
}
