import AFRequest
import AFWire
import Foundation

extension URLRequest: Hashable {
    /// Requests are equal if the session would send them in the same way. The order of fields does not count.
    public static func == (one: URLRequest, other: URLRequest) -> Bool {
        one.url == other.url && one.httpMethod == other.httpMethod && one.cachePolicy == other.cachePolicy
            && one.timeoutInterval == other.timeoutInterval && one.httpBody == other.httpBody
            && one.contents.cookies == other.contents.cookies && one.contents.limits == other.contents.limits
            && one.contents.hints == other.contents.hints
            && one.contents.wire == other.contents.wire && one.bodyStream?.stream === other.bodyStream?.stream
            && one.redirectPolicy == other.redirectPolicy
            && one.contents.interception.value.skipsSession == other.contents.interception.value.skipsSession
            && one.contents.fields.dictionary == other.contents.fields.dictionary
    }

    /// Feeds URL, main document, method and body into the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(mainDocumentURL)
        hasher.combine(httpMethod)
        hasher.combine(httpBody)
        hasher.combine(bodyStream.map { ObjectIdentifier($0.stream) })
    }
}

extension URLRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL without user name and password.
    public var description: String {
        url?.textWithoutUserInfo ?? "url: nil"
    }

    /// Method, URL and the names of the header fields, without their values: they may be credentials.
    public var debugDescription: String {
        let names = contents.fields.map(\.name).joined(separator: ", ")
        return "\(contents.method) \(description) [\(names)]"
    }

    /// The parts for a debugger. Header values and the body are shown by their size only.
    public var customMirror: Mirror {
        let fields = contents.fields.map { "\($0.name): \($0.value.utf8.count) bytes" }
        return Mirror(
            self,
            children: [
                ("url", url?.textWithoutUserInfo as Any),
                ("httpMethod", contents.method),
                ("cachePolicy", cachePolicy),
                ("timeoutInterval", timeoutInterval),
                ("allHTTPHeaderFields", fields),
                ("httpBody", httpBody.map { "\($0.count) bytes" } as Any),
            ],
            displayStyle: .struct
        )
    }
}

extension URLRequest {
    /// How stored responses may serve a request.
    @nonexhaustive
    public enum CachePolicy: UInt, Sendable {
        /// By the rules of HTTP.
        case useProtocolCachePolicy = 0
        /// From the origin server, whatever the cache holds.
        case reloadIgnoringLocalCacheData = 1
        /// From the cache, however old; from the origin server if the cache has none.
        case returnCacheDataElseLoad = 2
        /// From the cache, however old; an error if the cache has none.
        case returnCacheDataDontLoad = 3
        /// From the origin server; caches on the way are asked not to answer.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// From the cache after the origin server has confirmed it.
        case reloadRevalidatingCacheData = 5

        /// The older name of ``reloadIgnoringLocalCacheData``.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }
}
