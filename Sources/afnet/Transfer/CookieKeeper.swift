package import AFURLSession
import Foundation

/// The jar of one group: reads it from files, and writes it. Cookies of the command line belong to the request and
/// never to the jar, which would send them to every port of their host, and without TLS.
@MainActor final class CookieKeeper {
    private let options: CookieOptions
    private let cookies: RunCookies

    init(_ options: CookieOptions, _ cookies: RunCookies) throws(TransferFailure) {
        self.options = options
        self.cookies = cookies
        for path in options.files { try load(path) }
    }

    /// A missing file has no cookies yet.
    private func load(_ path: String) throws(TransferFailure) {
        let data: Data
        do throws(SystemFailure) {
            data = try Descriptor.input(path, limit: CookieText.sizeLimit)
        } catch {
            if error.isMissingFile { return }
            throw TransferFailure(.cannotRead, "--cookie-file: \(path): \(error.text)")
        }
        let found = CookieText.cookies(in: String(decoding: data, as: UTF8.self))
        cookies.add(options.skipsSessionCookies ? found.filter { !$0.isSessionOnly } : found)
    }

    /// Writes the jar after the last URL of the group.
    func finish() throws(TransferFailure) {
        guard let path = options.jar else { return }
        do throws(SystemFailure) {
            let text = Data(CookieText.text(of: cookies.storage.cookies ?? []).utf8)
            if path == "-" {
                try Descriptor.standardOutput.write(text)
            } else {
                try Descriptor.replace(path, with: text)
            }
        } catch {
            throw TransferFailure(.cannotWrite, "--cookie-jar: \(path): \(error.text)")
        }
    }
}

/// The cookies of one run, which all its groups share.
@MainActor final class RunCookies {
    let storage = HTTPCookieStorage()
    /// Those that came from files, as they are in the storage.
    private var filed: [[String]: HTTPCookie] = [:]

    /// Adds the cookies of a file. A cookie that a server has set in this run stays.
    func add(_ cookies: [HTTPCookie]) {
        let present = present
        let new = cookies.filter { present[key($0)] == filed[key($0)] }
        storage.setCookies(new, for: nil, mainDocumentURL: nil)
        let stored = self.present
        for key in cookies.map(key) where present[key] == filed[key] { filed[key] = stored[key] }
    }

    private var present: [[String]: HTTPCookie] {
        Dictionary((storage.cookies ?? []).map { (key($0), $0) }, uniquingKeysWith: { $1 })
    }

    private func key(_ cookie: HTTPCookie) -> [String] { [cookie.domain, cookie.path, cookie.name] }
}

/// Files of cookies in Netscape's format: seven fields on a line, separated by tabs.
package enum CookieText {
    static let sizeLimit = 16 << 20
    private static let hiddenPrefix = "#HttpOnly_"

    /// Ignores lines that are not cookies.
    package static func cookies(in text: String) -> [HTTPCookie] {
        // By scalars: other signs that end a line may stand in a value.
        text.unicodeScalars.split { $0 == "\n" || $0 == "\r" }.compactMap { cookie(String($0)) }
    }

    private static func cookie(_ line: String) -> HTTPCookie? {
        let isHidden = line.hasPrefix(hiddenPrefix)
        if line.hasPrefix("#"), !isHidden { return nil }
        var fields = line.dropFirst(isHidden ? hiddenPrefix.count : 0)
            .split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        // Some programs leave out an empty value with its tab.
        if fields.count == 6 { fields.append("") }
        guard fields.count == 7, let expires = Double(fields[4]) else { return nil }
        let host = fields[0].drop { $0 == "." }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .domain: isYes(fields[1]) ? ".\(host)" : String(host), .path: fields[2], .name: fields[5],
            .value: fields[6],
        ]
        if isYes(fields[3]) { properties[.secure] = "TRUE" }
        if isHidden { properties[.httpOnly] = "TRUE" }
        if expires > 0 { properties[.expires] = Date(timeIntervalSince1970: expires) }
        return HTTPCookie(properties: properties)
    }

    private static func isYes(_ field: String) -> Bool { field.uppercased() == "TRUE" }

    package static func text(of cookies: [HTTPCookie]) -> String {
        let head = "# Netscape HTTP Cookie File\n# Written by afnet. A program that reads it can log in as you.\n\n"
        // A tab in a value, which a cookie may have, would end the field: leave such cookies out.
        return head + cookies.map(line).filter { $0.count(where: { $0 == "\t" }) == 6 }.map { $0 + "\n" }.joined()
    }

    private static func line(_ cookie: HTTPCookie) -> String {
        let fields = [
            (cookie.isHTTPOnly ? hiddenPrefix : "") + cookie.domain,
            cookie.domain.hasPrefix(".") ? "TRUE" : "FALSE",
            cookie.path,
            cookie.isSecure ? "TRUE" : "FALSE",
            cookie.expiresDate.map { String(Int64($0.timeIntervalSince1970)) } ?? "0",
            cookie.name,
            cookie.value,
        ]
        return fields.joined(separator: "\t")
    }
}
