import AFBase
import AFNetworking
import Foundation

/// Identifies an image for one user: requests with equal keys are for the same one.
struct ImageRequestKey: Hashable, Sendable {
    private struct Field: Hashable, Comparable, Sendable {
        let name: String
        let value: String

        static func < (one: Field, other: Field) -> Bool { (one.name, one.value) < (other.name, other.value) }
    }

    /// Fields that change how an image is transferred, or from where, but not which image it is, or whose.
    private static let fieldsThatDoNotMatter: Set<String> = [
        "accept", "accept-encoding", "cache-control", "pragma", "user-agent",
    ]

    private let url: String
    private let method: String
    private let fields: [Field]
    private let body: Data?
    private let handlesCookies: Bool
    private let addsStoredCookies: Bool
    /// Makes the key of a request with a body stream unique.
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
        // Without a `Cookie` field of its own the request sends the same cookies either way.
        addsStoredCookies = request.addsStoredCookies && request.value(forHTTPHeaderField: "Cookie") != nil
        occurrence = request.httpBodyStream == nil ? nil : UUID()
    }

    /// Whether a later request may get the same image.
    var isRepeatable: Bool { method == "GET" && body == nil && occurrence == nil }

    /// The URL of a request that is nothing but a URL, which finds images that were added by URL.
    var name: String? { isRepeatable && fields.isEmpty && handlesCookies ? url : nil }
}

/// The key of an image in a cache. Its parts are kept apart, so that different names never collide.
enum ImageCacheKey: Hashable, Sendable {
    case named(String)
    case requested(ImageRequestKey, additional: String?)

    /// Nil for a request whose image no other request may get.
    init?(request: URLRequest, additional: String?) {
        guard let key = ImageRequestKey(request), key.isRepeatable else { return nil }
        if additional == nil, let name = key.name {
            self = .named(name)
        } else {
            self = .requested(key, additional: additional)
        }
    }
}
