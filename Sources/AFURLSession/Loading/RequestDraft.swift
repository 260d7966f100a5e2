import AFState
import AFTransport
import Foundation

/// A request on its way through the steps.
struct RequestDraft {
    /// What goes on the wire, or why it cannot.
    var wire: OwnRequest
    /// Whether the request keeps the body of its task.
    var keepsBody = true
    /// The request without the cookies and credentials that `wire` has, once a step has wanted to see them.
    private(set) var withoutFields: WireRequest?
    /// The body of the former request, if it goes again and the request itself does not hold it.
    var body: (any BodySource)?
    /// Whether interceptors of the task's own request may want to change it.
    var mayBeIntercepted = false
    /// Taken when the request passed the cache.
    var cacheTicket = CacheTicket.none
    /// Of the cookies that the session adds to the request: read before them.
    var cookieEpoch = CookieEpoch.none
    /// What is known of a request that is not the first of its task, or has to wait. Most drafts have none.
    var history: DraftHistory?

    init(_ wire: OwnRequest) {
        self.wire = wire
    }

    var hasFields: Bool { withoutFields != nil }

    /// Puts a request with its cookies and credentials in place of the one without.
    mutating func add(_ fields: (WireRequest) -> WireRequest) {
        guard !hasFields, case .ready(let request) = wire else { return }
        (wire, withoutFields) = (.ready(fields(request)), request)
    }

    /// They may have changed: they are added anew.
    mutating func dropFields() {
        if let request = withoutFields.take() { wire = .ready(request) }
    }
}

/// Where a draft comes from.
final class DraftHistory {
    /// When the task may begin.
    var date: Date?
    /// The request to load in place of the task's, if the delegate has given one.
    var replacement: URLRequest?
    /// The request whose place the draft takes.
    var former: (request: URLRequest, wire: WireRequest)?
    /// The response that has led to this request. The task shows it if the request cannot be sent.
    var cause: URLResponse?
    /// What becomes the present request if no class of the program takes the draft, after a redirect of a class.
    var forNetwork: (request: URLRequest, hasDroppedBody: Bool)?
}
