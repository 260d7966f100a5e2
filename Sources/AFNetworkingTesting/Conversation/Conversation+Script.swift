extension Conversation {
    /// Plays a script to its end, then closes the connection with an end of stream.
    func play(_ script: [ScriptStep]) throws(ConnectionEnd) -> Never {
        for (index, step) in script.enumerated() {
            try play(step, number: index + 1)
            core.noteCompletedStep(on: connection)
        }
        throw .close
    }

    private func play(_ step: ScriptStep, number: Int) throws(ConnectionEnd) {
        switch step.kind {
        case .expect(let bytes): try expect(bytes, step: number)
        case .expectHead: try expectRequest(withBody: false, step: number)
        case .expectRequest: try expectRequest(withBody: true, step: number)
        case .expectEnd: try expectEnd(step: number)
        case .receive(let count): try receive(count)
        case .send(let pieces, let pause): try send(pieces, pause: pause)
        case .pause(let duration): try stream.pause(for: duration)
        case .pauseUntil(let signal): try core.waitForSignal(signal)
        case .shutdownWrite: stream.shutDownWriting()
        case .stall: try stream.waitForHangUp()
        case .serve: try serve()
        case .reset: try leave(.reset)
        case .close, .neverAccept: try leave(.close)
        case .closeUnannounced: try leave(.closeUnannounced)
        case .handshake(let other): try startTLS(other, number: number)
        case .sendOnWire(let bytes): try sendOnWire(bytes)
        case .tls(let action): try carryOut(action, number: number)
        }
    }

    /// A step that ends the connection counts as completed.
    private func leave(_ end: ConnectionEnd) throws(ConnectionEnd) {
        core.noteCompletedStep(on: connection)
        throw end
    }

    // MARK: - Receiving

    private func expect(_ expected: [UInt8], step: Int) throws(ConnectionEnd) {
        let received = try reader.inspect(expected.count)
        guard received != expected else { return }
        if received.count < expected.count, expected.starts(with: received) { throw .clientClosed }
        let offset = zip(received, expected).prefix { $0 == $1 }.count
        throw .scriptFailed(
            "step \(step): expected \(Excerpt.text(expected)) but received \(Excerpt.text(received)), "
                + "which differs at byte \(offset)"
        )
    }

    private func expectRequest(withBody: Bool, step: Int) throws(ConnectionEnd) {
        do throws(RequestReader.Failure) {
            guard var request = try reader.readHead() else { throw .over(.clientClosed) }
            defer { core.record(request) }
            if withBody {
                try reader.readBody(into: &request, storing: core.options.storedBodyLimit)
            } else {
                _ = try reader.endsWithoutBody(&request)
            }
        } catch {
            switch error {
            case .over(let end): throw end
            case .malformed(let reason): throw .scriptFailed("step \(step): not a request: \(reason)")
            }
        }
    }

    private func expectEnd(step: Int) throws(ConnectionEnd) {
        reader.dropInspected()
        let surplus = try reader.inspect(1)
        guard surplus.isEmpty else {
            throw .scriptFailed("step \(step): expected the end but received \(Excerpt.text(surplus))")
        }
    }

    private func receive(_ count: Int) throws(ConnectionEnd) {
        reader.dropInspected()
        guard try reader.skip(count) else { throw .clientClosed }
    }

    // MARK: - Sending

    private func send(_ pieces: [[UInt8]], pause: Duration) throws(ConnectionEnd) {
        // Bytes that `expect` compared before this answer do not begin the next head.
        reader.dropInspected()
        let stream = stream
        for (index, piece) in pieces.enumerated() {
            if index > 0, pause > .zero { try stream.pause(for: pause) }
            try piece.withBytes { bytes throws(ConnectionEnd) in try stream.send(bytes) }
        }
    }

    private func sendOnWire(_ bytes: [UInt8]) throws(ConnectionEnd) {
        let stream = stream
        try bytes.withBytes { all throws(ConnectionEnd) in try stream.sendToWire(all) }
    }

    /// Carries out a step that acts on TLS.
    private func carryOut(_ action: TLSAction, number: Int) throws(ConnectionEnd) {
        guard let tls = stream.tls else { throw .scriptFailed("step \(number): there was no TLS handshake") }
        do throws(TLSConnection.ActionFailure) {
            try tls.carryOut(action)
        } catch {
            switch error {
            case .over(let end): throw end
            case .refused(let reason): throw .scriptFailed("step \(number): \(reason)")
            }
        }
    }

    private func startTLS(_ other: ServerTLS?, number: Int) throws(ConnectionEnd) {
        guard stream.tls == nil else { throw .scriptFailed("step \(number): there was a TLS handshake before") }
        var chosen = context
        if let other {
            do throws(TLSSetUpFailure) {
                chosen = try ServerTLSContext(other)
            } catch {
                throw .scriptFailed("step \(number): \(error.reason)")
            }
        }
        guard let chosen else { throw .scriptFailed("step \(number): the server has no certificate; say which") }
        reader.dropInspected()
        try stream.startTLS(chosen, early: reader.takeUnread())
    }
}

/// Bytes of a client as text for a message: printable ASCII, the rest escaped, at most 128 bytes.
enum Excerpt {
    static func text(_ bytes: some Collection<UInt8>) -> String {
        let shown = bytes.prefix(128).map { byte -> String in
            switch byte {
            case UInt8(ascii: "\r"): "\\r"
            case UInt8(ascii: "\n"): "\\n"
            case 0x20...0x7E: String(UnicodeScalar(byte))
            default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return "\"\(shown.joined())\"" + (bytes.count > 128 ? " (first 128 of \(bytes.count) bytes)" : "")
    }
}
