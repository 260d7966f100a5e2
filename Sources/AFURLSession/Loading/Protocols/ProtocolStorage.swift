import AFLoop
import AFState
import AFTransport
import Foundation

/// Collects a response of a URL protocol class for the cache. Confined to the loop.
final class ProtocolStorage: StorableResponse {
    private let cache: URLCache
    private let question: CacheRequest
    /// Does what may wait for the disk.
    private let worker: any BlockingWorker
    private let request: URLRequest
    private let response: HTTPURLResponse
    private let policy: URLCache.StoragePolicy
    private let scope: TrustScope
    private let limit: Int
    /// Nil once the body is too long to store.
    private var body: Data? = Data()

    /// Nil if the cache stores nothing.
    init?(
        response: URLResponse,
        to request: URLRequest,
        policy: URLCache.StoragePolicy,
        under scope: TrustScope,
        of load: Load
    ) {
        let request = load.naming(request)
        if load.consumer.caching.storesNothing { return nil }
        guard policy != .notAllowed, let response = response as? HTTPURLResponse, let cache = load.cache.cache,
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
        self.question = question
        worker = load.session.world.workers.sharedWorker()
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

    func finish() {
        if let proposal { finish(as: proposal) }
    }

    /// The memory has it at once. The disk follows on a worker, which may wait for it.
    func finish(as answer: CachedURLResponse?) {
        let store = cache.store
        guard body != nil, let answer,
            let entry = CacheEntry(answer, for: request, under: scope, at: store.now, options: store.options)
        else { return }
        store.insert(entry) { former in
            CacheRules.matches(former.head, request: question, under: scope, decodes: true)
        }
        worker.run { store.catchUp() }
    }

    var isForDisk: Bool { body != nil && policy == .allowed }

    private var proposal: CachedURLResponse? {
        body.map { CachedURLResponse(response: response, data: $0, userInfo: nil, storagePolicy: policy) }
    }

    func proposal(at url: URL) -> CachedURLResponse? { proposal }
}
