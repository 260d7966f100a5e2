import AFLoop
import AFTransport
import AFWire
import Foundation

// What a session adds to a request before it sends it, and learns from the head of the response.

extension TaskCore {
    /// The request over TLS, if its host asks for that (HSTS); else nil.
    func secured(_ request: WireRequest) throws(RequestRejection) -> WireRequest? {
        guard request.endpoint.scheme == .http, session.wantsTLS(request.endpoint), let task,
            var made = presentRequest
        else { return nil }
        made.url = made.url?.withTLS
        let frozen = try freeze(made, request, with: headers(of: task, for: made))
        course(beginningWith: made).request = made
        becomes(made)
        return frozen
    }

    /// The request with the session's cookies, and with credentials that go unasked or that the server asked for.
    func dressed(_ request: WireRequest) -> WireRequest {
        var fields = credentials(for: request)
        if let cookies = session.cookies, !cookies.isEmpty, let door = cookieDoor,
            let value = door.field(for: request.url, now: session.world.wallClock())
        {
            fields.insert(HeadField("Cookie", presentRequest?.cookieField(value) ?? value), at: 0)
        }
        return request.replacing(fields)
    }

    /// Whether the request has to wait for cookies, because the session still reads the public suffix list.
    ///
    /// - Parameter onwards: Called once the session has read it, if so.
    func waitsForCookies(_ onwards: @escaping () -> Void) -> Bool {
        let loop = session.loop
        let waiting = LoopBound(confined: (core: self, onwards: onwards), on: loop)
        let mustWait = cookieDoor?.mustWait {
            loop.enqueue(in: .all) {
                let (core, onwards) = waiting.value
                core.postponeIfSuspended(onwards)
            }
        }
        guard mustWait == true else { return false }
        startClock()
        return true
    }

    /// Learns from the head of a final response: cookies and HSTS.
    func learn(from head: ResponseHead, of transfer: Transfer) {
        let request = transfer.request
        // This response is the proxy's.
        if head.status == 407, transfer.key.route != nil { return }
        if session.cookies != nil, head.setsCookies {
            cookieDoor?.receive(head.headers, from: request.url, now: session.world.wallClock())
        }
        // RFC 6797 §8.1: learn nothing from a server that only a delegate has accepted.
        if let store = session.settings.transportSecurity, request.endpoint.scheme == .https,
            !transfer.wasDecidedElsewhere
        {
            store.learn(head.headers, from: request.endpoint.host, at: session.world.wallClock())
        }
    }

    private var cookieDoor: CookieDoor? {
        presentRequest.flatMap { CookieDoor(session.settings.cookies, $0.contents.cookies) }
    }
}

extension Transfer {
    /// Whether a delegate decided about the connection's server: perhaps that of another task, if the connection is
    /// reused.
    var wasDecidedElsewhere: Bool {
        request.endpoint.scheme == .https && times.connection?.handshake?.wasDecidedElsewhere != false
    }
}

extension SessionCore {
    var decodesContent: Bool { settings.content.decodes }

    func wantsTLS(_ endpoint: Endpoint) -> Bool {
        settings.transportSecurity?.covers(endpoint.host, at: world.wallClock()) ?? false
    }
}

extension URL {
    /// RFC 6797 §8.3: the port stays, unless it is that of http.
    var withTLS: URL? {
        let text = absoluteString
        guard let endpoint = try? RequestURL(text).endpoint, endpoint.scheme == .http else { return nil }
        var bytes = Array(text.utf8)
        let start = "http://".utf8.count
        let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        if endpoint.isDefaultPort, let colon = bytes[start..<end].lastIndex(of: UInt8(ascii: ":")),
            bytes[(colon + 1)..<end].allSatisfy({ (0x30...0x39).contains($0) })
        {
            bytes.removeSubrange(colon..<end)
        }
        bytes.replaceSubrange(..<"http".utf8.count, with: "https".utf8)
        return URL(string: String(decoding: bytes, as: UTF8.self))
    }
}
