import AFLoop
import AFTransport

/// A response from the cache that answers the load.
struct StoredAnswer {
    let hit: CacheHit
    /// The request that it answers.
    let request: WireRequest
    /// When the load asked the cache; nil if it was just now.
    var asked: LoopInstant?
    /// Whether the server has just confirmed it.
    var isConfirmed = false
    /// What asks the server about it in the background.
    var refresh: (request: WireRequest, question: CacheQuestion)?
}
