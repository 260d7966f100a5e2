import AFTransport
import AFWire
import Foundation
import Glibc

/// The part of a request that the rules of caching read.
struct CacheRequest: Sendable {
    enum Method: Sendable {
        case get
        case head
        /// Changes nothing on the server (RFC 9110 §9.2.1).
        case safe
        case unsafe
    }

    let method: Method
    let url: RequestURL
    let key: CacheKey
    /// The fields as they are sent.
    let headers: HTTPHeaders
    let control: CacheControl
    let hasBody: Bool

    init(method: String, url: RequestURL, headers: HTTPHeaders, hasBody: Bool = false) {
        self.method = Self.kind(of: method)
        self.url = url
        key = CacheKey(url, host: headers.firstBytes("Host"))
        self.headers = headers
        control = Self.control(headers)
        self.hasBody = hasBody
    }

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

    private static func kind(of method: String) -> Method {
        switch method {
        case "GET": .get
        case "HEAD": .head
        case "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH": .safe
        default: .unsafe
        }
    }

    private static func control(_ headers: HTTPHeaders) -> CacheControl {
        var control = CacheControl(of: headers)
        // RFC 9111 §5.4: the older field counts where the newer one is missing.
        guard headers.contains("Pragma"), !headers.contains("Cache-Control") else { return control }
        control.noCache = headers.values("Pragma").contains { CacheControl($0).noCache }
        return control
    }

    /// Whether a stored response may be the answer at all.
    var mayBeAnswered: Bool {
        (method == .get || method == .head) && !hasBody && !isPartial && !isConditional
    }

    /// The request asks for a part. The cache neither stores parts nor makes them of a stored response.
    var isPartial: Bool { headers.contains("Range") || headers.contains("If-Range") }

    /// The caller validates a copy of its own and wants to see the answer.
    var isConditional: Bool {
        headers.contains("If-None-Match") || headers.contains("If-Modified-Since") || headers.contains("If-Match")
            || headers.contains("If-Unmodified-Since")
    }

    // MARK: - Before anything is read

    /// Whether the head has a field that tells caches what to do. Allocates nothing.
    static func mentionsCaches(_ head: [UInt8]) -> Bool {
        head.withUnsafeBytes { bytes in
            var start = 0
            while let lineEnd = ByteScanning.firstIndex(of: 0x0A, in: bytes, from: start) {
                start = lineEnd + 1
                guard start < bytes.count, bytes[start] | 0x20 == UInt8(ascii: "c"), start + 14 <= bytes.count
                else { continue }
                let name = UnsafeRawBufferPointer(rebasing: bytes[start..<start + 14])
                if ByteScanning.equalsIgnoringCase(name, "cache-control:") { return true }
            }
            return false
        }
    }
}

extension CacheControl {
    /// The directives of all lines together.
    init(of headers: HTTPHeaders) {
        self.init()
        var control = CacheControl()
        headers.forEach { name, value in
            if ByteScanning.equalsIgnoringCase(name, "cache-control") { control.add(value) }
        }
        self = control
    }
}
