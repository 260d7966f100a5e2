package import AFWire
public import Foundation

/// The head of a response to an HTTP request.
///
/// Holds the fields in the bytes they arrived in. It makes strings, and everything derived from fields, anew each time
/// you ask; keep what you use often.
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    /// The fields in the bytes of the wire.
    package let headers: HTTPHeaders
    package let version: HTTPVersion
    /// The range of the reason phrase in the block of the fields.
    private let phrase: Range<UInt32>?
    private let status: Int
    /// The length in `Content-Length`, whatever the coding of the body.
    package let announcedLength: Int64
    /// The codings of the body, and which of them the session removes.
    package let contentPlan: ContentPlan
    private let precedingHeads: [ResponseHead]

    /// Makes a response, for tests and caches. Nil if a field name is no token or a value holds control characters.
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {
        guard let headers = HTTPHeaders(checking: headerFields ?? [:]) else { return nil }
        self.headers = headers
        version = httpVersion == "HTTP/1.0" ? .http10 : .http11
        phrase = nil
        status = statusCode
        contentPlan = ContentPlan(headers, status: statusCode)
        announcedLength = Self.announcedLength(headers)
        precedingHeads = []
        super.init(url: url)
    }

    /// - Parameters:
    ///   - decodes: Whether the session decodes the body, if it can.
    ///   - preceding: The heads in front of this one.
    package init(url: URL, head: ResponseHead, decodes: Bool = true, after preceding: [ResponseHead] = []) {
        precedingHeads = preceding
        headers = head.headers
        version = head.version
        phrase = head.reasonRange
        status = head.status
        contentPlan = decodes && head.hasContentCoding ? ContentPlan(head.headers, status: head.status) : .asItIs
        announcedLength = head.contentLength.flatMap { Int64(exactly: $0) } ?? -1
        super.init(url: url)
    }

    /// Makes a response that was stored.
    package init(url: URL, status: Int, version: HTTPVersion, headers: HTTPHeaders, decodes: Bool = true) {
        self.headers = headers
        self.version = version
        phrase = nil
        self.status = status
        contentPlan = decodes ? ContentPlan(headers, status: status) : .asItIs
        announcedLength = Self.announcedLength(headers)
        precedingHeads = []
        super.init(url: url)
    }

    /// The responses in front of this one that the same request led to: that of a proxy to `CONNECT`, if a tunnel was made
    /// for the request, and interim ones (1xx). Empty in responses from caches and archives.
    public var precedingResponses: [HTTPURLResponse] {
        guard let url, !precedingHeads.isEmpty else { return [] }
        return precedingHeads.map { HTTPURLResponse(url: url, head: $0) }
    }

    /// The status code.
    open var statusCode: Int { status }

    /// The version of the protocol that the server spoke: `HTTP/1.1` or `HTTP/1.0`.
    public var httpVersion: String { version == .http10 ? "HTTP/1.0" : "HTTP/1.1" }

    /// The text that the server sent behind the status code; empty if it sent none, and in responses from caches and
    /// archives. For people only: servers send what they like.
    public var reasonPhrase: String { phrase.map(headers.startText) ?? "" }

    /// The media type of `Content-Type` in lower case without parameters; nil when there is none or it is malformed.
    open override var mimeType: String? { headers.mediaType }

    /// The `charset` of `Content-Type` in lower case; nil when there is none.
    open override var textEncodingName: String? { headers.charset }

    /// The length in `Content-Length`. -1 when it is missing, malformed or overruled by a `Transfer-Encoding`, and when
    /// the session decodes the body, since it is then not the length you get. The field itself stays as it arrived.
    open override var expectedContentLength: Int64 { contentPlan.changesLength ? -1 : announcedLength }

    /// Whether you get the body with a content coding: the session does not know the coding, or does not decode.
    public var hasUndecodedContent: Bool { headers.hasCodedContent && !contentPlan.changesLength }

    /// A name to save the body under: from `Content-Disposition`, else the last component of the URL's path, else
    /// `Unknown`. It has no folders, leading dots or control characters.
    open override var suggestedFilename: String? {
        contentDispositionFilename ?? Self.fileName(fromPathOf: url)
    }

    /// The name that `Content-Disposition` gives, made harmless as in ``suggestedFilename``. Nil if it gives none.
    public var contentDispositionFilename: String? {
        let disposition = headers.firstBytes("Content-Disposition").flatMap { bytes in
            bytes.withUnsafeBytes { ContentDisposition($0) }
        }
        return disposition?.fileName
    }

    private static func announcedLength(_ headers: HTTPHeaders) -> Int64 {
        // `identity` is no coding: earlier versions of HTTP used it to say that there is none (RFC 7230 §A.2).
        let isCoded = headers.valuesInBytes("Transfer-Encoding").contains { codings in
            !codings.withUnsafeBytes { ByteScanning.equalsIgnoringCase($0, lowercase: "identity") }
        }
        guard !isCoded, let value = headers.firstBytes("Content-Length") else { return -1 }
        return value.withUnsafeBytes { ByteScanning.decimal($0) } ?? -1
    }

    // MARK: - Coding

    /// Reads an archived response, also one of FoundationNetworking; nil if the archive's content cannot be one.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        let isOwn = coder.containsValue(forKey: ResponseKey.fields.rawValue)
        let archive = FoundationArchive(coder)
        guard let headers = isOwn ? Self.headers(coder) : archive.headers,
            let status = isOwn ? coder.decodeInteger(forKey: ResponseKey.status.rawValue) : archive.statusCode
        else { return nil }
        self.headers = headers
        self.status = status
        let isOld = isOwn && coder.decodeInteger(forKey: ResponseKey.version.rawValue) == 0
        version = isOld ? .http10 : .http11
        phrase = nil
        contentPlan = ContentPlan(headers, status: status)
        announcedLength = Self.announcedLength(headers)
        precedingHeads = []
        super.init(urlFrom: coder)
    }

    private static func headers(_ coder: NSCoder) -> HTTPHeaders? {
        coder.decodeObject(of: NSData.self, forKey: ResponseKey.fields.rawValue)
            .flatMap { HTTPHeaders(checkingBlock: [UInt8](Data(referencing: $0))) }
    }

    /// Archives the response with its fields byte for byte.
    open override func encode(with coder: NSCoder) {
        coder.encodeText(url?.absoluteString, key: .url)
        coder.encode(status, forKey: ResponseKey.status.rawValue)
        coder.encode(Int(version.rawValue), forKey: ResponseKey.version.rawValue)
        let block = headers.withBytes { Data($0) }
        coder.encode(NSData(data: block), forKey: ResponseKey.fields.rawValue)
    }

    // MARK: - Comparing and describing

    /// Whether the other object is a response of the same class with the same URL, status and fields.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? HTTPURLResponse, type(of: other) == type(of: self) else { return false }
        return url == other.url && status == other.status && headers == other.headers
    }

    /// Class, status and URL without user name and password.
    open override var description: String {
        "<\(type(of: self)) \(status) \(url?.textWithoutUserInfo ?? "url: nil")>"
    }
}

extension HTTPURLResponse {
    /// A phrase for a status code, in English lower case, whatever the server wrote.
    public class func localizedString(forStatusCode statusCode: Int) -> String {
        if let phrase = phrases[statusCode] { return phrase }
        return switch statusCode {
        case 100..<200: "informational"
        case 200..<300: "success"
        case 300..<400: "redirected"
        case 400..<500: "client error"
        // RFC 9110 §15: a client treats a status above 599 as 5xx.
        case 500..<1000: "server error"
        default: "unknown status"
        }
    }

    /// The codes that IANA has registered. 200 has Foundation's phrase.
    private static let phrases: [Int: String] = [
        100: "continue", 101: "switching protocols", 102: "processing", 103: "early hints",
        104: "upload resumption supported",
        200: "no error", 201: "created", 202: "accepted", 203: "non-authoritative information", 204: "no content",
        205: "reset content", 206: "partial content", 207: "multi-status", 208: "already reported", 226: "im used",
        300: "multiple choices", 301: "moved permanently", 302: "found", 303: "see other", 304: "not modified",
        305: "needs proxy", 307: "temporarily redirected", 308: "permanently redirected",
        400: "bad request", 401: "unauthorized", 402: "payment required", 403: "forbidden", 404: "not found",
        405: "method not allowed", 406: "unacceptable", 407: "proxy authentication required",
        408: "request timed out", 409: "conflict", 410: "no longer exists", 411: "length required",
        412: "precondition failed", 413: "request too large", 414: "requested url too long",
        415: "unsupported media type", 416: "requested range not satisfiable", 417: "expectation failed",
        421: "misdirected request", 422: "unprocessable content", 423: "locked", 424: "failed dependency",
        425: "too early", 426: "upgrade required", 428: "precondition required", 429: "too many requests",
        431: "request header fields too large", 451: "unavailable for legal reasons",
        500: "internal server error", 501: "unimplemented", 502: "bad gateway", 503: "service unavailable",
        504: "gateway timed out", 505: "unsupported version", 506: "variant also negotiates",
        507: "insufficient storage", 508: "loop detected", 510: "not extended",
        511: "network authentication required",
    ]
}
