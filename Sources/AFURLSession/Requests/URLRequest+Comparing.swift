import Foundation

extension URLRequest: Hashable {
    /// Requests are equal if the session would send them in the same way. The order of fields does not count.
    public static func == (one: URLRequest, other: URLRequest) -> Bool {
        one.url == other.url && one.httpMethod == other.httpMethod && one.cachePolicy == other.cachePolicy
            && one.timeoutInterval == other.timeoutInterval && one.httpBody == other.httpBody
            && one.contents.cookies == other.contents.cookies && one.contents.limits == other.contents.limits
            && one.contents.wire == other.contents.wire && one.bodyStream?.stream === other.bodyStream?.stream
            && one.redirectPolicy == other.redirectPolicy
            && one.skipsSessionInterceptors == other.skipsSessionInterceptors
            && one.contents.fields.dictionary == other.contents.fields.dictionary
    }

    /// Feeds URL, method and body into the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(httpMethod)
        hasher.combine(httpBody)
    }
}
