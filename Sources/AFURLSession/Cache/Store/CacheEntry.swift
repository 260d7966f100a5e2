import Foundation

/// A stored response. Never changes: who reads it keeps it, whatever becomes of the store.
final class CacheEntry: Sendable {
    /// Of status 0 for a response of another kind than HTTP's, which no task is answered with.
    let head: StoredHead
    let body: Data
    /// As the program gave it, if it did.
    let presented: CachedURLResponse?
    /// What of it can be written down: a property list.
    let userInfo: Data?
    let policy: URLCache.StoragePolicy
    let id: CacheEntryID

    /// What an entry takes besides its body, by and large.
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

    /// Whether it may be written to disk.
    var isLasting: Bool { policy == .allowed && head.partition.isLasting }
}

/// Which entry: the URL's, and which of those.
struct CacheEntryID: Sendable, Hashable {
    let key: CacheDigest
    let variant: CacheDigest

    init(key: CacheDigest, variant: CacheDigest) {
        self.key = key
        self.variant = variant
    }

    /// The name of its file: digits and a hyphen, so that no file system and no URL can
    /// make another file of it.
    var name: String { "\(key.text)-\(variant.text)" }

    init?(name: String) {
        let bytes = Array(name.utf8)
        guard bytes.count == 65, bytes[32] == UInt8(ascii: "-"), let key = CacheDigest(bytes[..<32]),
            let variant = CacheDigest(bytes[33...])
        else { return nil }
        self.init(key: key, variant: variant)
    }
}
