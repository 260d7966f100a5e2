/// What must be true of every conversation, whatever happened in it.
struct Oracle {
    private(set) var violations: [String] = []

    private static let possibleFailures: Set<URLError.Code> = [
        .cancelled, .timedOut, .networkConnectionLost, .cannotParseResponse, .cannotConnectToHost,
        .notConnectedToInternet,
        .dataLengthExceedsMaximum,
        .cannotFindHost,
        .dnsLookupFailed,
    ]
    private static let securedFailures: Set<URLError.Code> = [
        .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
        .serverCertificateHasUnknownRoot,
    ]
    /// No method of ours is good enough for a SOCKS proxy.
    private static let proxiedFailures: Set<URLError.Code> = [.userAuthenticationRequired]
    /// Points after which it is no fault of ours to send before everything was read.
    private static let unsettling: [FaultPoint] = [
        .readWouldBlock, .readyHeldBack, .readyNothing, .readShort, .readOneByte, .timerLate, .timerVeryLate,
        .processStopped,
    ]

    init(_ conversation: Conversation) {
        violations += conversation.book.violations
        for running in conversation.tasks { check(running, conversation) }
        let faults = conversation.world.faults
        let isPrompt = !conversation.isSecured && Oracle.unsettling.allSatisfy { faults.count($0) == 0 }
        for connection in conversation.world.network.connections where isPrompt && !conversation.world.holdsBack {
            if connection.writesOverUnread > 0 {
                violations.append("O5 #\(connection.number): a request was sent over unread bytes")
            }
        }
    }

    private mutating func check(_ running: Conversation.RunningTask, _ conversation: Conversation) {
        let plan = running.plan
        let record = conversation.record(running)
        func note(_ what: String) -> String {
            "\(plan.nonce) (\(plan.method), \(plan.behaviour)): \(what), \(record.events)"
        }
        let member = conversation.members[plan.session]
        if record.completions != 1, record.completions > 0 || !conversation.isUnheard(running) {
            violations.append(note("O2 \(record.completions) completions"))
        }
        violations += Oracle.orderViolations(record, plan).map(note)

        let served = conversation.book.notes[plan.nonce] ?? ServerBook.Note()
        if served.heads > 2 { violations.append(note("sent \(served.heads) times")) }
        if !plan.isIdempotent, !served.isExposed, served.complete > 1 {
            violations.append(note("POST processed \(served.complete) times"))
        }
        switch record.error?.code {
        // A forged answer that came after the request had left, on a connection that the
        // server had given up: no client can tell.
        case nil where served.heads == 0 && conversation.mayBeForged(plan): break
        case nil: violations += successViolations(record, plan, served, conversation).map(note)
        case .cancelled?
        where !running.isCancelled && !plan.refuses && !member.isEnded && !conversation.isLost(plan.nonce):
            violations.append(note("cancelled without a reason"))
        case let code?:
            let isPossible =
                Oracle.possibleFailures.contains(code)
                || (conversation.isSecured && Oracle.securedFailures.contains(code))
                || (conversation.route.isSOCKS && Oracle.proxiedFailures.contains(code))
            if !isPossible { violations.append(note("failed with \(code)")) }
            if conversation.size.isCalm { violations.append(note("failed: \(record.error.map { "\($0)" } ?? "")")) }
        }
    }

    private func successViolations(
        _ record: TaskRecord,
        _ plan: TaskPlan,
        _ served: ServerBook.Note,
        _ conversation: Conversation
    ) -> [String] {
        guard record.completions > 0, !served.isExposed else { return [] }
        var found: [String] = []
        guard
            case .response(let status)? = record.events.first(where: { if case .response = $0 { true } else { false } })
        else { return ["success without a response"] }
        if !served.answered.contains(status) { found.append("status \(status), but answered \(served.answered)") }
        if served.heads == 1, plan.behaviour.isBroken { found.append("a broken answer passed off as a success") }
        let expected = status == 200 && plan.method != "HEAD" ? plan.downloadBody : []
        guard record.body != Data(expected) else { return found }
        // A body that ends with its connection may be cut off by any device on the way, and in TLS by the server alone.
        let cuts = conversation.isSecured ? [.tlsCloseNotifyOnly] : Oracle.cuts
        let isCut = cuts.contains { conversation.world.faults.count($0) > 0 }
        let isOpenEnded = plan.behaviour.endsWithConnection
        if !(isOpenEnded && isCut && expected.starts(with: record.body)) {
            found.append("got \(record.body.count) bytes instead of \(expected.count)")
        }
        return found
    }

    private static let cuts: [FaultPoint] = [
        .readEndsEarly, .endInHead, .endInBody, .dialThenEnd, .endBeforeAnswer, .endWhenIdle,
    ]

    /// sent* response? data* metrics? completion, and nothing twice. Behind the head of a 2xx the body may go on.
    private static func orderViolations(_ record: TaskRecord, _ plan: TaskPlan) -> [String] {
        var found: [String] = []
        var (rank, goesOn) = (0, false)
        var sent: Int64 = 0
        for event in record.events {
            let (next, mayRepeat) = rankOf(event)
            if case .response(let status) = event { goesOn = (200..<300).contains(status) }
            let isOfBody = if case .sent = event { goesOn && rank <= 3 } else { false }
            if !isOfBody, next < rank || (next == rank && !mayRepeat) { found.append("O2 \(event) out of order") }
            rank = max(rank, next)
            guard case .sent(let total) = event else { continue }
            // A retry starts again from the beginning of the body.
            if total <= sent || total > plan.upload { found.append("progress went from \(sent) to \(total)") }
            sent = total
        }
        return found
    }

    private static func rankOf(_ event: TaskEvent) -> (Int, Bool) {
        switch event {
        case .sent: (1, true)
        case .response: (2, false)
        case .data: (3, true)
        case .waiting: (0, false)
        case .metrics: (4, false)
        case .finished, .failed: (5, false)
        }
    }
}
