import AFWire

/// What the servers of a conversation saw and said.
final class ServerBook {
    struct Note {
        var heads = 0
        var complete = 0
        /// The status of the answer sent in full, if there was one.
        var answered: [Int] = []
        /// A forged answer may have reached the connection after the request had left:
        /// no client can tell.
        var isExposed = false
    }

    let plans: [String: TaskPlan]
    private(set) var notes: [String: Note] = [:]
    private(set) var violations: [String] = []

    init(_ plans: [TaskPlan]) {
        self.plans = Dictionary(plans.map { ($0.nonce, $0) }) { first, _ in first }
    }

    func note(_ nonce: String, _ change: (inout Note) -> Void) {
        change(&notes[nonce, default: Note()])
    }

    func report(_ violation: String) {
        violations.append(violation)
    }
}

/// One simulated host's side of a connection.
final class SimulatedServer {
    private let book: ServerBook
    private let host: Int
    /// What a proxy that forwards is told.
    private let proxyLogin: String?
    private var isPoisoned = false
    /// Nothing more is answered on this connection.
    private var isSilent = false

    init(_ book: ServerBook, host: Int, proxyLogin: String? = nil) {
        self.book = book
        self.host = host
        self.proxyLogin = proxyLogin
    }

    func answer(_ request: VirtualRequest, _ moment: HTTPResponder.Moment, _ client: ServerEnd) {
        guard let nonce = request.headers.first("X-Nonce"), let plan = book.plans[nonce] else {
            return book.report("a request without a nonce came: \(request.target)")
        }
        if moment == .head || plan.upload == 0 { beginRequest(plan, request, client) }
        guard !isSilent else { return }
        let isFirst = (book.notes[nonce]?.heads ?? 0) <= 1
        let behaviour = isFirst ? plan.behaviour : .length
        switch moment {
        case .head: headArrived(plan, behaviour, client)
        case .complete: completed(request, plan, behaviour, client)
        }
    }

    private func beginRequest(_ plan: TaskPlan, _ request: VirtualRequest, _ client: ServerEnd) {
        let connection = client.connection
        if request.headers.first("X-Secret") != Conversation.secret(plan.session, host) || plan.host != host {
            book.report("O4 \(plan.nonce): a request for host \(plan.host) came to host \(host)")
        }
        let login = request.headers.first("Proxy-Authorization")
        if login != proxyLogin { book.report("O4 \(plan.nonce): host \(host) was told \(login ?? "no login")") }
        // After a forgery that crossed a request, our answers and the client's requests
        // are out of step, and neither side can know.
        if connection.isRetired, !isPoisoned {
            book.report("O5 \(plan.nonce): sent on connection #\(connection.number), retired")
        }
        if !connection.isAnswered, !isPoisoned, request.turn > 0 {
            book.report("O5 \(plan.nonce): sent on #\(connection.number) before the previous answer was complete")
        }
        connection.isAnswered = false
        book.note(plan.nonce) { note in
            note.heads += 1
            if isPoisoned { note.isExposed = true }
        }
    }

    private func headArrived(_ plan: TaskPlan, _ behaviour: Behaviour, _ client: ServerEnd) {
        switch behaviour {
        case .early:
            client.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
            book.note(plan.nonce) { $0.answered.append(413) }
        case .readsLate:
            client.stopReading()
            client.after(.milliseconds(client.draw(0...900))) { $0.startReading() }
        case .closesUnanswered where client.draw(0...1) == 0: client.close()
        case .resetsUnanswered where client.draw(0...1) == 0: client.reset()
        default: break
        }
    }

    private func completed(_ request: VirtualRequest, _ plan: TaskPlan, _ behaviour: Behaviour, _ client: ServerEnd) {
        // RFC 9110 §15.5.9: who says 408 has not acted on the request.
        if behaviour != .requestTimeout { book.note(plan.nonce) { $0.complete += 1 } }
        if request.content != plan.uploadBody { book.report("\(plan.nonce): the upload arrived altered") }
        // The answer has been given before. Whether the client stopped sending or had
        // sent everything already decides whether this place is ever reached.
        if behaviour == .early, plan.upload > 0 { return client.connection.isAnswered = true }
        ServerAnswer(plan, behaviour, isHead: request.method == "HEAD").send(to: client) { [self] status in
            answered(plan, status, client, retires: behaviour.retires)
        }
        if behaviour == .poisons || behaviour == .poisonsLater { isPoisoned = true }
        if behaviour.isBroken { isSilent = true }
    }

    private func answered(_ plan: TaskPlan, _ status: Int, _ client: ServerEnd, retires: Bool) {
        book.note(plan.nonce) { $0.answered.append(status) }
        client.connection.isAnswered = true
        client.connection.isRetired = retires
    }
}

extension VirtualRequest {
    /// The body without its coding; nil if that is damaged.
    fileprivate var content: [UInt8]? {
        guard headers.contains("Content-Encoding") else { return body }
        return Coded.plain(Data(body), atMost: 1 << 20).map(Array.init)
    }
}
