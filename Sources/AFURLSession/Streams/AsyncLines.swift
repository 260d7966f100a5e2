import Foundation

extension URLSession.AsyncBytes {
    /// The longest line of ``lines``, in bytes.
    public static let usualLineLimit = 1 << 20

    /// The body line by line, lines of up to 1 MiB.
    ///
    /// Lines end with LF, CR LF or CR, which are no part of them. Empty lines are lines; after the last line end there
    /// is no further line. Bytes that are not UTF-8 become U+FFFD, so that one bad byte does not lose the rest of a
    /// log; read ``chunks`` to see the bytes themselves. A line that an error cuts short is dropped, so that it does
    /// not pass for a whole one.
    public var lines: Lines { lines(limit: Self.usualLineLimit) }

    /// As ``lines``, with another limit.
    ///
    /// - Parameter limit: The longest line in bytes, without its line end. As soon as a line is longer, it throws
    ///   `URLError.dataLengthExceedsMaximum` and ends the load. Less than 0 means 0.
    public func lines(limit: Int) -> Lines { Lines(source: source, limit: Swift.max(limit, 0)) }

    /// The body of a response line by line.
    public struct Lines: AsyncSequence, Sendable {
        /// A line of the body.
        public typealias Element = String

        let source: ByteSource
        let limit: Int

        /// Begins, or goes on, to read.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(reader: ByteReader(source), limit: limit, splitter: LineSplitter(limit: limit))
        }

        /// Reads line by line.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var reader: ByteReader?
            let limit: Int
            var splitter: LineSplitter
            private var piece: StreamPiece?
            private var used = 0

            init(reader: ByteReader, limit: Int, splitter: LineSplitter) {
                self.reader = reader
                self.limit = limit
                self.splitter = splitter
            }

            /// The next line; nil at the end.
            public mutating func next() async throws -> String? {
                try await next(isolation: nil)
            }

            /// The next line; nil at the end. Does not leave the caller's actor as long as a line is there.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
                while let reader {
                    if let line = try lineOfPiece(reader) { return line }
                    do {
                        piece = try await reader.source.next()
                        used = 0
                    } catch {
                        self.reader = nil
                        throw error
                    }
                    guard piece == nil else { continue }
                    self.reader = nil
                    return splitter.finish()
                }
                return nil
            }

            private mutating func lineOfPiece(_ reader: ByteReader) throws -> String? {
                guard let piece else { return nil }
                let bytes = piece.bytes
                var rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
                do throws(LineSplitter.TooLong) {
                    let line = try splitter.next(&rest)
                    used = bytes.count - rest.count
                    return line
                } catch {
                    self.reader = nil
                    self.piece = nil
                    throw ErrorMapping.error(.lineTooLong(limit: limit), url: reader.source.task.originalRequest?.url)
                }
            }
        }
    }
}

extension LoadFailure {
    fileprivate static func lineTooLong(limit: Int) -> LoadFailure {
        LoadFailure(
            .limit,
            phase: .receivingBody,
            message: "A line of the body is longer than \(limit) bytes.",
            advice: "Use lines(limit:), or read the body in chunks."
        )
    }
}
