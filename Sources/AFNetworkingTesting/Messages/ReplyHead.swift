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
