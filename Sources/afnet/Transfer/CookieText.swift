package import AFURLSession
package import Foundation

/// Files of cookies in Netscape's format: seven fields on a line, separated by tabs; or lines of fields `Set-Cookie`. Names,
/// values and paths are bytes, which need not be UTF-8.
package enum CookieText {
    static let sizeLimit = 16 << 20
    private static let hiddenPrefix = Array("#HttpOnly_".utf8)
    private static let tab = UInt8(ascii: "\t")

    /// Ignores lines that are not cookies.
    package static func cookies(in file: Data) -> [HTTPCookie] {
        Array(file).split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.compactMap(cookie)
    }

    private static func cookie(_ line: ArraySlice<UInt8>) -> HTTPCookie? {
        if text(line.prefix(headerPrefix.count)).lowercased() == headerPrefix {
            return cookie(ofHeader: text(line.dropFirst(headerPrefix.count)))
        }
        let isHidden = line.starts(with: hiddenPrefix)
        if line.first == UInt8(ascii: "#"), !isHidden { return nil }
        var fields = line.dropFirst(isHidden ? hiddenPrefix.count : 0)
            .split(separator: tab, omittingEmptySubsequences: false)
        // Some programs leave out an empty value with its tab.
        if fields.count == 6 { fields.append([]) }
        guard fields.count == 7, let expires = Double(text(fields[4])) else { return nil }
        let host = text(fields[0].drop { $0 == UInt8(ascii: ".") })
        var properties: [HTTPCookiePropertyKey: Any] = [
            .domain: isYes(fields[1]) ? ".\(host)" : host, .pathBytes: Data(fields[2]), .nameBytes: Data(fields[5]),
            .valueBytes: Data(fields[6]),
        ]
        if isYes(fields[3]) { properties[.secure] = "TRUE" }
        if isHidden { properties[.httpOnly] = "TRUE" }
        if expires > 0 { properties[.expires] = Date(timeIntervalSince1970: expires) }
        return HTTPCookie(properties: properties)
    }

    private static func text(_ field: ArraySlice<UInt8>) -> String { String(decoding: field, as: UTF8.self) }

    private static let headerPrefix = "set-cookie:"

    /// The cookie of a field `Set-Cookie`, as heads that were saved have it. Nil without a Domain: nothing says whose it is.
    private static func cookie(ofHeader value: String) -> HTTPCookie? {
        let attributes = value.split(separator: ";").dropFirst().map {
            $0.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let domain = attributes.last { $0.count == 2 && $0[0].lowercased() == "domain" }?[1].drop { $0 == "." }
        guard let domain, let url = URL(string: "https://\(domain)/") else { return nil }
        return HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": value], for: url).first
    }

    private static func isYes(_ field: ArraySlice<UInt8>) -> Bool { text(field).uppercased() == "TRUE" }

    package static func text(of cookies: [HTTPCookie]) -> Data {
        var file = Data(
            "# Netscape HTTP Cookie File\n# Written by afnet. A program that reads it can log in as you.\n\n".utf8
        )
        for line in cookies.map(line) where line.count(where: { $0 == tab }) == 6 {
            // A tab in a value, which a cookie may have, would end the field: leave such cookies out.
            file += line + [UInt8(ascii: "\n")]
        }
        return file
    }

    private static func line(_ cookie: HTTPCookie) -> [UInt8] {
        let properties = cookie.properties ?? [:]
        func bytes(_ text: String, key: HTTPCookiePropertyKey) -> [UInt8] {
            Array(properties[key] as? Data ?? Data(text.utf8))
        }
        let fields = [
            (cookie.isHTTPOnly ? hiddenPrefix : []) + cookie.domain.utf8,
            Array((cookie.domain.hasPrefix(".") ? "TRUE" : "FALSE").utf8),
            bytes(cookie.path, key: .pathBytes),
            Array((cookie.isSecure ? "TRUE" : "FALSE").utf8),
            Array((cookie.expiresDate.map { String(Int64($0.timeIntervalSince1970)) } ?? "0").utf8),
            bytes(cookie.name, key: .nameBytes),
            bytes(cookie.value, key: .valueBytes),
        ]
        return Array(fields.joined(separator: [tab]))
    }
}
