import AFBase
import AFRequest
import AFState
import AFWire
import Foundation

extension HTTPCookie {
    /// Makes a cookie.
    ///
    /// Nil unless there are a name, a value, a path, and a domain or origin URL with a host. Nil also if one of them is
    /// not allowed: a line break or other control, a `;`, an `=` in the name, more than 4096 bytes of name and value,
    /// or a prefix (`__Host-`, `__Secure-`) whose conditions are not met. A path that does not begin with a slash is
    /// replaced as in a response: by the folder of the origin URL, or the root.
    ///
    /// A name, value or path whose bytes are no UTF-8 comes as bytes, with its text or without
    /// (``HTTPCookiePropertyKey/valueBytes``).
    ///
    /// Values may be any strings (a `Substring`, an `NSString`), URLs, numbers or dates, of Swift or of Foundation.
    public convenience init?(properties: [HTTPCookiePropertyKey: Any]) {
        guard let content = CookieContent(properties) else { return nil }
        self.init(content)
    }

    /// The properties that make the cookie again.
    public var properties: [HTTPCookiePropertyKey: Any]? {
        var all: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: domain, .path: path, .version: "\(version)",
            .discard: isSessionOnly ? "TRUE" : "FALSE",
        ]
        all[.nameBytes] = content.name.unlessText
        all[.valueBytes] = content.value.unlessText
        all[.pathBytes] = content.path.unlessText
        all[.expires] = expiresDate
        if isSecure { all[.secure] = "TRUE" }
        if isHTTPOnly { all[.httpOnly] = "TRUE" }
        all[.sameSitePolicy] = content.sameSite == .none ? "none" : sameSitePolicy?.rawValue
        all[.comment] = comment
        all[.commentURL] = commentURL
        all[.port] = content.details.flatMap { details in
            details.ports.isEmpty ? nil : details.ports.map(String.init).joined(separator: ",")
        }
        return all
    }
}

extension CookieContent {
    fileprivate init?(_ properties: [HTTPCookiePropertyKey: Any]) {
        let origin = properties.url(.originURL).flatMap { CookieQuestion($0) }
        guard let name = properties.bytes(.name, bytesKey: .nameBytes),
            let value = properties.bytes(.value, bytesKey: .valueBytes),
            let path = properties.bytes(.path, bytesKey: .pathBytes),
            let scope = CookieContent.scope(properties, origin: origin)
        else { return nil }
        self.init(
            name: name,
            value: value,
            domain: scope.domain,
            isHostOnly: scope.isHostOnly,
            path: path.first == UInt8(ascii: "/") ? path : CookieMatching.defaultPath(origin?.path ?? []),
            expires: CookieContent.expiry(properties),
            isSecure: properties.flag(.secure),
            isHTTPOnly: properties.flag(.httpOnly),
            sameSite: CookieContent.sameSite(properties),
            details: Details(properties)
        )
        guard isHarmless, isUnambiguous, (try? CookieAdmission.checkPrefix(self, hasPath: true)) != nil else {
            return nil
        }
    }

    private static func scope(
        _ properties: [HTTPCookiePropertyKey: Any],
        origin: CookieQuestion?
    ) -> (domain: String, isHostOnly: Bool)? {
        guard let domain = properties.text(.domain), !domain.isEmpty else { return origin.map { ($0.host, true) } }
        let isDotted = domain.utf8.first == UInt8(ascii: ".")
        let name = isDotted ? String(domain.dropFirst()) : domain
        guard let host = hostOfCookie(name) else { return nil }
        // No host is below an address.
        return (host.text, !isDotted || host.kind != .name)
    }

    private static func expiry(_ properties: [HTTPCookiePropertyKey: Any]) -> Int64? {
        if properties.text(.discard).map({ ASCII.lowered($0) == "true" }) ?? false { return nil }
        let now = Date.nowInSeconds
        if let text = properties.text(.maximumAge) {
            let bytes = Array("x; max-age=\(text)".utf8)
            if let age = (try? SetCookieParser.parse(bytes))?.maxAge {
                return age <= 0 ? CookieContent.ended : now.addingReportingOverflow(min(age, 1 << 40)).partialValue
            }
        }
        if let date = properties.date(.expires) { return date.wholeSeconds }
        return properties.text(.expires).flatMap { CookieDate.seconds($0) }
    }

    private static func sameSite(_ properties: [HTTPCookiePropertyKey: Any]) -> SameSite {
        let given = properties[.sameSitePolicy] as? HTTPCookieStringPolicy
        let text = given?.rawValue ?? properties.text(.sameSitePolicy)
        return text?.withUTF8Bytes { SameSite(token: $0) } ?? .unspecified
    }
}

extension CookieContent.Details {
    /// Nil if the cookie has none of these properties.
    fileprivate init?(_ properties: [HTTPCookiePropertyKey: Any]) {
        self.init()
        version = properties.text(.version) == "1" ? 1 : 0
        comment = properties.text(.comment)
        commentURL = properties.url(.commentURL)?.absoluteString
        for word in (properties.text(.port) ?? "").utf8.split(separator: UInt8(ascii: ",")) {
            let digits = Array(word.filter { !ByteScanning.isOWS($0) && $0 != UInt8(ascii: "\"") })
            let number = digits.withUnsafeBytes { ByteScanning.decimal($0) }
            if let port = number.flatMap({ UInt16(exactly: $0) }), port > 0, !ports.contains(port) {
                ports.append(port)
            }
        }
        if self == CookieContent.Details() { return nil }
    }
}

extension [UInt8] {
    /// The bytes, if they are no UTF-8: their text alone does not give them back.
    fileprivate var unlessText: Data? { String(validating: self, as: UTF8.self) == nil ? Data(self) : nil }
}

extension [HTTPCookiePropertyKey: Any] {
    /// The UTF-8 of a text, or the bytes that it stands for.
    fileprivate func bytes(_ key: HTTPCookiePropertyKey, bytesKey: HTTPCookiePropertyKey) -> [UInt8]? {
        let text = text(key)
        guard let bytes = (self[bytesKey] as? Data).map(Array.init) else { return text.map { Array($0.utf8) } }
        // A program that changes the text of a cookie's properties means the text.
        if let text, !HTTPText.decode(bytes).hasSameBytes(as: text) { return Array(text.utf8) }
        return bytes
    }

    fileprivate func text(_ key: HTTPCookiePropertyKey) -> String? {
        switch self[key] {
        case let text as any StringProtocol: String(text)
        case let text as NSString: text.description
        case let url as URL: url.absoluteString
        case let url as NSURL: url.absoluteString
        case let number as Int: "\(number)"
        case let number as NSNumber: number.stringValue
        default: nil
        }
    }

    fileprivate func url(_ key: HTTPCookiePropertyKey) -> URL? {
        self[key] as? URL ?? text(key).flatMap { URL(string: $0) }
    }

    fileprivate func date(_ key: HTTPCookiePropertyKey) -> Date? {
        let object = self[key] as? NSDate
        return self[key] as? Date
            ?? object.map { Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) }
    }

    fileprivate func flag(_ key: HTTPCookiePropertyKey) -> Bool {
        switch self[key] {
        case nil: false
        case let flag as Bool: flag
        case let number as NSNumber: number.boolValue
        default: text(key).map { !$0.isEmpty && ASCII.lowered($0) != "false" } ?? true
        }
    }
}
