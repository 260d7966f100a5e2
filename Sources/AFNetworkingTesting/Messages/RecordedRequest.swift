import AFWire
public import Foundation

/// A request as a `TestServer` received it.
public struct RecordedRequest: Sendable, Hashable {
    /// The method, in the case the client sent.
    public let method: String
    /// The request target exactly as sent: `/path?query`, an absolute URL, `host:port` or `*`.
    public let target: String
    /// "HTTP/1.1" or "HTTP/1.0".
    public let version: String
    /// The header fields in order.
    public internal(set) var headers: HeaderFields
    /// The head exactly as received, from the request line to the empty line.
    public let rawHead: Data
    /// The number of the connection; the first one the server accepted is 1.
    public let connection: Int
    /// How many requests its connection had before this one.
    public let indexOnConnection: Int
    /// Whether it arrived through TLS.
    public internal(set) var isSecure = false
    /// Whether the client wants the connection to stay open (RFC 9112 section 9.3).
    let wantsPersistence: Bool
    /// Whether the client waits for "100 Continue".
    let expectsContinue: Bool

    /// The body without transfer framing, up to the server's `storedBodyLimit`.
    public internal(set) var body = Data()
    /// How many bytes of body arrived, stored or not.
    public internal(set) var bodyByteCount = 0
    /// The trailer fields of a chunked body.
    public internal(set) var trailers: HeaderFields = [:]
    /// Whether the whole message arrived.
    ///
    /// False if the client went away in the middle, or if the server replied before it read the body.
    public internal(set) var isComplete = false
    /// What the `:name` and `*` segments of the route's pattern stood for, percent-decoded.
    public internal(set) var parameters: [String: String] = [:]

    /// The body as text; bytes that are not UTF-8 become replacement characters.
    public var bodyText: String { String(decoding: body, as: UTF8.self) }

    /// The body decoded as JSON.
    public func json<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    /// The path of the target without query, as sent (still percent-encoded).
    public var path: String { RequestTarget(target).path }

    /// The text after the first `?` of the target, as sent.
    public var query: String? { RequestTarget(target).query }

    /// The query split at `&` and `=`, percent-decoded.
    public var queryItems: [URLQueryItem] {
        (query ?? "").utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map { RequestTarget.percentDecoded($0) } ?? ""
            return URLQueryItem(name: name, value: parts.count > 1 ? RequestTarget.percentDecoded(parts[1]) : nil)
        }
    }

    init(received: RequestDecoder.Received, rawHead: Data, connection: Int, index: Int) {
        method = received.request.method
        target = received.request.target
        version = received.version == .http10 ? "HTTP/1.0" : "HTTP/1.1"
        headers = HeaderFields(received.request.headers)
        wantsPersistence = received.persistent
        // RFC 9110 section 10.1.1: a server ignores the expectation of a 1.0 client.
        expectsContinue = received.expectsContinue && received.version != .http10
        self.rawHead = rawHead
        self.connection = connection
        indexOnConnection = index
    }
}

extension RecordedRequest: CustomStringConvertible {
    /// "GET /hello (connection 1, request 0)", for messages of failed tests.
    public var description: String {
        "\(method) \(target) (connection \(connection), request \(indexOnConnection))"
    }
}
