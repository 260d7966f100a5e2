import AFState
import Foundation

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
    init(entry: CacheEntry, for request: CacheRequest, at url: URL, ticket: CacheTicket, age: Int64? = nil) {
        self.entry = entry
        self.request = request
        self.url = url
        self.ticket = ticket
        response = entry.response(for: url, age: age)
    }

    /// The same hit as an answer that its server has not confirmed: RFC 9111 §4 requires the cache to generate `Age`.
    func unconfirmed(at now: CacheInstant) -> CacheHit {
        CacheHit(entry: entry, for: request, at: url, ticket: ticket, age: CacheRules.age(of: entry.head, now: now))
    }

    /// The body for the task: empty for HEAD.
    var body: Data { request.method == .head ? Data() : entry.body }
    /// Whether the body has no content coding any more, whatever the fields say.
    var isDecoded: Bool { entry.head.isDecoded }
}
