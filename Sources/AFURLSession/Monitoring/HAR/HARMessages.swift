import AFBase
import AFState
import AFWire
import Foundation

struct HARRequest: Encodable {
    let method: String
    let url: String
    let httpVersion = "HTTP/1.1"
    let cookies: [HARCookie]
    let headers: [HARPair]
    let queryString: [HARPair]
    let postData: HARPostData?
    let headersSize: Int64
    let bodySize: Int64
    let comment: String?

    init(_ exchange: RecordedExchange, mask: SecretMask?) {
        let fields = exchange.fields.fields
        method = exchange.method
        url = exchange.location.map { mask?.url($0) ?? $0.absoluteString } ?? ""
        headers = fields.map { HARPair(name: $0.name, value: mask?.value($0.value, of: $0.name) ?? $0.value) }
        cookies = headers.filter { HTTPText.isSameName($0.name, other: "Cookie") }.flatMap { HARCookie.list($0.value) }
        let query = url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
        queryString = HARPair.list(query)
        headersSize = exchange.sentHeadBytes > 0 ? exchange.sentHeadBytes : -1
        bodySize = exchange.sentBodyBytes
        let type = fields.first { HTTPText.isSameName($0.name, other: "Content-Type") }?.value ?? ""
        switch exchange.requestBody {
        case .none:
            postData = nil
            comment = nil
        case .whole(let data):
            postData = HARPostData(data: data, type: type, mask: mask)
            comment = nil
        case .omitted(let reason):
            postData = HARPostData(omittedFor: reason, type: type)
            comment = reason
        }
    }
}

struct HARPostData: Encodable {
    let mimeType: String
    let params: [HARPair]
    let text: String
    let comment: String?
    /// `base64` if the body is no text.
    let _encoding: String?

    init(data: Data, type: String, mask: SecretMask?) {
        let isForm = ASCII.lowered(type).hasPrefix("application/x-www-form-urlencoded")
        mimeType = type
        (text, _encoding) = (mask?.body(data, type: type) ?? data).harText
        params = isForm && _encoding == nil ? HARPair.list(text[...], plusIsBlank: true) : []
        comment = nil
    }

    init(omittedFor reason: String, type: String) {
        mimeType = type
        params = []
        text = ""
        comment = reason
        _encoding = nil
    }
}

struct HARResponse: Encodable {
    let status: Int
    let statusText: String
    let httpVersion: String
    let cookies: [HARCookie]
    let headers: [HARPair]
    let content: HARContent
    let redirectURL: String
    let headersSize: Int64
    let bodySize: Int64
    /// True if the cache answered.
    let _fromCache: Bool?

    init(_ exchange: RecordedExchange, mask: SecretMask?) {
        let response = exchange.response
        let fields = response?.headerFields ?? []
        let isCached = exchange.fetchType == .localCache
        status = response?.statusCode ?? 0
        statusText = response.map { HTTPURLResponse.localizedString(forStatusCode: $0.statusCode) } ?? ""
        httpVersion = response.map { $0.version == .http10 ? "HTTP/1.0" : "HTTP/1.1" } ?? ""
        headers = fields.map { HARPair(name: $0.name, value: mask?.value($0.value, of: $0.name) ?? $0.value) }
        cookies = headers.filter { HTTPText.isSameName($0.name, other: "Set-Cookie") }.compactMap {
            HARCookie(set: $0.value)
        }
        redirectURL = headers.first { HTTPText.isSameName($0.name, other: "Location") }?.value ?? ""
        content = HARContent(exchange, mask: mask)
        headersSize = exchange.receivedHeadBytes > 0 ? exchange.receivedHeadBytes : -1
        bodySize = response == nil ? -1 : exchange.receivedBodyBytes
        _fromCache = isCached ? true : nil
    }
}

struct HARContent: Encodable {
    let size: Int64
    let compression: Int64?
    let mimeType: String
    let text: String?
    let encoding: String?
    let comment: String?

    init(_ exchange: RecordedExchange, mask: SecretMask?) {
        size = exchange.decodedBodyBytes
        let saved = exchange.decodedBodyBytes - exchange.receivedBodyBytes
        compression = exchange.fetchType == .networkLoad && saved > 0 ? saved : nil
        mimeType = exchange.response?.value(forHTTPHeaderField: "Content-Type") ?? "x-unknown"
        switch exchange.responseBody {
        case .none: (text, encoding, comment) = (nil, nil, nil)
        case .omitted(let reason): (text, encoding, comment) = (nil, nil, reason)
        case .whole(let data):
            (text, encoding) = (mask?.body(data, type: mimeType) ?? data).harText
            comment = nil
        }
    }
}

struct HARCookie: Encodable {
    let name: String
    let value: String
    var path: String?
    var domain: String?
    var expires: String?
    var httpOnly: Bool?
    var secure: Bool?

    private init(pair: Substring) {
        let sign = pair.utf8.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
        name = HARCookie.trimmed(pair[..<sign])
        value = HARCookie.trimmed(Substring(pair.utf8[sign...].dropFirst()))
    }

    /// The text without spaces and tabs around it.
    private static func trimmed(_ text: Substring) -> String {
        String(text).withUTF8Bytes { String(decoding: ByteScanning.trimmingOWS($0), as: UTF8.self) }
    }

    /// The cookies of a `Cookie` field.
    static func list(_ field: String) -> [HARCookie] { parts(of: field).map(HARCookie.init) }

    private static func parts(of field: String) -> [Substring] {
        field.utf8.split(separator: UInt8(ascii: ";")).map(Substring.init)
    }

    /// The cookie of a `Set-Cookie` field.
    init?(set field: String) {
        let parts = HARCookie.parts(of: field)
        guard let first = parts.first else { return nil }
        self.init(pair: first)
        httpOnly = false
        secure = false
        for part in parts.dropFirst() {
            let attribute = HARCookie(pair: part)
            switch ASCII.lowered(attribute.name) {
            case "path": path = attribute.value
            case "domain": domain = attribute.value
            case "expires": expires = HARCookie.date(attribute.value)
            case "httponly": httpOnly = true
            case "secure": secure = true
            default: break
            }
        }
    }

    private static func date(_ text: String) -> String? {
        CookieDate.seconds(text).map { Date(timeIntervalSince1970: Double($0)).harText }
    }
}

extension HARPair {
    /// The items of a query or a form, decoded.
    fileprivate static func list(_ text: Substring, plusIsBlank: Bool = false) -> [HARPair] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { item in
            let sign = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            func decoded(_ part: Substring.UTF8View) -> String {
                let bytes = part.map { plusIsBlank && $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
                let text = String(decoding: bytes, as: UTF8.self)
                return text.removingPercentEncoding ?? text
            }
            return HARPair(name: decoded(item[..<sign]), value: decoded(item[sign...].dropFirst()))
        }
    }
}

extension Data {
    /// The text itself, or the bytes in base64 if they are no text.
    fileprivate var harText: (text: String, encoding: String?) {
        if let text = String(data: self, encoding: .utf8) { return (text, nil) }
        return (base64EncodedString(), "base64")
    }
}
