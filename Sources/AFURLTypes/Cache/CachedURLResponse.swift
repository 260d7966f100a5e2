public import Foundation

// All properties are constants. The dictionary belongs to the program, which promises by handing it over that it may be
// used on another thread.
/// A response with its body, as it is kept in a ``URLCache``.
public final class CachedURLResponse: NSObject, NSCopying, @unchecked Sendable {
    /// The response.
    public let response: URLResponse
    /// The body, without content coding.
    public let data: Data
    /// Values that the program keeps with the response. They are written to disk if they are a property list.
    public let userInfo: [AnyHashable: Any]?
    /// Where the response may be kept.
    public let storagePolicy: URLCache.StoragePolicy

    /// A response that may be kept in memory and on disk.
    public convenience init(response: URLResponse, data: Data) {
        self.init(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
    }

    /// A response with its body, dictionary and policy.
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
                && CachedURLResponse.areEqual(userInfo, right: other.userInfo))
    }

    private static func areEqual(_ left: [AnyHashable: Any]?, right: [AnyHashable: Any]?) -> Bool {
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

    /// The same for equal cached responses.
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
