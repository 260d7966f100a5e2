import AFNetworking
import Foundation

/// What two requests have in common when they are for one image, and for one user.
struct ImageRequestKey: Hashable, Sendable {
    private struct Field: Hashable, Comparable, Sendable {
        let name: String
        let value: String

        static func < (one: Field, other: Field) -> Bool { (one.name, one.value) < (other.name, other.value) }
    }

    /// They say how an image may travel, or where it may come from, and not which image and whose.
    private static let fieldsThatDoNotMatter: Set<String> = [
        "accept", "accept-encoding", "cache-control", "pragma", "user-agent",
    ]

    private let url: String
    private let method: String
    private let fields: [Field]
    private let body: Data?
    private let handlesCookies: Bool
    private let addsStoredCookies: Bool
    /// Of a request that can be sent only once.
    private let occurrence: UUID?

    /// Nil for a request without a URL.
    init?(_ request: URLRequest) {
        guard let url = request.url?.absoluteString, !url.isEmpty else { return nil }
        self.url = url
        method = request.httpMethod ?? "GET"
        fields = (request.allHTTPHeaderFields ?? [:])
            .map { Field(name: ASCII.lowered($0.key), value: $0.value) }
            .filter { !Self.fieldsThatDoNotMatter.contains($0.name) }
            .sorted()
        body = request.httpBody.flatMap { $0.isEmpty ? nil : $0 }
        handlesCookies = request.httpShouldHandleCookies
        // Nothing of its own to add them to: the same cookies either way.
        addsStoredCookies = request.addsStoredCookies && request.value(forHTTPHeaderField: "Cookie") != nil
        occurrence = request.httpBodyStream == nil ? nil : UUID()
    }

    /// Whether the answer is an image that may be shown to whoever asks again.
    var isRepeatable: Bool { method == "GET" && body == nil && occurrence == nil }

    /// The URL, for a request that has nothing else to it: images that were added by URL are found by such a request.
    var name: String? { isRepeatable && fields.isEmpty && handlesCookies ? url : nil }
}

/// The name of an image in a cache. Its parts stay apart, so that no two names are one by accident.
enum ImageCacheKey: Hashable, Sendable {
    case named(String)
    case requested(ImageRequestKey, additional: String?)

    /// Nil for a request whose answer is nobody else's.
    init?(_ request: URLRequest, additional: String?) {
        guard let key = ImageRequestKey(request), key.isRepeatable else { return nil }
        if additional == nil, let name = key.name {
            self = .named(name)
        } else {
            self = .requested(key, additional: additional)
        }
    }
}
