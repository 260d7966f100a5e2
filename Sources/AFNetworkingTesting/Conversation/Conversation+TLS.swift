extension Conversation {
    /// Carries out a step that is about TLS itself.
    func play(_ action: ScriptStep.TLSAction, number: Int) throws(Farewell) {
        if case .handshake(let other) = action {
            try startTLS(other, number: number)
            return
        }
        if case .sendOnWire(let bytes) = action {
            let stream = stream
            try bytes.withBytes { all throws(Farewell) in try stream.sendToWire(all) }
            return
        }
        guard let tls = stream.tls else { throw .scriptFailed("step \(number): there was no TLS handshake") }
        do throws(TLSConnection.StepFailure) {
            try tls.play(action)
        } catch {
            switch error {
            case .over(let farewell): throw farewell
            case .refused(let reason): throw .scriptFailed("step \(number): \(reason)")
            }
        }
    }

    private func startTLS(_ other: ServerTLS?, number: Int) throws(Farewell) {
        guard stream.tls == nil else { throw .scriptFailed("step \(number): there was a TLS handshake before") }
        var chosen = context
        if let other {
            do throws(TLSSetUpFailure) {
                chosen = try TLSContext(other)
            } catch {
                throw .scriptFailed("step \(number): \(error.reason)")
            }
        }
        guard let chosen else { throw .scriptFailed("step \(number): the server has no certificate; say which") }
        reader.dropInspected()
        try stream.startTLS(chosen, early: reader.takeUnread())
    }
}
