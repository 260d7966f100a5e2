import AFNetworking
import Foundation

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
    init?(request: URLRequest, by manager: URLSessionManager) {
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
