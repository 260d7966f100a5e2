public import Foundation

extension HTTPCookieStorage {
    /// Takes the cookies of a response from its `Set-Cookie` fields, as a session does.
    ///
    /// - Parameters:
    ///   - fields: The values of the fields, each its own.
    ///   - url: Where the response came from. None is taken if no requests can be made to it.
    ///   - date: When it came: cookies that last for a time last from then on.
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
    ///   - url: Where the request goes.
    ///   - date: When it would: cookies that have ended until then are gone for good.
    public func cookieField(for url: URL, at date: Date = Date()) -> String? {
        judgeWaiting()
        return CookieQuestion(url).flatMap { cookieField(for: $0, now: date.wholeSeconds) }
    }
}
