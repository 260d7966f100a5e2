import AFURLTypes
import AFWire
import Foundation

/// Reads the events of one response.
struct EventReader {
    /// What a response has, in its order.
    enum Element {
        case event(ServerSentEvent)
        case comment(String)
    }

    private(set) var parser: EventStreamParser
    private let reader: ByteReader
    private var piece: StreamPiece?
    private var used = 0

    /// - Parameters:
    ///   - source: The body.
    ///   - lastID: What the responses before this one left.
    ///   - lineLimit: The bytes of a line. Less than 0 means 0.
    ///   - eventLimit: The bytes of the data of an event. Less than 0 means 0.
    ///   - keepsComments: Whether comments are among the elements.
    init(
        source: ByteSource,
        after lastID: String = "",
        lineLimit: Int,
        eventLimit: Int,
        keepsComments: Bool = false
    ) {
        parser = EventStreamParser(
            lastID: lastID,
            lineLimit: max(lineLimit, 0),
            eventLimit: max(eventLimit, 0),
            keepsComments: keepsComments
        )
        reader = ByteReader(source)
    }

    /// Nil at the end of the response. The lines of an event whose empty line has not arrived are dropped.
    mutating func next(_ actor: isolated (any Actor)?) async throws -> Element? {
        while true {
            if let event = try eventOfPiece() { return .event(event) }
            if let comment = parser.takeComment() { return .comment(comment) }
            piece = try await reader.source.next()
            used = 0
            if piece == nil { return nil }
        }
    }

    private mutating func eventOfPiece() throws -> ServerSentEvent? {
        guard let piece else { return nil }
        var rest = UnsafeRawBufferPointer(rebasing: piece.bytes[used...])
        do throws(EventStreamParser.TooLong) {
            let event = try parser.next(&rest)
            used = piece.bytes.count - rest.count
            return event.map { ServerSentEvent(name: $0.name, data: $0.data, id: $0.id) }
        } catch {
            throw ClientFailure.eventTooLong(error).urlError(for: reader.source.task.originalRequest?.url)
        }
    }
}
