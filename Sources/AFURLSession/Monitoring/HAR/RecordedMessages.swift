import AFLoop
import AFTransport

/// The messages of a WebSocket, as far as a recorder keeps them: the first ones.
struct RecordedMessages {
    struct Message: Sendable {
        let instant: LoopInstant
        let isSent: Bool
        let content: WebSocketMessage
    }

    /// More make an archive that no tool shows.
    private static let mostMessages = 1000

    /// The most bytes of all of them together, as they stand in the archive.
    private let limit: Int
    private var count = 0
    private(set) var messages: [Message] = []
    /// How many were not kept.
    private(set) var omitted = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ message: WebSocketMessage, isSent: Bool, at instant: LoopInstant) {
        let size = message.isText ? message.byteCount : (message.byteCount + 2) / 3 * 4
        guard omitted == 0, messages.count < Self.mostMessages, size <= limit - count else {
            omitted += 1
            return
        }
        count += size
        messages.append(Message(instant: instant, isSent: isSent, content: message))
    }
}
