import AFWire

/// What the servers of a walk have to complain about.
final class SiteBook {
    private(set) var violations: [String] = []
    private(set) var requests = 0
    private let bodies: [String: [UInt8]]

    /// - Parameter bodies: What each task has to send, by its name.
    init(_ bodies: [String: [UInt8]]) {
        self.bodies = bodies
    }

    func report(_ violation: String) { violations.append(violation) }

    func check(_ request: VirtualRequest, at place: SiteMap.Place, _ moment: HTTPResponder.Moment) {
        guard moment == .complete else { return }
        requests += 1
        let name = request.headers.first("X-Task") ?? ""
        let who = "\(name) at \(place.number)"
        if let shown = request.headers.first("Authorization"), shown != SiteBook.basic(place.host) {
            report("\(who): credentials for another host")
        }
        if let key = request.headers.first("X-Api-Key"), key != SiteMap.password(place.host) {
            report("\(who): a secret of another origin")
        }
        for cookie in (request.headers.first("Cookie") ?? "").split(separator: ";") {
            if !cookie.hasSuffix("=\(SiteMap.password(place.host))") { report("\(who): a cookie of another host") }
        }
        if let body = bodies[name], !request.body.isEmpty, request.body != body {
            report("\(who): \(request.body.count) bytes of \(body.count) arrived, or others")
        }
    }

    static func basic(_ host: Int) -> String { HTTPBasic.value("me", SiteMap.password(host)) }
}

/// One host's side of a connection.
final class SiteServer {
    private let map: SiteMap
    private let book: SiteBook
    private let host: Int
    /// The request that has been answered.
    private var answered = -1

    init(_ map: SiteMap, _ book: SiteBook, host: Int) {
        self.map = map
        self.book = book
        self.host = host
    }

    func answer(_ request: VirtualRequest, _ moment: HTTPResponder.Moment, _ client: ServerEnd) {
        guard let place = map.place(request.target), place.host == host else {
            return book.report("\(request.target) was asked of host \(host)")
        }
        book.check(request, at: place, moment)
        guard moment == .complete || place.fate == .early, answered != request.turn else { return }
        answered = request.turn
        deliver(reply(to: request, place), place, client)
    }

    private struct Reply {
        var status: Int
        var fields: String
        var body: [UInt8]?
    }

    private func reply(to request: VirtualRequest, _ place: SiteMap.Place) -> Reply {
        let coding = place.isCoded ? "Content-Encoding: gzip\r\n" : ""
        if place.wantsPassword, request.headers.first("Authorization") == nil {
            let body = place.isCoded ? SiteMap.codedRefusal : SiteMap.refusal
            return Reply(status: 401, fields: coding + "WWW-Authenticate: Basic realm=\"r\"\r\n", body: body)
        }
        var fields = coding + place.keeping.fields
        if place.setsCookie { fields += "Set-Cookie: c\(place.number)=\(SiteMap.password(host)); Path=/\r\n" }
        if request.headers.first("If-None-Match") != nil { return Reply(status: 304, fields: fields) }
        if case .redirect(let status, let next) = place.kind {
            let target = map.places[next]
            fields += "Location: \(target.host == host ? "/p\(next)" : target.url)\r\n"
            return Reply(status: status, fields: fields, body: place.wireBody)
        }
        return Reply(status: 200, fields: fields, body: place.wireBody)
    }

    // MARK: - On its way

    private func deliver(_ reply: Reply, _ place: SiteMap.Place, _ client: ServerEnd) {
        var fields = reply.fields
        var body = reply.body ?? []
        if place.fate == .announcesClose { fields += "Connection: close\r\n" }
        if reply.body != nil, place.fate == .chunked {
            fields += "Transfer-Encoding: chunked\r\n"
            let chunk = body.isEmpty ? [] : Array("\(String(body.count, radix: 16))\r\n".utf8) + body + [13, 10]
            body = chunk + Array("0\r\n\r\n".utf8)
        } else if reply.body != nil {
            fields += "Content-Length: \(body.count)\r\n"
        }
        let head = Array("HTTP/1.1 \(reply.status) Fine\r\n\(fields)\r\n".utf8)
        let isSpared = client.draw(0...1) == 0
        switch place.fate {
        case .whole, .chunked, .early: client.send(head + body)
        case .slow:
            client.after(.milliseconds(client.draw(0...900))) { client in
                client.send(head)
                self.dribble(body[...], client)
            }
        case .announcesClose:
            client.send(head + body)
            client.close()
        case .dies where !isSpared: client.close()
        case .diesInBody where !isSpared && !body.isEmpty:
            client.send(head + body.dropLast())
            client.after(.milliseconds(client.draw(0...50))) { client in
                if client.draw(0...1) == 0 { client.close() } else { client.reset() }
            }
        case .stalls where !isSpared: client.send(Array(head.prefix(client.draw(0...head.count - 1))))
        case .dies, .diesInBody, .stalls: client.send(head + body)
        }
    }

    private func dribble(_ rest: ArraySlice<UInt8>, _ client: ServerEnd) {
        let size = max(1, rest.count / client.draw(1...3))
        client.send(Array(rest.prefix(size)))
        let left = rest.dropFirst(size)
        guard !left.isEmpty else { return }
        client.after(.milliseconds(client.draw(0...400))) { self.dribble(left, $0) }
    }
}
