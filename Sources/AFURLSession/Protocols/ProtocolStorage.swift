import AFBase
import AFLoop
import AFState
import Foundation

/// Collects a response of a URL protocol class for the cache. Confined to the loop.
final class ProtocolStorage {
    private let cache: URLCache
    private let request: URLRequest
    private let response: HTTPURLResponse
    private let policy: URLCache.StoragePolicy
    private let scope: TrustScope
    private let limit: Int
    /// Nil once the body is too long to store.
    private var body: Data? = Data()

    /// Nil if the cache stores nothing.
    init?(
        _ response: URLResponse,
        to request: URLRequest,
        _ policy: URLCache.StoragePolicy,
        under scope: TrustScope,
        of load: Load
    ) {
        let request = load.naming(request)
        if case .never = load.consumer.caching { return nil }
        guard policy != .notAllowed, let response = response as? HTTPURLResponse, let cache = load.session.cache.cache,
            let question = CacheRequest.of(request),
            let head = StoredHead(
                response,
                storedFor: question,
                under: scope,
                at: cache.store.now,
                options: cache.store.options
            ),
            CacheRules.mayStore(head, for: question) != .no
        else { return nil }
        self.cache = cache
        self.request = request
        self.response = response
        self.policy = policy
        self.scope = scope
        limit = cache.store.bodyLimit
    }

    func append(_ data: Data) {
        guard let count = body?.count else { return }
        if data.count <= limit - count { body?.append(data) } else { body = nil }
    }

    /// The body is complete: stores it unless the delegate objects.
    func finish(_ load: Load) {
        // The task may have become a download meanwhile.
        if case .never = load.consumer.caching { return }
        guard let body else { return }
        let proposal = CachedURLResponse(response: response, data: body, userInfo: nil, storagePolicy: policy)
        let (cache, request, scope) = (cache, request, scope)
        let worker = load.session.world.workers.sharedWorker()
        let store: @Sendable (CachedURLResponse) -> Void = { response in
            worker.run { cache.store(response, for: request, under: scope) }
        }
        guard case .ifDelegateAdmits = load.consumer.caching, let (delegate, task) = load.dataDelegate,
            !load.session.isMissing(.willCacheResponse, in: delegate)
        else { return store(proposal) }
        let isAnswered = Lock(false)
        load.session.outbox.post(
            .block {
                delegate.urlSession(task.session, dataTask: task, willCacheResponse: proposal) { answer in
                    let isFirst = isAnswered.withLock { isAnswered in
                        defer { isAnswered = true }
                        return !isAnswered
                    }
                    if isFirst, let answer { store(answer) }
                }
            }
        )
    }
}
