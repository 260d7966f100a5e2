import AFState
public import Foundation

extension HTTPCookieStorage {
    /// Stores the cookies of a response from its `Set-Cookie` fields, as a session does.
    ///
    /// - Parameters:
    ///   - fields: The values of the fields, one for each line.
    ///   - url: The URL of the response. If the session could not load it, no cookie is stored.
    ///   - date: When the response was received: `Max-Age` counts from then.
    /// - Returns: How many were refused.
    @discardableResult
    public func storeCookies(fromFields fields: [String], of url: URL, at date: Date = Date()) -> Int {
        guard let question = CookieQuestion(url) else { return fields.count }
        readSuffixes()
        return receive(fields.map { Array($0.utf8) }, for: question, now: date.wholeSeconds)
    }

    /// The value of the `Cookie` field that a session would send to a URL. Nil if it would send none.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - date: When the request is sent: cookies that have ended by then are removed for good.
    public func cookieField(for url: URL, at date: Date = Date()) -> String? {
        judgeWaiting()
        return CookieQuestion(url).flatMap { cookieField(for: $0, now: date.wholeSeconds) }
    }
}
