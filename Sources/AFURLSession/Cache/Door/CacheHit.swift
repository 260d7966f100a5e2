import AFWire
import Foundation

/// A stored response that a request is, or may be, answered with.
struct CacheHit: Sendable {
    let entry: CacheEntry
    let request: CacheRequest
    /// What the task shows as its response: the stored one, with its own status.
    let response: HTTPURLResponse
    let url: URL
    /// Leave to store what becomes of it.
    let ticket: CacheTicket?

    /// - Parameter age: What `Age` says in its response; nil for what the stored one says.
    init(_ entry: CacheEntry, for request: CacheRequest, at url: URL, ticket: CacheTicket?, age: Int64? = nil) {
        self.entry = entry
        self.request = request
        self.url = url
        self.ticket = ticket
        response = entry.response(for: url, age: age)
    }

    /// The same as an answer that its server has not confirmed: RFC 9111 §4 has a cache say how old that is.
    func unconfirmed(at now: CacheInstant) -> CacheHit {
        CacheHit(entry, for: request, at: url, ticket: ticket, age: CacheRules.age(of: entry.head, now: now))
    }

    /// What the task gets as its body: nothing for HEAD.
    var body: Data { request.method == .head ? Data() : entry.body }
    /// Whether the body has no content coding any more, whatever the fields say.
    var isDecoded: Bool { entry.head.isDecoded }
}

/// What a look-up found.
enum CacheFinding: Sendable {
    /// Send the request, with these fields where it has no such field.
    case network(HTTPHeaders)
    /// Answer with this and send nothing.
    case serve(CacheHit)
    /// Send the request with these fields. On 304 answer with this, otherwise with what came.
    case validate(CacheHit, HTTPHeaders)
    /// Answer with this, and send the request with these fields for the cache's sake alone.
    case serveAndValidate(CacheHit, HTTPHeaders)
    /// Fail the task as not cached; nothing may be sent.
    case fail
}
