import AFWire

/// Runs one exchange as a connection would: the request is sent, then the bytes of
/// the answer are decoded and reported to the machine.
struct Dialogue {
    struct Result {
        /// What the machine asked for while receiving; waiting left out.
        var actions: [ExchangeMachine.Action] = []
        var text = ""
    }

    var keepsAlive = true
    var method = "GET"
    var sent: [ExchangeMachine.Event] = [.requestFinished]

    func run(_ wire: String, closes: Bool) -> Result {
        run(Array(wire.utf8), closes: closes)
    }

    func run(_ bytes: [UInt8], closes: Bool) -> Result {
        var machine = ExchangeMachine(keepsAlive: keepsAlive)
        var decoder = ResponseDecoder(method: method)
        var result = Result()
        for event in sent { result.note(machine.handle(event)) }
        bytes.withUnsafeBytes { bytes in
            do throws(HTTP1Error) {
                var offset = 0
                while !machine.isOver {
                    let step = try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                    offset += step.consumed
                    if case .needMore = step.event {
                        if closes { result.end(&decoder, &machine) }
                        return
                    }
                    let surplus = offset < bytes.count
                    guard let event = result.event(step.event, decoder, surplus: surplus) else { continue }
                    result.note(machine.handle(event))
                }
            } catch {
                result.note(machine.handle(.responseMalformed))
            }
        }
        return result
    }
}

extension Dialogue.Result {
    fileprivate mutating func note(_ action: ExchangeMachine.Action) {
        if action != .wait { actions.append(action) }
    }

    fileprivate mutating func event(
        _ event: ResponseDecoder.Event,
        _ decoder: ResponseDecoder,
        surplus: Bool
    ) -> ExchangeMachine.Event? {
        switch event {
        case .needMore: return nil
        case .interim: return .interimResponse
        case .head(let head): return .responseHead(endsSending: head.endsRequest)
        case .body(let bytes):
            text += String(decoding: bytes, as: UTF8.self)
            return nil
        case .end: return .responseFinished(framedExactly: decoder.framedExactly, surplus: surplus)
        }
    }

    fileprivate mutating func end(_ decoder: inout ResponseDecoder, _ machine: inout ExchangeMachine) {
        let received = decoder.headBytesReceived > 0
        do throws(HTTP1Error) {
            let last = try decoder.inputEnded()
            guard let event = event(last, decoder, surplus: false) else { return }
            note(machine.handle(event))
        } catch {
            note(machine.handle(.peerClosed(receivedBytes: received)))
        }
    }
}
