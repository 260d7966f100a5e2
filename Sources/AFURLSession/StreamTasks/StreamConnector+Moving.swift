import AFBase
import AFLoop
import AFTLS
import AFTransport
import AFWire
import Foundation

// Reading and writing.

extension StreamConnector: ChannelHandler {
    func channelReady() {
        proceed()
    }

    /// Does all operations that can be done now.
    func proceed() {
        guard let load, !load.isSuspended else { return }
        while machine.moves, let channel {
            do throws(Refusal) {
                write(try leave(for: load), to: channel, for: load)
            } catch {
                if error == .clearText { load.fail(.stream(.pinned)) }
                return
            }
            guard machine.moves else { return }
            read(from: channel, for: load)
            guard machine.moves, change(channel, for: load) else { break }
        }
        endIfOver()
    }

    /// Leave to move bytes, in either direction: without TLS the session could not check the pins of the host.
    private func leave(for load: Load) throws(Refusal) -> Permit {
        try Departure.ask(isSuspended: load.isSuspended, isForbidden: isForbidden(load))
            .clear(hasItsRules: key.map(load.session.pool.hasPresentRules) ?? true)
    }

    private func isForbidden(_ load: Load) -> Bool {
        let moves = schedule.nextIncoming != nil || schedule.nextOutgoing != nil || schedule.nextChange == .captured
        // The session has applied the same rules to a task that began as a request.
        guard moves, machine.state.phase == .clear, load.transfer == nil, let endpoint = load.endpoint else {
            return false
        }
        return load.session.forbidsStream(to: Endpoint(scheme: .http, host: endpoint.host, port: endpoint.port))
    }

    private func endIfOver() {
        guard let load, machine.isClosed, schedule.nextChange == nil else { return }
        if let failure { return load.fail(failure) }
        if load.isHeld { load.completeIfHeld() } else { load.finishReceiving() }
    }

    // MARK: - Writing

    private func write(_ permit: consuming Permit, to channel: any ByteChannel, for load: Load) {
        while !channel.turnShare.isSpentForWriting {
            switch schedule.nextOutgoing {
            case nil: return
            case .close?:
                guard channel.isFlushed else { return }
                schedule.outgoingDone()
                closeWriting(to: channel, for: load)
            case .write(let write)?:
                guard !write.isSent else {
                    // The TLS channel still holds encrypted bytes that the kernel has not taken.
                    guard channel.isFlushed else { return }
                    schedule.outgoingDone()
                    finish(write, error: nil, in: load.session)
                    continue
                }
                guard channel.isWritable else { return }
                switch write.data.withUnsafeBytes({
                    channel.write(UnsafeRawBufferPointer(rebasing: $0[write.sent...]), second: .empty)
                }) {
                case .bytes(let count):
                    write.sent += count
                    load.snapshot.withLock { $0.sent += Int64(count) }
                case .wouldBlock: return
                case .failed(let error): return sendingFailed(error, for: load)
                }
            }
        }
        channel.continueNextTurn()
    }

    private func closeWriting(to channel: any ByteChannel, for load: Load) {
        guard take(.closeWriteDue) == .closeWriting else { return }
        channel.endWriting()
        failWrites(.stream(.closed(.writing)), of: load)
        tell { delegate, task in delegate.urlSession(task.session, writeClosedFor: task) }
    }

    /// The peer takes no more bytes. Its earlier bytes are in the kernel's receive buffer, and a read may wait for
    /// them.
    private func sendingFailed(_ error: SystemCallError, for load: Load) {
        if let channel {
            while case .read(let read)? = schedule.nextIncoming, channel.isReadable {
                let (result, _) = fill(read, from: channel, for: load)
                guard case .bytes = result else { break }
                if read.isFull { done(read, isAtEnd: false, for: load) }
            }
            if case .read(let read)? = schedule.nextIncoming, read.isEnough, !read.data.isEmpty {
                done(read, isAtEnd: false, for: load)
            }
        }
        load.fail(loadError(error, during: .sending))
    }

    // MARK: - Reading

    private func read(from channel: any ByteChannel, for load: Load) {
        let share = channel.turnShare
        while machine.moves, !share.isSpent, readSome(from: channel, for: load) {}
        if machine.moves, share.isSpent { channel.continueNextTurn() }
    }

    /// False if nothing more can be read now.
    private func readSome(from channel: any ByteChannel, for load: Load) -> Bool {
        switch schedule.nextIncoming {
        case nil: return machine.state.reading == .dropping && channel.isReadable && drop(from: channel, for: load)
        case .close?:
            schedule.incomingDone()
            closeReading(for: load)
            return true
        case .read(let read)?:
            if read.isFull {
                done(read, isAtEnd: false, for: load)
                return true
            }
            if channel.isReadable { return take(read, from: channel, for: load) }
            guard read.isEnough else { return false }
            done(read, isAtEnd: false, for: load)
            return true
        }
    }

    /// False if the stream is at its end.
    private func take(_ read: StreamRead, from channel: any ByteChannel, for load: Load) -> Bool {
        let (result, error) = fill(read, from: channel, for: load)
        switch result {
        case .bytes: return true
        case .wouldBlock:
            guard read.isEnough else { return false }
            done(read, isAtEnd: false, for: load)
            return true
        case .end: inputEnded(for: load)
        case .failed: if let error { load.fail(loadError(error, during: .receivingBody)) }
        }
        return false
    }

    private func fill(
        _ read: StreamRead,
        from channel: any ByteChannel,
        for load: Load
    ) -> (ChannelRead, SystemCallError?) {
        let page = load.session.world.readBuffer.value.forReading()
        let room = UnsafeMutableRawBufferPointer(rebasing: page[..<min(page.count, read.maximum - read.data.count)])
        let result = channel.read(into: room)
        switch result {
        case .bytes(let count):
            read.data.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<count]))
            if !(channel is BodyChannel) { load.snapshot.withLock { $0.received += Int64(count) } }
            return (result, nil)
        case .failed(let error): return (result, error)
        case .wouldBlock, .end: return (result, nil)
        }
    }

    private func done(_ read: StreamRead, isAtEnd: Bool, for load: Load) {
        schedule.incomingDone()
        finish(read, isAtEnd: isAtEnd, error: nil, in: load.session)
    }

    /// Completes all reads with the bytes there are: no more will come.
    private func inputEnded(for load: Load) {
        if let secured, secured.isTruncated, !toleratesMissingCloseNotify {
            return load.fail(.transfer(.cutShort))
        }
        guard take(.inputEnded) == .endReading else { return }
        for read in schedule.takePresentReads() { finish(read, isAtEnd: true, error: nil, in: load.session) }
        readingIsClosed(for: load)
    }

    private func closeReading(for load: Load) {
        guard take(.closeReadDue) == .closeReading else { return }
        readingIsClosed(for: load)
    }

    private func readingIsClosed(for load: Load) {
        failReads(.stream(.closed(.reading)), of: load)
        tell { delegate, task in delegate.urlSession(task.session, readClosedFor: task) }
    }

    /// Drops what the peer goes on sending: otherwise it would have to wait for ever, or get a reset. False if there is
    /// nothing more.
    private func drop(from channel: any ByteChannel, for load: Load) -> Bool {
        switch channel.read(into: load.session.world.readBuffer.value.forReading()) {
        case .bytes: return true
        case .wouldBlock: break
        case .end: take(.inputEnded)
        case .failed(let error): load.fail(loadError(error, during: .receivingBody))
        }
        return false
    }

    // MARK: - Errors

    private func loadError(_ error: SystemCallError, during phase: TransferPhase) -> LoadError {
        guard let secured, let failure = secured.failure else { return .transfer(.channel(error, phase)) }
        let identity: TransferError.Identification =
            secured.engine.wasAskedForIdentity ? (secured.engine.hasShownIdentity ? .shown : .withheld) : .notAsked
        return .transfer(.secured(failure, phase, identity))
    }

    var toleratesMissingCloseNotify: Bool {
        key?.security?.configuration.toleratesMissingCloseNotify ?? true
    }
}
