import AFTransport
import Foundation

/// A question of a task to the cache.
struct CacheQuestion: Sendable {
    let request: WireRequest
    let policy: URLRequest.CachePolicy
    /// Where the server would be reached, and why believed; see ``CacheDoor/partition(for:security:isDecidedElsewhere:by:through:)``.
    let partition: CachePartition
    /// Whether the task gets bodies without their content coding.
    let decodes: Bool
}
