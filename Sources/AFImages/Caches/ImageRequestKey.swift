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

/// An image for one user, from a server judged in one way. A download, and what is left of one, is for these alone.
///
/// Whom the request speaks for has to be known before it is sent. Where an interceptor of the program's decides about that,
/// each request has a key of its own: it shares no download, and gets and leaves no image in memory.
struct ImageDownloadKey: Hashable, Sendable {
    let request: ImageRequestKey
    /// ``URLSessionManager/judgement`` of the manager that loads it.
    let judgement: [UInt8]?
    /// For whom the request is sent.
    private let speaker: RequestSpeaker
    /// Whether the request itself says so, and its key does.
    private let speaksByItself: Bool
    private let credentialSource: String?
    private let occurrence: UUID?

    /// Nil for a request without a URL.
    init?(_ request: URLRequest, by manager: URLSessionManager) {
        guard let key = ImageRequestKey(request) else { return nil }
        self.request = key
        judgement = manager.judgement
        speaker = manager.session.speaker(of: request)
        speaksByItself = speaker == URLSession.ownSpeaker(of: request)
        credentialSource = ImageDownloadKey.credentialSource(of: manager)
        occurrence = speaker == .unknown ? UUID() : nil
    }

    /// Where the credentials come from with which servers are answered: requests share a download only if they come from
    /// one place. Nil if there are none.
    private static func credentialSource(of manager: URLSessionManager) -> String? {
        let isUsual = [URLSessionManager.self, HTTPSessionManager.self].contains { $0 == type(of: manager) }
        let changes = manager.challengeChanges
        // What a closure or a subclass answers with is its own.
        let own = isUsual && changes == 0 ? nil : "\(UInt(bitPattern: ObjectIdentifier(manager))) \(changes)"
        let sources = [own, manager.session.credentialSource].compactMap(\.self)
        return sources.isEmpty ? nil : sources.joined(separator: " ")
    }

    /// Whether a later request may get the same image, or the rest of it.
    var isRepeatable: Bool { request.isRepeatable && occurrence == nil }

    /// Whether all requests of a task, those of redirects included, were sent for the same user, or name no user. The session
    /// may have answered a challenge, or got other cookies or tokens, since the key was made.
    func holds(for task: URLSessionTask) -> Bool {
        guard let metrics = task.metrics else { return false }
        return occurrence == nil && metrics.speakers.isSubset(of: [speaker, .nobody])
    }

    /// Tells the images of servers judged in this way, and for this user, apart from others in a cache. Nil for those of a
    /// new manager.
    var identifier: String? {
        let user: [UInt8]? = if case .user(let digest) = speaker, !speaksByItself { digest } else { nil }
        let parts = [judgement.map { "judgement:\(Self.text($0))" }, user.map { "user:\(Self.text($0))" }]
        let known = parts.compactMap(\.self)
        return known.isEmpty ? nil : known.joined(separator: " ")
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

/// The key of an image in a cache. Its parts are kept apart, so that different names never collide.
enum ImageCacheKey: Hashable, Sendable {
    case named(String)
    case requested(ImageRequestKey, additional: String?)

    /// Nil for a request whose image no other request may get.
    init?(_ request: URLRequest, additional: String?) {
        guard let key = ImageRequestKey(request), key.isRepeatable else { return nil }
        if additional == nil, let name = key.name {
            self = .named(name)
        } else {
            self = .requested(key, additional: additional)
        }
    }
}
