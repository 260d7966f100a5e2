extension Conversation {
    /// Plays a script to its end, then closes in order.
    func play(_ script: [ScriptStep]) throws(Farewell) -> Never {
        for (index, step) in script.enumerated() {
            try play(step, number: index + 1)
            core.noteCompletedStep(on: connection)
        }
        throw .close
    }

    private func play(_ step: ScriptStep, number: Int) throws(Farewell) {
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
        case .tls(let action): try play(action, number: number)
        }
    }

    /// An ending step counts as completed although nothing follows it.
    private func leave(_ farewell: Farewell) throws(Farewell) {
        core.noteCompletedStep(on: connection)
        throw farewell
    }

    // MARK: - Receiving

    private func expect(_ expected: [UInt8], step: Int) throws(Farewell) {
        let received = try reader.inspect(expected.count)
        guard received != expected else { return }
        if received.count < expected.count, expected.starts(with: received) { throw .clientClosed }
        let offset = zip(received, expected).prefix { $0 == $1 }.count
        throw .scriptFailed(
            "step \(step): expected \(Excerpt.text(expected)) but received \(Excerpt.text(received)), "
                + "which differs at byte \(offset)"
        )
    }

    private func expectRequest(withBody: Bool, step: Int) throws(Farewell) {
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
            case .over(let farewell): throw farewell
            case .malformed(let reason): throw .scriptFailed("step \(step): not a request: \(reason)")
            }
        }
    }

    private func expectEnd(step: Int) throws(Farewell) {
        reader.dropInspected()
        let surplus = try reader.inspect(1)
        guard surplus.isEmpty else {
            throw .scriptFailed("step \(step): expected the end but received \(Excerpt.text(surplus))")
        }
    }

    private func receive(_ count: Int) throws(Farewell) {
        reader.dropInspected()
        guard try reader.skip(count) else { throw .clientClosed }
    }

    // MARK: - Sending

    private func send(_ pieces: [[UInt8]], pause: Duration) throws(Farewell) {
        // Expected bytes that were answered are not the beginning of the next head.
        reader.dropInspected()
        let stream = stream
        for (index, piece) in pieces.enumerated() {
            if index > 0, pause > .zero { try stream.pause(for: pause) }
            try piece.withBytes { bytes throws(Farewell) in try stream.send(bytes) }
        }
    }
}
