public import Foundation

/// An event of a stream that a server sends as `text/event-stream`.
public struct ServerSentEvent: Sendable, Hashable {
    /// What kind of event it is: the field `event`, or `message` if it has none.
    public let name: String
    /// The lines of its fields `data`, joined by LF.
    public let data: String
    /// The identifier with which the stream can be resumed behind this event; empty if the server has given none.
    public let id: String

    /// Makes an event, for tests.
    public init(name: String = "message", data: String, id: String = "") {
        self.name = name
        self.data = data
        self.id = id
    }

    /// The value that the data encode, as JSON unless another decoder is given.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        with decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(data.utf8))
    }
}
