import AFBase
import AFLoop
import AFWire
public import Foundation

extension URLSessionStreamTask {
    convenience init(to address: StreamAddress, identifier: Int, in session: URLSession) {
        self.init(address.frozen, identifier: identifier, in: session, consumer: StreamConnector())
    }

    /// Gives an operation to the loop. Operations arrive there in the order of the calls.
    private func ask(_ job: @escaping @Sendable (StreamConnector, SessionCore) -> Void) {
        session.world.enqueue { [self] in
            guard let connector = load.value.consumer as? StreamConnector else { return }
            job(connector, session.core.value)
        }
    }

    /// In the child of a fork no loop would ever answer.
    private var unavailability: URLError? { session.world.unavailability()?.urlError(for: nil) }
}

// MARK: - Reading

extension URLSessionStreamTask {
    /// Reads some bytes.
    ///
    /// - Parameters:
    ///   - minBytes: Waits for so many bytes, unless the stream ends or an error comes first. With 0 it takes those
    ///   that are there already, perhaps none.
    ///   - maxBytes: Takes so many bytes at most, and leaves more for the next read.
    ///   - timeout: In seconds, from now or from the beginning of the task, whichever is later; it also runs while
    ///   other reads come first. Not positive: as long as it takes.
    ///   - completionHandler: Called once: with bytes; whether they are the last; and an error, beside the bytes that
    ///   had arrived until then. After the end and after an error every other read fails.
    @preconcurrency
    public func readData(
        ofMinLength minBytes: Int,
        maxLength maxBytes: Int,
        timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        read(atLeast: minBytes, atMost: maxBytes, timeout: timeout, isAwaited: false, handler: completionHandler)
    }

    /// Reads some bytes. Independent of the delegate queue; cancelling the Swift task cancels this one.
    ///
    /// - Parameters:
    ///   - minBytes: As for ``readData(ofMinLength:maxLength:timeout:completionHandler:)``.
    ///   - maxBytes: Takes so many bytes at most, and leaves more for the next read.
    ///   - timeout: In seconds. Not positive: as long as it takes.
    /// - Returns: Bytes, and whether they are the last.
    public func readData(
        ofMinLength minBytes: Int,
        maxLength maxBytes: Int,
        timeout: TimeInterval
    ) async throws -> (Data?, Bool) {
        try await awaited { [self] answer in
            read(atLeast: minBytes, atMost: maxBytes, timeout: timeout, isAwaited: true) { data, isAtEnd, error in
                answer(error.map(Result.failure) ?? .success((data, isAtEnd)))
            }
        }
    }

    private func read(
        atLeast minBytes: Int,
        atMost maxBytes: Int,
        timeout: TimeInterval,
        isAwaited: Bool,
        handler: @escaping StreamRead.Handler
    ) {
        if let error = unavailability { return handler(nil, false, error) }
        ask { connector, session in
            connector.add(
                StreamRead(
                    minimum: minBytes,
                    maximum: maxBytes,
                    timeout: timeout,
                    isAwaited: isAwaited,
                    handler: handler
                ),
                in: session
            )
        }
    }

    /// Closes the reading direction, after the reads before this call. The task drops what arrives from then on.
    public func closeRead() {
        ask { connector, _ in connector.closeReading() }
    }
}

// MARK: - Writing

extension URLSessionStreamTask {
    /// Writes all of `data`.
    ///
    /// - Parameters:
    ///   - data: The bytes to write.
    ///   - timeout: In seconds, from now or from the beginning of the task, whichever is later; it also runs while
    ///   other writes come first. Not positive: as long as it takes.
    ///   - completionHandler: Called once: without an error when the kernel has taken all bytes, which does not mean
    ///   that the peer has them. After an error, when part of them may have been sent, every other write fails.
    @preconcurrency
    public func write(
        _ data: Data,
        timeout: TimeInterval,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        write(data, timeout: timeout, isAwaited: false, handler: completionHandler)
    }

    /// Writes all of `data`. Independent of the delegate queue; cancelling the Swift task cancels this one.
    public func write(_ data: Data, timeout: TimeInterval) async throws {
        try await awaited { [self] answer in
            write(data, timeout: timeout, isAwaited: true) { answer($0.map(Result.failure) ?? .success(())) }
        }
    }

    private func write(_ data: Data, timeout: TimeInterval, isAwaited: Bool, handler: @escaping StreamWrite.Handler) {
        if let error = unavailability { return handler(error) }
        ask { connector, session in
            connector.add(StreamWrite(data, timeout: timeout, isAwaited: isAwaited, handler: handler), in: session)
        }
    }

    /// Closes the writing direction, after the writes before this call: the peer then reads to the end. Reading goes
    /// on.
    public func closeWrite() {
        ask { connector, _ in connector.closeWriting() }
    }
}

// MARK: - Both directions

extension URLSessionStreamTask {
    /// Starts TLS on the connection, when all operations before this call are done. Later operations wait, and go over
    /// TLS.
    ///
    /// The session's ``URLSession/tls`` decides about the server, as for requests over https, and the session asks
    /// delegates in the same way. If the server is refused, the task fails. Bytes of the peer that you have not read by
    /// then fail the handshake: an attacker on the way could have put them there in plain text, and they must not pass
    /// for the server's. To a host that the session's evaluator has pins for, the task reads and writes nothing before
    /// this. On a connection that has TLS already it does nothing.
    public func startSecureConnection() {
        ask { connector, _ in connector.secure() }
    }

    /// Does nothing: a connection with TLS keeps it.
    @available(*, deprecated, message: "a secured connection cannot go on in the clear; close it and make another")
    public func stopSecureConnection() {}

    /// Makes streams of the connection, when all operations before this call are done.
    ///
    /// ``URLSessionStreamDelegate/urlSession(_:streamTask:didBecome:outputStream:)`` takes them. With that call the
    /// task has completed, and the session makes no more calls for it. Without a delegate that has the method the task
    /// fails.
    public func captureStreams() {
        ask { connector, _ in connector.capture() }
    }
}

// MARK: - Awaiting

extension URLSessionStreamTask {
    private func awaited<Value: Sendable>(
        _ begin: @escaping @Sendable (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        let answer = AwaitedResult<Value>()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                answer.expect(continuation)
                begin { answer.give($0) }
            }
        } onCancel: {
            cancel()
        }
        return try answer.taken()
    }
}
