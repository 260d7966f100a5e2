import Foundation

/// A stored response. It never changes: code that holds one may read it after the store has removed it.
final class CacheEntry: Sendable {
    /// Status 0 stands for a response that is not HTTP's; no task is answered with it.
    let head: StoredHead
    let body: Data
    /// The response as the program stored it; nil for one that a session stored.
    let presented: CachedURLResponse?
    /// The dictionary as a property list, which can be written to disk.
    let userInfo: Data?
    let policy: URLCache.StoragePolicy
    let id: CacheEntryID

    /// About how many bytes an entry takes besides its body.
    static let overhead = 512

    init(
        _ head: StoredHead,
        body: Data,
        presented: CachedURLResponse? = nil,
        userInfo: Data? = nil,
        policy: URLCache.StoragePolicy
    ) {
        self.head = head
        self.body = body
        self.presented = presented
        self.userInfo = userInfo
        self.policy = policy
        id = CacheEntryID(key: head.key.digest, variant: head.variant)
    }

    /// The same body with other fields.
    func updated(_ head: StoredHead, mayGoToDisk: Bool) -> CacheEntry {
        let policy: URLCache.StoragePolicy = mayGoToDisk ? self.policy : .allowedInMemoryOnly
        guard let presented, let url = presented.response.url else {
            return CacheEntry(head, body: body, userInfo: userInfo, policy: policy)
        }
        let response = HTTPURLResponse(
            url: url,
            status: head.status,
            version: head.version,
            headers: head.headers,
            decodes: head.isDecoded
        )
        let cached = CachedURLResponse(
            response: response,
            data: body,
            userInfo: presented.userInfo,
            storagePolicy: policy
        )
        return CacheEntry(head, body: body, presented: cached, userInfo: userInfo, policy: policy)
    }

    var size: Int { body.count + head.headers.withBytes(\.count) + (userInfo?.count ?? 0) + CacheEntry.overhead }

    /// Whether the entry may be written to disk.
    var isLasting: Bool { policy == .allowed && head.partition.isLasting }
}

/// Identifies an entry: by its URL, and among the entries of that URL.
struct CacheEntryID: Sendable, Hashable {
    let key: CacheDigest
    let variant: CacheDigest

    init(key: CacheDigest, variant: CacheDigest) {
        self.key = key
        self.variant = variant
    }

    /// The name of the entry's file: digits and a hyphen, so that no URL can name another file, on any file system.
    var name: String { "\(key.text)-\(variant.text)" }

    init?(name: String) {
        let bytes = Array(name.utf8)
        guard bytes.count == 65, bytes[32] == UInt8(ascii: "-"), let key = CacheDigest(bytes[..<32]),
            let variant = CacheDigest(bytes[33...])
        else { return nil }
        self.init(key: key, variant: variant)
    }
}
