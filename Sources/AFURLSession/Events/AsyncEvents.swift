import Foundation

extension URLSession.AsyncBytes {
    /// The body as events (`text/event-stream`), whatever type the response has.
    ///
    /// ```swift
    /// let (bytes, response) = try await session.bytes(for: question)
    /// guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    /// for try await event in bytes.events { show(event.data) }
    /// ```
    ///
    /// They end with the response: ``URLSession/events(for:options:delegate:)`` connects again.
    public var events: Events {
        let usual = EventStreamOptions()
        return events(maximumLineLength: usual.maximumLineLength, maximumEventSize: usual.maximumEventSize)
    }

    /// As ``events``, with other limits.
    ///
    /// - Parameters:
    ///   - maximumLineLength: The longest line in bytes. A longer one throws `URLError.dataLengthExceedsMaximum` and ends
    ///   the load.
    ///   - maximumEventSize: The most data of one event in bytes. More throw the same.
    public func events(maximumLineLength: Int, maximumEventSize: Int) -> Events {
        Events(source: source, lineLimit: maximumLineLength, eventLimit: maximumEventSize)
    }

    /// The body of a response as events.
    public struct Events: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = ServerSentEvent

        let source: ByteSource
        let lineLimit: Int
        let eventLimit: Int

        /// Begins, or goes on, to read.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(reader: EventReader(source: source, lineLimit: lineLimit, eventLimit: eventLimit))
        }

        /// Reads event by event.
        public struct AsyncIterator: AsyncIteratorProtocol {
            /// Nil at the end, and behind an error.
            var reader: EventReader?

            /// The next event; nil at the end.
            public mutating func next() async throws -> ServerSentEvent? {
                try await next(isolation: nil)
            }

            /// The next event; nil at the end. Does not leave the caller's actor as long as an event is there.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
                do {
                    if case .event(let event)? = try await reader?.next(actor) { return event }
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
