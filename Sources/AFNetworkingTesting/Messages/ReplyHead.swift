/// The head of a reply on the wire, and what request and reply decide about the body and the connection.
struct ReplyHead {
    /// How the body is written.
    enum WireFraming {
        case plain
        case chunked(sizes: [Int], trailers: HeaderFields)
    }

    let bytes: [UInt8]
    let framing: WireFraming
    let sendsBody: Bool
    let staysOpen: Bool

    /// - Parameter request: The request; nil if it was malformed.
    init(_ reply: ServerReply, to request: RecordedRequest?) {
        let isOld = request?.version == "HTTP/1.0"
        let delimiting = Self.delimiting(of: reply, isOld: isOld)
        // RFC 9110 sections 6.4.1 and 9.3.2: never a body after HEAD, 1xx, 204 and 304.
        let forbidsBody = (100..<200).contains(reply.status) || [204, 304].contains(reply.status)
        sendsBody = !forbidsBody && request?.method != "HEAD"

        var headers = reply.headers
        if !headers.namesFraming, !reply.leavesOutLength(for: request) {
            switch delimiting {
            case .length(let count): headers.append("Content-Length", String(count))
            case .chunked: headers.append("Transfer-Encoding", "chunked")
            case .untilClose: break
            }
        }
        var wantsOpen = reply.delivery.keepAlive ?? (request?.wantsPersistence == true)
        let options = headers.tokens(of: "Connection")
        if reply.delivery.keepAlive == nil, options.contains("close") { wantsOpen = false }
        if sendsBody, case .untilClose = delimiting { wantsOpen = false }
        if headers["Connection"] == nil {
            if !wantsOpen {
                headers.append("Connection", "close")
            } else if isOld {
                headers.append("Connection", "keep-alive")
            }
        }
        staysOpen = wantsOpen
        bytes = Self.bytes(status: reply.status, reason: reply.reason, headers: headers)
        if case .chunked(let sizes, let trailers) = delimiting {
            framing = .chunked(sizes: sizes, trailers: trailers)
        } else {
            framing = .plain
        }
    }

    static func bytes(status: Int, reason: String?, headers: HeaderFields) -> [UInt8] {
        var bytes = Array("HTTP/1.1 \(status) \(reason ?? ReasonPhrase.usual(for: status))\r\n".utf8)
        headers.appendLines(to: &bytes)
        bytes.append(contentsOf: "\r\n".utf8)
        return bytes
    }

    private enum Delimiting {
        case length(Int)
        case chunked(sizes: [Int], trailers: HeaderFields)
        case untilClose
    }

    private static func delimiting(of reply: ServerReply, isOld: Bool) -> Delimiting {
        guard let body = reply.body else { return .length(0) }
        switch (reply.framing, body.count) {
        case (.length, let count?): return .length(count)
        case (.untilClose, _): return .untilClose
        // RFC 9112 section 6.1: never chunks to a client older than 1.1.
        case (.chunked, _) where isOld, (.length, nil) where isOld: return .untilClose
        case (.length, nil): return .chunked(sizes: [], trailers: [:])
        case (.chunked(let sizes, let trailers), _): return .chunked(sizes: sizes, trailers: trailers)
        }
    }
}

extension ServerReply {
    /// Whether the bytes after this reply are not HTTP: after 101, or in a tunnel.
    func switchesProtocol(for request: RecordedRequest) -> Bool {
        guard delivery.raw == nil else { return false }
        return status == 101 || request.method == "CONNECT" && (200..<300).contains(status)
    }

    /// RFC 9110 section 8.6: no length after 1xx and 204, nor in a tunnel; after 304 only the length
    /// the body would have had.
    fileprivate func leavesOutLength(for request: RecordedRequest?) -> Bool {
        if (100..<200).contains(status) || status == 204 { return true }
        if status == 304 && body == nil { return true }
        return request.map { switchesProtocol(for: $0) } ?? false
    }
}

extension HeaderFields {
    fileprivate var namesFraming: Bool {
        self["Content-Length"] != nil || self["Transfer-Encoding"] != nil
    }
}

/// Reason phrases of RFC 9110 section 15.
enum ReasonPhrase {
    static func usual(for status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 102: "Processing"
        case 103: "Early Hints"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: ""
        }
    }
}
