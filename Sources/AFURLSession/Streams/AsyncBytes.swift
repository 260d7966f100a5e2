import AFLoop
import AFURLTypes
public import Foundation

extension URLSession {
    /// The bytes of a response body, as they arrive.
    ///
    /// ```swift
    /// let (bytes, response) = try await session.bytes(from: url)
    /// for try await line in bytes.lines { handle(line) }
    /// ```
    ///
    /// At most 256 KiB wait to be read; then the session stops reading the connection, and the server has to wait.
    /// There is one copy of the bytes: iterators that exist at the same time share them, and each byte goes to one of
    /// them. The load is cancelled when you release the last iterator before the end, as `break` does, or the sequence
    /// itself without having iterated it. An iterator made after that returns what had arrived, and then throws.
    /// Cancelling the Swift task that waits cancels the load too.
    ///
    /// An error comes after all bytes that arrived before it. An iterator that has thrown is at its end.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte of the body.
        public typealias Element = UInt8

        let source: ByteSource

        /// The task that loads the bytes.
        public var task: URLSessionDataTask { source.task }

        /// Begins, or goes on, to read.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(ByteReader(source)) }

        /// Reads byte by byte. It waits only when a piece is used up, so it is about as fast as an array.
        ///
        /// A copy of an iterator also has the rest of the current piece.
        public struct AsyncIterator: AsyncIteratorProtocol {
            @usableFromInline var next: UnsafeRawPointer?
            @usableFromInline var end: UnsafeRawPointer?
            private var reader: ByteReader?
            /// Keeps the memory that `next` points into.
            private var piece: StreamPiece?

            init(_ reader: ByteReader) {
                self.reader = reader
            }

            /// The next byte; nil at the end.
            @inlinable
            public mutating func next() async throws -> UInt8? {
                try await next(isolation: nil)
            }

            /// The next byte; nil at the end. Does not leave the caller's actor as long as a byte is there.
            @inlinable
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> UInt8? {
                if let position = next, position != end {
                    next = position + 1
                    return position.load(as: UInt8.self)
                }
                return try await firstOfNextPiece(isolation: actor)
            }

            @usableFromInline
            mutating func firstOfNextPiece(isolation actor: isolated (any Actor)?) async throws -> UInt8? {
                guard let bytes = try await nextPiece(isolation: actor)?.bytes, let base = bytes.baseAddress else {
                    return nil
                }
                next = base + 1
                end = base + bytes.count
                return base.load(as: UInt8.self)
            }

            private mutating func nextPiece(isolation actor: isolated (any Actor)?) async throws -> StreamPiece? {
                next = nil
                end = nil
                piece = nil
                guard let reader else { return nil }
                do {
                    piece = try await reader.source.next()
                } catch {
                    self.reader = nil
                    throw error
                }
                if piece == nil { self.reader = nil }
                return piece
            }
        }
    }
}

// MARK: - In pieces

extension URLSession.AsyncBytes {
    /// The body in pieces as they arrived, 256 KiB at most and never empty.
    public var chunks: Chunks { Chunks(source: source) }

    /// The body of a response in pieces.
    public struct Chunks: AsyncSequence, Sendable {
        /// A piece of the body.
        public typealias Element = Data

        let source: ByteSource

        /// Begins, or goes on, to read.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: ByteReader(source)) }

        /// Reads piece by piece.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var reader: ByteReader?

            /// The next piece; nil at the end.
            public mutating func next() async throws -> Data? {
                try await next(isolation: nil)
            }

            /// The next piece; nil at the end. Does not leave the caller's actor but to wait.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
                guard let reader else { return nil }
                do {
                    if let piece = try await reader.source.next() { return piece.data(from: 0) }
                } catch {
                    self.reader = nil
                    throw error
                }
                self.reader = nil
                return nil
            }
        }
    }
}

extension URLSession {
    /// Loads `request` and returns as soon as the head of the response has arrived. The bytes of its body follow.
    ///
    /// Cancelling the Swift task, or releasing the bytes, cancels the load. The result does not depend on the delegate
    /// queue, unless a delegate takes the metrics of the task: then the end of the bytes comes after that method has
    /// returned.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - delegate: Hears about this task in place of the session's delegate, where it has the method; not about the
    ///   response, the data and the completion, which go to the caller.
    public func bytes(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: request, expecting: nil, isApart: false, delegate: delegate)
    }

    /// - Parameters:
    ///   - content: What the response must be. The task of another one fails, with the response in its error.
    ///   - isApart: Whether the connection is none of those that the host may have.
    func bytes(
        for request: URLRequest,
        expecting content: ResponseRefusal.Content?,
        isApart: Bool,
        delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (AsyncBytes, URLResponse) {
        let mailbox = StreamMailbox()
        let task = make { identifier in
            URLSessionDataTask(
                request,
                identifier: identifier,
                in: self,
                consumer: StreamConsumer(mailbox: mailbox, expecting: content, isApart: isApart)
            ) { _, _, error in
                for waiter in mailbox.end(error) { waiter.resume() }
            }
        }
        task.delegate = delegate
        let source = ByteSource(task: task, mailbox: mailbox)
        task.resume()
        return (AsyncBytes(source: source), try await source.response())
    }

    /// Loads `url`, as ``bytes(for:delegate:)`` does.
    public func bytes(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), delegate: delegate)
    }
}
