package import FoundationEssentials

/// A stored response. It never changes: code that holds one may read it after the store has removed it.
package final class CacheEntry: Sendable {
    /// Status 0 stands for a response that is not HTTP's; no task is answered with it.
    package let head: StoredHead
    package let body: Data
    /// The response as the program stored it; nil for one that a session stored.
    package let presented: (any AnyObject & Sendable)?
    /// The dictionary as a property list, which can be written to disk.
    package let userInfo: Data?
    /// Whether it may be written to disk, as far as its partition allows it.
    package let mayGoToDisk: Bool
    package let id: CacheEntryID

    /// About how many bytes an entry takes besides its body.
    static let overhead = 512

    package init(
        _ head: StoredHead,
        body: Data,
        presented: (any AnyObject & Sendable)? = nil,
        userInfo: Data? = nil,
        mayGoToDisk: Bool
    ) {
        self.head = head
        self.body = body
        self.presented = presented
        self.userInfo = userInfo
        self.mayGoToDisk = mayGoToDisk
        id = CacheEntryID(key: head.key.digest, variant: head.variant)
    }

    package var size: Int {
        body.count + head.headers.withBytes(\.count) + (userInfo?.count ?? 0) + CacheEntry.overhead
    }

    /// Whether the entry may be written to disk.
    package var isLasting: Bool { mayGoToDisk && head.partition.isLasting }
}

/// Identifies an entry: by its URL, and among the entries of that URL.
package struct CacheEntryID: Sendable, Hashable {
    package let key: CacheDigest
    package let variant: CacheDigest

    init(key: CacheDigest, variant: CacheDigest) {
        self.key = key
        self.variant = variant
    }

    /// The name of the entry's file: digits and a hyphen, so that no URL can name another file, on any file system.
    package var name: String { "\(key.text)-\(variant.text)" }

    init?(name: String) {
        let bytes = Array(name.utf8)
        guard bytes.count == 65, bytes[32] == UInt8(ascii: "-"), let key = CacheDigest(bytes[..<32]),
            let variant = CacheDigest(bytes[33...])
        else { return nil }
        self.init(key: key, variant: variant)
    }
}
