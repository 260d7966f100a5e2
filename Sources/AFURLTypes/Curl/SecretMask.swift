import AFBase
public import AFState
public import Foundation

/// Hides what ``SecretNames`` calls secret, and leaves the rest readable: the scheme of a credential, the names of
/// cookies, a URL without its secret items.
package struct SecretMask: Sendable {
    package static let cover = "***"

    private static let cookieFields: Set<String> = ["cookie", "cookie2"]
    private static let setCookieFields: Set<String> = ["set-cookie", "set-cookie2"]
    /// Fields whose value is one URL.
    private static let locationFields: Set<String> = [
        "location", "content-location", "referer", "origin", "destination", "sourcemap", "x-sourcemap", "x-location",
    ]
    /// Fields with which a server answers the credentials of a request (RFC 7615).
    private static let answerFields: Set<String> = ["authentication-info", "proxy-authentication-info"]
    private static let subprotocolField = "sec-websocket-protocol"
    private static let schemes: Set<String> = ["basic", "bearer", "digest", "negotiate", "ntlm"]

    private let sensitiveFields: Set<String>

    package init(sensitiveFields: Set<String> = []) {
        self.sensitiveFields = Set(sensitiveFields.map(ASCII.lowered))
    }

    /// The value of a header field.
    package func value(_ value: String, of name: String) -> String {
        let name = ASCII.lowered(name)
        if sensitiveFields.contains(name) { return SecretMask.cover }
        if SecretMask.cookieFields.contains(name) { return cookies(value) }
        if SecretMask.setCookieFields.contains(name) { return setCookie(value) }
        if SecretNames.containsField(name) { return credential(value) }
        if SecretMask.answerFields.contains(name) { return parameters(value) }
        if name == SecretMask.subprotocolField { return subprotocols(value) }
        return SecretMask.locationFields.contains(name) ? url(value) : text(value)
    }

    /// A URL, also a relative one, without user name, password and fragment: the session never sends these, and no log
    /// shows them.
    package func url(_ url: URL) -> String { masked(url.textWithoutUserInfo) }

    package func url(_ text: String) -> String {
        guard let url = URL(string: text) else { return SecretMask.cover }
        return self.url(url)
    }

    /// The items of a query, or of a form in a body.
    ///
    /// Some servers separate items by a semicolon, and for others it is part of a value. So a secret that begins behind a
    /// semicolon is one, and none ends before the next ampersand.
    package func query(_ text: Substring) -> String {
        SecretMask.parts(of: text, between: "&").map(items).joined(separator: "&")
    }

    private func items(_ text: Substring) -> String {
        var shown: [String] = []
        for part in SecretMask.parts(of: text, between: ";") {
            let item = item(part)
            shown.append(item)
            if item != part { break }
        }
        return shown.joined(separator: ";")
    }

    private func masked(_ text: String) -> String {
        let whole = text.prefix { $0 != "#" }
        guard let (path, items) = SecretMask.halves(of: whole, around: "?") else { return String(whole) }
        return "\(path)?\(query(items))"
    }

    private func item(_ item: Substring) -> String {
        guard let (name, _) = SecretMask.halves(of: item, around: "="),
            SecretNames.containsItem(name.removingPercentEncoding ?? String(name))
        else { return String(item) }
        return "\(name)=\(SecretMask.cover)"
    }

    /// Keeps the scheme, if it is a known one.
    private func credential(_ value: String) -> String {
        guard let (scheme, _) = SecretMask.halves(of: value[...], around: " "),
            SecretMask.schemes.contains(ASCII.lowered(scheme))
        else { return SecretMask.cover }
        return "\(scheme) \(SecretMask.cover)"
    }

    /// Keeps the names.
    private func cookies(_ value: String) -> String {
        SecretMask.parts(of: value[...], between: ";").map(cookie).joined(separator: ";")
    }

    private func setCookie(_ value: String) -> String {
        guard let (pair, attributes) = SecretMask.halves(of: value[...], around: ";") else { return cookie(value[...]) }
        return "\(cookie(pair));\(attributes)"
    }

    private func cookie(_ pair: Substring) -> String {
        guard let (name, _) = SecretMask.halves(of: pair, around: "=") else { return SecretMask.cover }
        return "\(name)=\(SecretMask.cover)"
    }

    // MARK: - Splitting

    // By scalars: in a `String`, a separator and a combining mark behind it are one character, and no separator.

    static func parts(of text: Substring, between sign: Unicode.Scalar) -> [Substring] {
        text.unicodeScalars.split(separator: sign, omittingEmptySubsequences: false).map(Substring.init)
    }

    static func halves(of text: Substring, around sign: Unicode.Scalar) -> (Substring, Substring)? {
        guard let place = text.unicodeScalars.firstIndex(of: sign) else { return nil }
        return (text[..<place], text[text.unicodeScalars.index(after: place)...])
    }
}

extension SecretNames {
    /// A URL as logs show it: without user name, password and fragment, and with `***` in place of the values of items
    /// that are secrets.
    public static func masked(_ url: URL) -> String { SecretMask().url(url) }
}
