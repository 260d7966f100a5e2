public import Foundation

// Constants only. What is in the dictionary is the program's own, which promises by
// handing it over that it may be used on another thread.
/// A response with its body, as it is kept in a ``URLCache``.
public final class CachedURLResponse: NSObject, NSCopying, @unchecked Sendable {
    /// The response.
    public let response: URLResponse
    /// Its body, without content coding.
    public let data: Data
    /// Whatever the program wants to keep with it. It goes to disk if it is a property list.
    public let userInfo: [AnyHashable: Any]?
    /// Where it may be kept.
    public let storagePolicy: URLCache.StoragePolicy

    /// A response that may be kept in memory and on disk.
    public convenience init(response: URLResponse, data: Data) {
        self.init(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
    }

    /// A response with everything that is kept with it.
    public init(
        response: URLResponse,
        data: Data,
        userInfo: [AnyHashable: Any]? = nil,
        storagePolicy: URLCache.StoragePolicy
    ) {
        self.response = response
        self.data = data
        self.userInfo = userInfo
        self.storagePolicy = storagePolicy
        super.init()
    }

    /// Returns the cached response itself, which never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the other object has an equal response, body, policy and dictionary.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CachedURLResponse else { return false }
        return self === other
            || (response.isEqual(other.response) && data == other.data && storagePolicy == other.storagePolicy
                && CachedURLResponse.areEqual(userInfo, other.userInfo))
    }

    private static func areEqual(_ left: [AnyHashable: Any]?, _ right: [AnyHashable: Any]?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        guard left.count == right.count else { return false }
        return left.allSatisfy { key, value in
            guard let other = right[key] else { return false }
            guard let value = value as? AnyHashable, let other = other as? AnyHashable else {
                return (value as? NSObject)?.isEqual(other) ?? false
            }
            return value == other
        }
    }

    /// The same for equal ones.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(response.hash)
        hasher.combine(data)
        hasher.combine(storagePolicy)
        return hasher.finalize()
    }

    /// The response and the length of its body.
    public override var description: String { "<CachedURLResponse \(response), \(data.count) bytes>" }
}
