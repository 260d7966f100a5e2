import AFState
import AFWire
import Foundation

/// A question of a task to the cache.
struct CacheQuestion: Sendable {
    let request: WireRequest
    let policy: URLRequest.CachePolicy
    /// How the server is reached, and why it is trusted.
    let scope: TrustScope
    /// Of the cookies that the session has added to the request.
    let cookies: CookieEpoch
    /// Whether the task gets bodies without their content coding.
    let decodes: Bool
}

extension CacheUse {
    init(_ policy: URLRequest.CachePolicy) {
        self =
            switch policy {
            case .useProtocolCachePolicy: .useProtocolCachePolicy
            case .reloadIgnoringLocalCacheData: .reloadIgnoringLocalCacheData
            case .reloadIgnoringLocalAndRemoteCacheData: .reloadIgnoringLocalAndRemoteCacheData
            case .returnCacheDataElseLoad: .returnCacheDataElseLoad
            case .returnCacheDataDontLoad: .returnCacheDataDontLoad
            case .reloadRevalidatingCacheData: .reloadRevalidatingCacheData
            }
    }
}

/// The result of a look-up.
enum CacheFinding: Sendable {
    /// Send the request, with those of these fields that it lacks.
    case network(HTTPHeaders)
    /// Answer with this hit and send nothing.
    case serve(CacheHit)
    /// Send the request with these fields. Answer with this hit on the 304 that they ask for, or if the hit may stand in
    /// for an error; otherwise with the server's response.
    case validate(CacheHit, HTTPHeaders)
    /// Answer with this hit, and send the request with these fields only to update the cache.
    case serveAndValidate(CacheHit, HTTPHeaders)
    /// Fail the task: the response is not stored, and the request may not be sent.
    case fail
}
