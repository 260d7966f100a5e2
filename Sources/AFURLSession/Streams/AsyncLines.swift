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
    public func lines(limit: Int) -> Lines { Lines(source: source, limit: limit) }

    /// The body of a response line by line.
    public struct Lines: AsyncSequence, Sendable {
        /// A line of the body.
        public typealias Element = String

        let source: ByteSource
        let limit: Int

        /// Begins, or goes on, to read.
        public func makeAsyncIterator() -> AsyncIterator {
            let advice = "Use lines(limit:), or read the body in chunks."
            return AsyncIterator(reader: LineReader(source: source, limit: limit, advice: advice))
        }

        /// Reads line by line.
        public struct AsyncIterator: AsyncIteratorProtocol {
            /// Nil at the end, and behind an error.
            var reader: LineReader?

            /// The next line; nil at the end.
            public mutating func next() async throws -> String? {
                try await next(isolation: nil)
            }

            /// The next line; nil at the end. Does not leave the caller's actor as long as a line is there.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
                do {
                    let line = try await reader?.next(actor) { String(decoding: $0, as: UTF8.self) }
                    if let line { return line }
                } catch {
                    reader = nil
                    throw error
                }
                reader = nil
                return nil
            }
        }
    }
}
