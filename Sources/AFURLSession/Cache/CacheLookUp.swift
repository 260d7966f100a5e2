import AFState
import AFWire
import Foundation

/// One look-up in the cache, on its way to the disk and back.
struct CacheLookUp: Sendable {
    let request: CacheRequest
    private let policy: URLRequest.CachePolicy
    private let scope: TrustScope
    private let decodes: Bool
    private let origin: CookieOrigin?
    private let url: URL
    private let ticket: CacheTicket

    init(request: CacheRequest, question: CacheQuestion, store: CacheStore?) {
        // Taken before the look-up: a response that is removed after that stays removed.
        ticket = store?.ticket ?? .none
        self.request = request
        policy = question.policy
        scope = question.scope
        decodes = question.decodes
        origin = CookieOrigin(question.cookies, of: request, options: store?.options ?? [])
        url = question.request.location
    }

    /// Whether the cache can have an answer at all.
    var mayBeAnswered: Bool {
        switch policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: false
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
            .reloadRevalidatingCacheData:
            true
        }
    }

    func choose(_ entries: [CacheEntry]) -> CacheEntry? {
        CacheRules.select(
            from: entries,
            head: \.head,
            for: request,
            under: scope,
            decodes: decodes,
            origin: origin
        )
    }

    func finding(_ entry: CacheEntry?, now: CacheInstant) -> CacheFinding {
        let plan = CacheRules.plan(request, policy: CacheUse(policy), stored: entry?.head, now: now)
        switch (plan, entry) {
        case (.network(let fields), _): return .network(fields)
        case (.serve, let entry?): return .serve(hit(entry))
        case (.validate(let fields), let entry?): return .validate(hit(entry), fields)
        case (.serveAndValidate(let fields), let entry?): return .serveAndValidate(hit(entry), fields)
        case (.fail, _), (.serve, nil): return .fail
        // A plan without a stored response never validates one.
        case (.validate, nil), (.serveAndValidate, nil): return .network(HTTPHeaders())
        }
    }

    private func hit(_ entry: CacheEntry) -> CacheHit { CacheHit(entry: entry, for: request, at: url, ticket: ticket) }
}
