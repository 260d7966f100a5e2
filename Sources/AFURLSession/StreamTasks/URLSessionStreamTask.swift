import AFBase
import AFLoop
import AFWire
public import Foundation

// Unchecked as its superclass: constants and what is bound to the loop only.
/// A connection that carries whatever you want, in both directions.
///
/// ```swift
/// let task = session.streamTask(withHostName: "mail.example.com", port: 25)
/// task.resume()
/// let (greeting, _) = try await task.readData(ofMinLength: 1, maxLength: 512, timeout: 30)
/// ```
///
/// What is asked for is done in order: reads one after the other, writes one after the other, both side by side.
/// ``startSecureConnection()`` and ``captureStreams()`` wait until everything asked for before them is done, and what is
/// asked for after them waits for them. Everything may be asked for before the task is resumed. Each handler is called
/// once, on the delegate queue, before the completion of the task.
///
/// Nothing is read that nobody has asked for, so a peer that sends more has to wait. The task connects as requests do: all
/// addresses of the name are tried, and proxies of the session are asked for a tunnel. It has a connection of its own,
/// which counts towards no limit.
///
/// The task completes when both directions are closed: by their ends, by ``closeRead()`` and ``closeWrite()``, or by a
/// read or write that failed; when it is cancelled; or when the connection breaks. Connecting and securing may take as
/// long as `timeoutIntervalForRequest` says, and all of it as `timeoutIntervalForResource` says. A connection that is not
/// asked for anything otherwise stays as it is, for ever. While the task is suspended nothing is read or written, and its
/// times stand still.
public final class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    init(to address: StreamAddress, _ identifier: Int, in session: URLSession) {
        super.init(streamTo: address.frozen, identifier, in: session, consumer: StreamDesk())
    }

    /// A task that takes the place of a data task.
    override init(continuing other: URLSessionTask, _ identifier: Int) {
        super.init(continuing: other, identifier)
    }

    /// Hands something to the loop. What is asked for in one order arrives there in the same.
    private func ask(_ job: @escaping @Sendable (StreamDesk, SessionCore) -> Void) {
        session.world.enqueue { [self] in
            guard let desk = core.value.consumer as? StreamDesk else { return }
            job(desk, session.core.value)
        }
    }

    /// In the child of a fork nobody would ever answer.
    private var unavailability: URLError? { session.world.unavailability()?.urlError(for: nil) }
}

// MARK: - Reading

extension URLSessionStreamTask {
    /// Reads some bytes.
    ///
    /// - Parameters:
    ///   - minBytes: Fewer are handed out only with the end of the stream, or with an error. With 0 what is there
    ///     already, perhaps nothing.
    ///   - maxBytes: More are left for the next read.
    ///   - timeout: In seconds, from now or from the beginning of the task, whichever is later; also while other reads
    ///     come first. Not positive: as long as it takes.
    ///   - completionHandler: Called once: with bytes; whether they are the last; and an error, beside the bytes that had
    ///     arrived until then. After the end and after an error every other read fails.
    @preconcurrency
    public func readData(
        ofMinLength minBytes: Int,
        maxLength maxBytes: Int,
        timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        read(minBytes, maxBytes, timeout, isAwaited: false, completionHandler)
    }

    /// Reads some bytes. Independent of the delegate queue; cancelling the Swift task cancels this one.
    ///
    /// - Parameters:
    ///   - minBytes: As for ``readData(ofMinLength:maxLength:timeout:completionHandler:)``.
    ///   - maxBytes: More are left for the next read.
    ///   - timeout: In seconds. Not positive: as long as it takes.
    /// - Returns: Bytes, and whether they are the last.
    public func readData(
        ofMinLength minBytes: Int,
        maxLength maxBytes: Int,
        timeout: TimeInterval
    ) async throws -> (Data?, Bool) {
        try await awaited { [self] answer in
            read(minBytes, maxBytes, timeout, isAwaited: true) { data, isAtEnd, error in
                answer(error.map(Result.failure) ?? .success((data, isAtEnd)))
            }
        }
    }

    private func read(
        _ minBytes: Int,
        _ maxBytes: Int,
        _ timeout: TimeInterval,
        isAwaited: Bool,
        _ handler: @escaping StreamRead.Handler
    ) {
        if let error = unavailability { return handler(nil, false, error) }
        ask { desk, session in
            desk.add(StreamRead(minBytes, maxBytes, timeout, isAwaited: isAwaited, handler), in: session)
        }
    }

    /// Closes the direction to us, after the reads asked for before. What arrives from then on is dropped.
    public func closeRead() {
        ask { desk, session in desk.closeReading(in: session) }
    }
}

// MARK: - Writing

extension URLSessionStreamTask {
    /// Writes all of `data`.
    ///
    /// - Parameters:
    ///   - data: What to write.
    ///   - timeout: In seconds, from now or from the beginning of the task, whichever is later; also while other writes
    ///     come first. Not positive: as long as it takes.
    ///   - completionHandler: Called once: without an error when the kernel has taken all of it, which does not mean that
    ///     the peer has it. After an error, when part of it may have been sent, every other write fails.
    @preconcurrency
    public func write(
        _ data: Data,
        timeout: TimeInterval,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        write(data, timeout, isAwaited: false, completionHandler)
    }

    /// Writes all of `data`. Independent of the delegate queue; cancelling the Swift task cancels this one.
    public func write(_ data: Data, timeout: TimeInterval) async throws {
        try await awaited { [self] answer in
            write(data, timeout, isAwaited: true) { answer($0.map(Result.failure) ?? .success(())) }
        }
    }

    private func write(_ data: Data, _ timeout: TimeInterval, isAwaited: Bool, _ handler: @escaping StreamWrite.Handler)
    {
        if let error = unavailability { return handler(error) }
        ask { desk, session in
            desk.add(StreamWrite(data, timeout, isAwaited: isAwaited, handler), in: session)
        }
    }

    /// Closes the direction to the peer, after the writes asked for before: it then reads to the end. Reading goes on.
    public func closeWrite() {
        ask { desk, session in desk.closeWriting(in: session) }
    }
}

// MARK: - Both directions

extension URLSessionStreamTask {
    /// Secures the connection, when all that was asked for before is done. What is asked for afterwards waits, and is
    /// secured.
    ///
    /// The server is judged by the session's ``URLSession/tls``, as for requests over https; delegates are asked in the
    /// same way. If it is refused, the task fails. Bytes of the peer that nobody had read by then fail the handshake:
    /// what somebody on the way has put there in the clear is not taken for what the server said. To a host that the
    /// session's evaluator has pins for, nothing is read or written before this. A secured connection is not secured
    /// once more.
    public func startSecureConnection() {
        ask { desk, session in desk.secure(in: session) }
    }

    /// Does nothing: what was secured stays secured.
    @available(*, deprecated, message: "a secured connection cannot go on in the clear; close it and make another")
    public func stopSecureConnection() {}

    /// Makes streams of the connection, when all that was asked for before is done.
    ///
    /// They are handed to ``URLSessionStreamDelegate/urlSession(_:streamTask:didBecome:outputStream:)``. With that the task
    /// has completed, and nothing more is heard of it. Without a delegate that has the method it fails.
    public func captureStreams() {
        ask { desk, session in desk.capture(in: session) }
    }
}

// MARK: - Waiting

extension URLSessionStreamTask {
    private func awaited<Value: Sendable>(
        _ begin: @escaping @Sendable (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        let answer = StreamAnswer<Value>()
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

/// Carries a result to the one who awaits it, in a locked box: see ``Answer``.
private final class StreamAnswer<Value: Sendable>: Sendable {
    private struct State {
        var continuation: UnsafeContinuation<Void, Never>?
        var result: Result<Value, any Error>?
    }

    private let state = Lock(State())

    func expect(_ continuation: UnsafeContinuation<Void, Never>) {
        state.withLock { $0.continuation = continuation }
    }

    func give(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.continuation = nil }
            return state.continuation
        }
        waiting?.resume()
    }

    func taken() throws -> Value {
        guard let result = state.withLock({ $0.result }) else { throw URLError(.unknown) }
        return try result.get()
    }
}
