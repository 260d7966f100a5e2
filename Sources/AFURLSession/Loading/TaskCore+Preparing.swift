import AFLoop
import AFTransport
import AFWire
import Foundation

// What a session makes of a request before it is sent, and learns from the head that comes back.

extension TaskCore {
    /// The request over TLS, if that is how its host wants to be talked to; else nil.
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

    /// The request with what the session has for it: cookies, and credentials that are sent unasked or were asked for.
    func dressed(_ request: WireRequest) -> WireRequest {
        var fields = credentials(for: request)
        if let cookies = session.cookies, !cookies.isEmpty, let door = cookieDoor,
            let value = door.field(for: request.url, now: session.world.wallClock())
        {
            fields.insert(HeadField("Cookie", presentRequest?.cookieField(value) ?? value), at: 0)
        }
        return request.replacing(fields)
    }

    /// Whether cookies have arrived that cannot be sent yet, because the public suffix list is being read.
    ///
    /// - Parameter onwards: Called when they can, if so.
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

    /// What the head of a final response says beyond the response.
    func learn(from head: ResponseHead, of transfer: Transfer) {
        let request = transfer.request
        // That is the proxy speaking.
        if head.status == 407, transfer.key.route != nil { return }
        if session.cookies != nil, head.setsCookies {
            cookieDoor?.receive(head.headers, from: request.url, now: session.world.wallClock())
        }
        // RFC 6797 §8.1: not from a server that only a delegate vouches for.
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
    /// A delegate had a say in whom the connection leads to: perhaps that of another task, if it is an older one.
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
