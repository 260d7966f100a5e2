import AFBase
import AFRequest
import AFState
import AFWire
public import Foundation

extension HTTPCookie {
    /// The cookies that a response sets, without those that it may not set.
    ///
    /// - Parameters:
    ///   - headerFields: The fields as ``HTTPURLResponse/allHeaderFields`` has them: several `Set-Cookie` lines in one
    ///     value, separated by line feeds. A value without line feeds may come from another loader, which joins the
    ///     lines by commas: there a cookie begins behind a comma if a name and `=` follow, and not in a date or in
    ///     quotation marks. So text that a server puts into the value of a cookie could set another one of that server;
    ///     a session reads the lines of the wire, where a comma separates nothing.
    ///   - URL: The URL of the response. If it has no host, there are no cookies.
    public class func cookies(withResponseHeaderFields headerFields: [String: String], for URL: URL) -> [HTTPCookie] {
        guard let question = CookieQuestion(URL) else { return [] }
        let now = Date.nowInSeconds
        var cookies: [HTTPCookie] = []
        for (name, value) in headerFields where ASCII.lowered(name) == "set-cookie" {
            for line in lines(of: Array(value.utf8)) {
                if let content = try? admitted(line, question: question, now: now) {
                    cookies.append(HTTPCookie(content))
                }
            }
        }
        return cookies
    }

    /// The lines that a loader has joined: ours by line feeds, others by commas.
    private static func lines(of value: [UInt8]) -> [[UInt8]] {
        let lines = value.split(separator: UInt8(ascii: "\n")).map(Array.init)
        return lines.count == 1 ? JoinedCookies.lines(of: lines[0]) : lines
    }

    private static func admitted(
        _ line: [UInt8],
        question: CookieQuestion,
        now: Int64
    ) throws(CookieRefusal) -> CookieContent {
        let cookie = try SetCookieParser.parse(line)
        let suffixes = PublicSuffixSource.system.loaded
        return try CookieAdmission.admit(cookie, from: question, now: now, suffixes: suffixes)
    }

    /// The header field that sends the cookies, in their order; none if there are no cookies. This does not check
    /// whether the cookies belong to the request.
    public class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        guard !cookies.isEmpty else { return [:] }
        var bytes: [UInt8] = []
        for cookie in cookies {
            if !bytes.isEmpty { bytes += [UInt8(ascii: ";"), UInt8(ascii: " ")] }
            cookie.content.appendPair(to: &bytes)
        }
        return ["Cookie": HTTPText.decode(bytes)]
    }
}

extension CookieQuestion {
    /// Nil unless the session could load the URL.
    package init?(_ url: URL, mainDocument: MainDocument = .itself) {
        guard let url = try? RequestURL(url.absoluteString) else { return nil }
        self.init(url: url, mainDocument: mainDocument)
    }
}

extension CookieQuestion.MainDocument {
    /// - Parameter url: The URL of the main document, if the program named one.
    package init(_ url: URL?) {
        guard let url else {
            self = .itself
            return
        }
        let host = (try? RequestURL(url.absoluteString))?.endpoint.host
        self = host.map { .host($0) } ?? .other
    }
}
