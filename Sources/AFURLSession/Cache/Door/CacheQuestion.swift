import AFState
import AFTransport
import AFWire
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

// MARK: - Requests in the words of the rules

extension CacheRequest {
    /// Nil if this library could not have made the head.
    init?(_ request: WireRequest) {
        guard let headers = Self.headers(inHead: request.headBytes) else { return nil }
        let hasBody = (request.bodyLength ?? 0) > 0 || request.isChunked
        self.init(method: request.method, url: request.url, headers: headers, hasBody: hasBody)
    }

    /// A request as a caller wrote it, without the fields that a session adds. Nil if no response to it could be
    /// stored.
    init?(_ request: URLRequest) {
        guard let location = request.url, let url = try? RequestURL(location.absoluteString) else { return nil }
        let contents = request.contents
        guard let headers = HTTPHeaders(checking: contents.fields.dictionary ?? [:]) else { return nil }
        let hasBody = contents.body?.isEmpty == false || contents.bodyStream != nil
        self.init(method: contents.method, url: url, headers: headers, hasBody: hasBody)
    }

    private static func headers(inHead head: [UInt8]) -> HTTPHeaders? {
        guard let end = head.firstIndex(of: UInt8(ascii: "\n")), head.count >= end + 3 else { return nil }
        return HTTPHeaders(checkingBlock: Array(head[(end + 1)..<(head.count - 2)]))
    }
}

extension CachePartition {
    /// The same partition where connections are made to another endpoint, or not to every address.
    func reached(at endpoint: Endpoint, within limits: LimitSettings) -> CachePartition {
        var partition = self
        if let place = limits.overrides.place(of: endpoint) { partition = partition.redirected(to: place.text) }
        guard let filter = limits.addressFilter else { return partition }
        return partition.filtered(
            by: filter.number,
            isLasting: filter.number == AddressFilter.numberOfPublicOnly
        )
    }
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
