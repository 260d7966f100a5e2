import Glibc

extension ServerCore {
    // The accept loop spawns threads, which a comparison with this keeps in bounds
    // whatever the options say.
    private static let threadCeiling = 4096

    /// Starts the thread that accepts clients, whose connections are served by `service`.
    func start(_ service: any ConnectionService) throws(SystemFailure) {
        do throws(SystemFailure) {
            let thread = try ServerThread(named: "AFTest accept") { [self] in acceptClients(for: service) }
            lock.change { $0.acceptThread = thread }
        } catch {
            listener.close()
            throw error
        }
    }

    /// The life of the accept thread.
    private func acceptClients(for service: any ConnectionService) {
        while listener.hasClient() {
            guard mayAcceptNext() else { return }
            do throws(SystemFailure) {
                if let descriptor = try listener.accept() { serve(descriptor, by: service) }
            } catch {
                // Out of descriptors or memory: a connection that ends may give some back.
                _ = lock.wait(.milliseconds(20)) { $0.phase != .running ? true : nil }
            }
            joinFinished()
        }
    }

    /// Waits for a free place. False when the server stops first.
    private func mayAcceptNext() -> Bool {
        let limit = min(max(options.connectionLimit, 1), Self.threadCeiling)
        let isAllowed = lock.wait { state -> Bool? in
            if state.phase != .running { return false }
            if case .neverAccept = state.script(for: state.connections.count + 1)?.first?.kind { return nil }
            return state.threads.count < limit ? true : nil
        }
        return isAllowed == true
    }

    /// Gives a new connection its number and its thread.
    private func serve(_ descriptor: Int32, by service: any ConnectionService) {
        lock.change { state in
            guard state.phase == .running else {
                close(descriptor)
                return
            }
            let number = state.openConnection()
            let script = state.takeScript(for: number)
            let tls = state.tls
            do throws(SystemFailure) {
                // The new thread needs the lock first of all, and so finds itself registered.
                let thread = try ServerThread(named: "AFTest \(number)") { [self] in
                    let stream = SocketStream(descriptor, connection: number, core: self)
                    live(Conversation(stream: stream, service: service, context: tls), script: script)
                }
                state.threads.insert(thread)
                state.descriptors[number] = descriptor
            } catch {
                state.endConnection(number, .serverReset)
                SocketStream(descriptor, connection: number, core: self).armReset()
                close(descriptor)
            }
        }
    }

    /// The life of a connection thread.
    private func live(_ conversation: Conversation, script: [ScriptStep]?) {
        let (stream, number) = (conversation.stream, conversation.connection)
        do throws(ConnectionEnd) {
            // `stop()` shuts down what is registered; before this point nothing is.
            try checkRunning()
            let startsLater = script?.contains { $0.makesHandshake } ?? false
            if let context = conversation.context, !startsLater { try stream.startTLS(context) }
            if let script {
                try conversation.play(script)
            } else {
                try conversation.serve()
            }
        } catch {
            end(stream, number: number, error)
            stream.forgetTLS()
        }
        lock.change { state in
            state.descriptors[number] = nil
            close(stream.descriptor)
            if let thread = state.threads.remove(.current) { state.finished.append(thread) }
        }
    }

    private func end(_ stream: SocketStream, number: Int, _ end: ConnectionEnd) {
        switch end {
        case .close, .handshakeFailed, .clientClosed: stream.shutDownWriting()
        case .closeUnannounced: stream.shutDownWriting(announced: false)
        case .reset, .scriptFailed: stream.armReset()
        case .clientReset, .serverStopped: break
        }
        lock.change { $0.endConnection(number, RecordedConnection.End(end)) }
        // Closing a socket with unread input sends a reset, which can destroy a reply the client has
        // not read yet (RFC 9112 section 9.6). So the rest is received, and dropped.
        if end.awaitsClient { stream.drainAll() }
    }

    func stop() {
        let isFirst = lock.change { state in
            guard state.phase == .running else { return false }
            state.phase = .stopping
            listener.shutDown()
            for descriptor in state.descriptors.values { shutdown(descriptor, Int32(SHUT_RDWR)) }
            return true
        }
        if isFirst {
            joinAll()
            listener.close()
        }
        finishStopping(isFirst: isFirst)
    }

    /// Joins every thread but the one this runs on.
    private func joinAll() {
        let current = ServerThread.current
        if let thread = lock.read({ $0.acceptThread }), thread != current { thread.join() }
        lock.change { state in
            // Called from a handler: nobody will be there to join this thread.
            if state.threads.remove(current) != nil { current.detach() }
        }
        _ = lock.wait { $0.threads.isEmpty ? true : nil }
        joinFinished()
    }

    private func joinFinished() {
        let finished = lock.change { state in
            defer { state.finished = [] }
            return state.finished
        }
        for thread in finished { thread.join() }
    }

    private func finishStopping(isFirst: Bool) {
        if isFirst {
            // Handlers often capture the server itself; letting go of them ends the cycle.
            let routes = lock.change { state in
                state.phase = .stopped
                defer { state.routes = [] }
                return state.routes
            }
            withExtendedLifetime(routes) {}
        } else {
            let current = ServerThread.current
            _ = lock.wait { $0.phase == .stopped || $0.threads.contains(current) ? true : nil }
        }
    }
}
