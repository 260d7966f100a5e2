import AFTransport
import Foundation

/// A question of a task to the cache.
struct CacheQuestion: Sendable {
    let request: WireRequest
    let policy: URLRequest.CachePolicy
    /// How the server is reached, and why it is trusted; see
    /// ``CacheDoor/partition(for:security:isDecidedElsewhere:by:through:)``.
    let partition: CachePartition
    /// Whether the task gets bodies without their content coding.
    let decodes: Bool
}
