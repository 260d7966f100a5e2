package import FoundationEssentials

/// A stored response. It never changes: code that holds one may read it after the store has removed it.
package final class CacheEntry: Sendable {
    /// Status 0 stands for a response that is not HTTP's; no task is answered with it.
    package let head: StoredHead
    package let body: Data
    /// The response as the program stored it; nil for one that a session stored.
    package let presented: (any PresentedResponse)?
    /// The dictionary as a property list, which can be written to disk.
    package let userInfo: Data?
    /// Whether it may be written to disk: never one of a partition that means nothing to another process.
    package let mayGoToDisk: Bool

    /// About how many bytes an entry takes besides its body.
    static let overhead = 512

    package init(
        head: StoredHead,
        body: Data,
        presented: (any PresentedResponse)? = nil,
        userInfo: Data? = nil,
        mayGoToDisk: Bool
    ) {
        self.head = head
        self.body = body
        self.presented = presented
        self.userInfo = userInfo
        let keepsIdentities = head.options.contains(.keepsUsersOnDisk)
        self.mayGoToDisk = mayGoToDisk && head.partition.isLasting(keepsIdentities: keepsIdentities)
    }

    /// It says nothing to a cache, and only a session has stored it.
    var isInert: Bool { head.isInert && presented == nil && !mayGoToDisk }

    package var size: Int { body.count + head.headerSize + (userInfo?.count ?? 0) + CacheEntry.overhead }

    package var id: CacheEntryID { CacheEntryID(head: head) }
}

/// Tells a stored response apart from all others, by its URL, and from others of that URL. An equal one takes its place.
package struct CacheEntryID: Sendable, Hashable {
    let head: StoredHead

    package static func == (one: CacheEntryID, other: CacheEntryID) -> Bool { one.head.isSame(as: other.head) }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(head.key)
    }
}

/// A response as a program stores it. The module that makes it knows what is in it.
package protocol PresentedResponse: AnyObject, Sendable {}
