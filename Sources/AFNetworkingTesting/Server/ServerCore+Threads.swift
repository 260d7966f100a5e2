import Glibc

extension ServerCore {
    // The accept loop never starts more threads than this, even if the options allow more.
    private static let threadCeiling = 4096

    /// Starts the thread that accepts clients. `service` serves their connections.
    func start(_ service: any ConnectionService) throws(SocketFailure) {
        do throws(SocketFailure) {
            let thread = try ServerThread(named: "AFTest accept") { [self] in acceptClients(for: service) }
            lock.change { $0.acceptThread = thread }
        } catch {
            listener.close()
            throw error
        }
    }

    /// The body of the accept thread.
    private func acceptClients(for service: any ConnectionService) {
        while listener.hasClient() {
            guard mayAcceptNext() else { return }
            do throws(SocketFailure) {
                if let descriptor = try listener.accept() { serve(descriptor, by: service) }
            } catch {
                // Out of descriptors or memory: wait for a connection to end and give some back.
                _ = lock.wait(atMost: .milliseconds(20)) { $0.phase != .running ? true : nil }
            }
            joinFinished()
        }
    }

    /// Waits until another connection may be accepted. False if the server stops first.
    private func mayAcceptNext() -> Bool {
        let limit = min(max(options.connectionLimit, 1), Self.threadCeiling)
        let isAllowed = lock.wait { state -> Bool? in
            if state.phase != .running { return false }
            if case .neverAccept = state.script(for: state.connections.count + 1)?.first?.kind { return nil }
            return state.threads.count < limit ? true : nil
        }
        return isAllowed == true
    }

    /// Gives a new connection a number and a thread.
    private func serve(_ descriptor: Int32, by service: any ConnectionService) {
        lock.change { state in
            guard state.phase == .running else {
                close(descriptor)
                return
            }
            let number = state.openConnection()
            let script = state.takeScript(for: number)
            let tls = state.tls
            do throws(SocketFailure) {
                // The new thread takes the lock first, so it finds itself registered.
                let thread = try ServerThread(named: "AFTest \(number)") { [self] in
                    let stream = SocketStream(descriptor: descriptor, connection: number, core: self)
                    live(Conversation(stream: stream, service: service, context: tls), script: script)
                }
                state.threads.insert(thread)
                state.descriptors[number] = descriptor
            } catch {
                state.endConnection(number, with: .serverReset)
                SocketStream(descriptor: descriptor, connection: number, core: self).armReset()
                close(descriptor)
            }
        }
    }

    /// The body of a connection thread.
    private func live(_ conversation: Conversation, script: [ScriptStep]?) {
        let (stream, number) = (conversation.stream, conversation.connection)
        do throws(ConnectionEnd) {
            // `stop()` shuts down registered sockets only; it may have run before this one was registered.
            try checkRunning()
            let startsLater = script?.contains { $0.makesHandshake } ?? false
            if let context = conversation.context, !startsLater { try stream.startTLS(context) }
            if let script {
                try conversation.play(script)
            } else {
                try conversation.serve()
            }
        } catch {
            end(stream, number: number, with: error)
            stream.forgetTLS()
        }
        lock.change { state in
            state.descriptors[number] = nil
            close(stream.descriptor)
            if let thread = state.threads.remove(.current) { state.finished.append(thread) }
        }
    }

    private func end(_ stream: SocketStream, number: Int, with end: ConnectionEnd) {
        switch end {
        case .close, .handshakeFailed, .clientClosed: stream.shutDownWriting()
        case .closeUnannounced: stream.shutDownWriting(announced: false)
        case .reset, .scriptFailed: stream.armReset()
        case .clientReset, .serverStopped: break
        }
        lock.change { $0.endConnection(number, with: RecordedConnection.End(end)) }
        // Closing a socket with unread input sends a reset, which can destroy a reply that the client has
        // not read yet (RFC 9112 section 9.6). So receive the rest and drop it.
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

    /// Joins every thread except the current one.
    private func joinAll() {
        let current = ServerThread.current
        if let thread = lock.read({ $0.acceptThread }), thread != current { thread.join() }
        lock.change { state in
            // Called from a handler: no thread will join this one.
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
            // Handlers often capture the server: releasing them breaks the reference cycle.
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
