import AFWire
import Testing

/// Both halves of an exchange, T-MSG-43 to 45, 50.
@Suite struct ExchangeMachineTests {
    typealias Event = ExchangeMachine.Event
    typealias Action = ExchangeMachine.Action

    /// What the machine answers to `events`, waiting included.
    private func actions(_ events: [Event], keepsAlive: Bool = true) -> [Action] {
        var machine = ExchangeMachine(keepsAlive: keepsAlive)
        return events.map { machine.handle($0) }
    }

    private static let clean = Event.responseFinished(framedExactly: true, surplus: false)

    @Test(arguments: [
        ([Event.requestFinished, .head, clean], true),
        ([.requestFinished, .interimResponse, .interimResponse, .head, clean], true),
        ([.interimResponse, .requestFinished, .head, clean], true),
        ([.requestFinished, .head, .responseFinished(framedExactly: false, surplus: false)], false),
        ([.requestFinished, .head, .responseFinished(framedExactly: true, surplus: true)], false),
        ([.requestFinished, .sendingFailed, .head, clean], false),
    ])
    func `a complete exchange allows reuse only if nothing was amiss`(events: [Event], reuse: Bool) {
        #expect(actions(events).last == .finish(reuse: reuse))
        #expect(actions(events, keepsAlive: false).last == .finish(reuse: false))
    }

    @Test func `T-MSG-43 an early answer that is an error stops the upload and forbids reuse`() {
        let all: [Event] = [.responseHead(endsSending: true), .requestFinished, Self.clean]

        #expect(actions(all) == [.deliverHead(stopSending: true), .wait, .finish(reuse: false)])
    }

    @Test func `T-MSG-43 a server may answer while it reads, and both halves have to end for reuse`() {
        #expect(
            actions([.head, .requestFinished, Self.clean]) == [
                .deliverHead(stopSending: false), .wait, .finish(reuse: true),
            ]
        )
        #expect(actions([.head, Self.clean]) == [.deliverHead(stopSending: false), .finish(reuse: false)])
        #expect(actions([.head, .sendingFailed, Self.clean]).last == .finish(reuse: false))
        #expect(actions([.head, Self.clean, .requestFinished]).last == .wait)
    }

    @Test func `T-MSG-43 an answer that has ended leaves nothing to send`() {
        var machine = ExchangeMachine()
        for event in [Event.head, Self.clean] { _ = machine.handle(event) }

        #expect(machine.sending == .stopped && !machine.isSending && machine.isOver)
    }

    @Test func `T-MSG-43 an answer to a request just completed is not early`() {
        let all: [Event] = [.requestFinished, .head, Self.clean]

        #expect(actions(all) == [.wait, .deliverHead(stopSending: false), .finish(reuse: true)])
    }

    @Test func `T-MSG-43 an interim answer is waited behind, and stops no upload`() {
        var machine = ExchangeMachine()

        #expect(machine.handle(.interimResponse) == .wait)
        #expect(machine.isSending && !machine.isOver)
        #expect(actions([.requestFinished, .interimResponse]) == [.wait, .wait])
    }

    @Test func `T-MSG-43 a failed upload still waits for the answer`() {
        let answered: [Event] = [.sendingFailed, .requestFinished, .head, .sendingFailed, Self.clean]
        let silent: [Event] = [.sendingFailed, .peerClosed(receivedBytes: false)]

        #expect(
            actions(answered) == [
                .stopSending, .wait, .deliverHead(stopSending: false), .wait, .finish(reuse: false),
            ]
        )
        #expect(actions(silent) == [.stopSending, .fail(retryable: true)])
    }

    @Test(arguments: [200, 401, 413], ["", "Connection: close\r\n"])
    func `T-MSG-43 the early answer itself is delivered whole`(status: Int, field: String) {
        let wire = "HTTP/1.1 \(status) X\r\n\(field)Content-Length: 4\r\n\r\nwhat"
        let result = Dialogue(method: "POST", sent: []).run(wire, closes: false)

        let isFinal = status >= 400 || !field.isEmpty
        #expect(result.actions == [.deliverHead(stopSending: isFinal), .finish(reuse: false)])
        #expect(result.text == "what")
    }

    /// Every state an exchange can be cancelled in.
    static let states: [[Event]] = [
        [], [.requestFinished], [.requestFinished, .interimResponse], [.sendingFailed],
        [.requestFinished, .head], [.head], [.head, .sendingFailed],
    ]

    @Test(arguments: states)
    func `T-MSG-44 a cancelled exchange is over, neither reusable nor retryable`(before: [Event]) {
        var machine = ExchangeMachine()
        for event in before { _ = machine.handle(event) }
        let wasSent = machine.sending == .done

        #expect(machine.handle(.cancelled) == .fail(retryable: false))
        #expect(machine.isOver && !machine.isSending && (machine.sending == .done) == wasSent)
        #expect(machine.handle(.cancelled) == .wait)
        #expect(machine.handle(.peerClosed(receivedBytes: true)) == .wait)
    }

    @Test func `T-MSG-44 cancelling what has finished changes nothing`() {
        for late in [Event.cancelled, .peerClosed(receivedBytes: true), .responseMalformed, .sendingFailed] {
            #expect(actions([.requestFinished, .head, Self.clean, late]).last == .wait)
        }
    }

    @Test func `T-MSG-44 pieces of the request may still arrive after a cancel`() {
        #expect(actions([.cancelled, .requestFinished, .sendingFailed]).dropFirst() == [.wait, .wait])
    }

    @Test(arguments: [
        ([], true), ([Event.requestFinished], false), ([.sendingFailed], false), ([.head], true),
        ([.responseHead(endsSending: true)], false),
        ([.head, .requestFinished], false),
    ])
    func `T-MSG-43 something is being sent until it is sent, or given up`(before: [Event], isSending: Bool) {
        var machine = ExchangeMachine()
        for event in before { _ = machine.handle(event) }

        #expect(machine.isSending == isSending)
        #expect(!machine.isOver)
    }

    @Test func `T-MSG-44 nothing is left to stop once the exchange is over`() {
        #expect(actions([.cancelled, .sendingFailed]).last == .wait)
        #expect(actions([.peerClosed(receivedBytes: false), .sendingFailed]).last == .wait)
    }

    @Test(arguments: [
        ([], false, true), ([Event.requestFinished], false, true),
        ([.requestFinished], true, false), ([.requestFinished, .interimResponse], true, false),
        ([.requestFinished, .interimResponse], false, false), ([.requestFinished, .head], true, false),
        ([.head], true, false), ([.requestFinished, .head], false, false),
    ])
    func `T-MSG-45 a retry is possible only before the first byte of an answer`(
        before: [Event],
        receivedBytes: Bool,
        retryable: Bool
    ) {
        #expect(actions(before + [.peerClosed(receivedBytes: receivedBytes)]).last == .fail(retryable: retryable))
    }

    @Test(arguments: [
        ("", true), ("H", false), ("HTTP/1.1 200 OK\r\n", false), ("HTTP/1.1 100 Continue\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", false),
    ])
    func `T-MSG-45 a close is judged by what had been read`(wire: String, retryable: Bool) {
        #expect(Dialogue().run(wire, closes: true).actions.last == .fail(retryable: retryable))
    }

    @Test(arguments: [
        [Event.requestFinished], [.requestFinished, .interimResponse], [.requestFinished, .head],
    ])
    func `T-MSG-50 a malformed answer ends the exchange in any position`(before: [Event]) {
        #expect(actions(before + [.responseMalformed]).last == .fail(retryable: false))
    }

    @Test func `T-MSG-42 bytes after the answer forbid reuse`() {
        let wire = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        let result = Dialogue().run(wire, closes: false)

        #expect(result.text == "ok")
        #expect(result.actions.last == .finish(reuse: false))
    }

    @Test func `no bytes from the network reach a trap`() {
        let valid = Array(
            """
            HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: x\r\n\r\n\
            5;a="b"\r\nhello\r\n0\r\nA: b\r\n\r\nHTTP/1.1 204 X\r\nContent-Length: 0\r\n\r\n
            """.utf8
        )
        var random = SeededGenerator(seed: 42)
        let spice = Array("\r\n\t :;,\"\\0123456789abcdefABCDEF\0\u{7F}HTTP/1.".utf8) + [0x80, 0xFF]

        for _ in 0..<3_000 {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes[place] = spice.randomElement(using: &random) ?? 0
                case 1: bytes.remove(at: place)
                default: bytes.insert(spice.randomElement(using: &random) ?? 0, at: place)
                }
            }
            let cuts = (0..<3).map { _ in Int.random(in: 1..<bytes.count, using: &random) }
            let pieces = Delivery(description: "\(cuts)", cuts: Set(cuts).sorted())
            let byByte = Delivery(description: "by byte", cuts: Array(1..<bytes.count))
            let whole = ResponseSetting(closes: true).outcome(of: bytes, Delivery(description: "whole", cuts: []))

            _ = Dialogue(sent: []).run(bytes, closes: true)

            let text = String(decoding: bytes, as: UTF8.self).debugDescription
            #expect(ResponseSetting(closes: true).outcome(of: bytes, pieces) == whole, "\(text) cut at \(cuts)")
            #expect(ResponseSetting(closes: true).outcome(of: bytes, byByte) == whole, "\(text) by byte")
        }
    }
}

extension ExchangeMachine.Event {
    /// The head of a response that lets the request go on.
    fileprivate static let head = Self.responseHead(endsSending: false)
}
