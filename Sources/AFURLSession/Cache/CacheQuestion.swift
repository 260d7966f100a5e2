import AFState
import AFTransport
import AFWire
import Foundation

/// A question of a task to the cache.
struct CacheQuestion: Sendable {
    let request: WireRequest
    let policy: URLRequest.CachePolicy
    /// How the server is reached, and why it is trusted.
    let scope: TrustScope
    /// Of the cookies that the session has added to the request.
    let cookies: CookieEpoch
    /// Whether the task gets bodies without their content coding.
    let decodes: Bool
}

extension CacheUse {
    init(_ policy: URLRequest.CachePolicy) {
        self =
            switch policy {
            case .useProtocolCachePolicy: .useProtocolCachePolicy
            case .reloadIgnoringLocalCacheData: .reloadIgnoringLocalCacheData
            case .reloadIgnoringLocalAndRemoteCacheData: .reloadIgnoringLocalAndRemoteCacheData
            case .returnCacheDataElseLoad: .returnCacheDataElseLoad
            case .returnCacheDataDontLoad: .returnCacheDataDontLoad
            case .reloadRevalidatingCacheData: .reloadRevalidatingCacheData
            }
    }
}

/// A stored response that answers a request, or may answer it.
struct CacheHit: Sendable {
    let entry: CacheEntry
    let request: CacheRequest
    /// The response that the task shows: the stored one, with its own status.
    let response: HTTPURLResponse
    let url: URL
    /// The ticket to store the response again when the server confirms it.
    let ticket: CacheTicket

    /// - Parameter age: The value of `Age` in its response; nil keeps the stored value.
    init(_ entry: CacheEntry, for request: CacheRequest, at url: URL, ticket: CacheTicket, age: Int64? = nil) {
        self.entry = entry
        self.request = request
        self.url = url
        self.ticket = ticket
        response = entry.response(for: url, age: age)
    }

    /// The same hit as an answer that its server has not confirmed: RFC 9111 §4 requires the cache to generate `Age`.
    func unconfirmed(at now: CacheInstant) -> CacheHit {
        CacheHit(entry, for: request, at: url, ticket: ticket, age: CacheRules.age(of: entry.head, now: now))
    }

    /// The body for the task: empty for HEAD.
    var body: Data { request.method == .head ? Data() : entry.body }
    /// Whether the body has no content coding any more, whatever the fields say.
    var isDecoded: Bool { entry.head.isDecoded }
}

/// The result of a look-up.
enum CacheFinding: Sendable {
    /// Send the request, with those of these fields that it lacks.
    case network(HTTPHeaders)
    /// Answer with this hit and send nothing.
    case serve(CacheHit)
    /// Send the request with these fields. Answer with this hit on the 304 that they ask for, or if the hit may stand in
    /// for an error; otherwise with the server's response.
    case validate(CacheHit, HTTPHeaders)
    /// Answer with this hit, and send the request with these fields only to update the cache.
    case serveAndValidate(CacheHit, HTTPHeaders)
    /// Fail the task: the response is not stored, and the request may not be sent.
    case fail
}
