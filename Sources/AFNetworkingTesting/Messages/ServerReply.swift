/// What a `TestServer` answers: a message, and how to misbehave while sending it.
///
/// Make one with a factory, then add to it; every method returns a changed copy.
///
/// ```swift
/// let found = ServerReply.text("hi")
/// let nothing = ServerReply.status(204)
/// let made = ServerReply.json(#"{"id": 7}"#).status(201).header("Location", "/users/7")
/// let slow = ServerReply.text("slow").delayed(by: .milliseconds(200)).dribbling(1, every: .milliseconds(5))
/// let torn = ServerReply.stream(.repeating("x", count: 10_000)).resetting(after: 4_096)
/// ```
public struct ServerReply: Sendable {
    /// How the body is delimited on the wire.
    public enum Framing: Sendable, Hashable {
        /// With `Content-Length`; with chunks if the length is not known beforehand.
        case length
        /// In chunks of these sizes, the last size repeating; no sizes means as the bytes come.
        /// To a 1.0 client, which cannot read chunks, the body ends with the connection instead.
        case chunked(sizes: [Int], trailers: HeaderFields)
        /// By the end of the connection.
        case untilClose
    }

    /// From where the bytes before a cut are counted.
    public enum Part: Sendable, Hashable {
        /// Bytes after the head of the final response, as they stand on the wire (chunk framing included).
        case body
        /// All bytes of the reply, interim responses included.
        case message
    }

    /// The status code.
    public var status: Int
    /// The reason phrase; nil for the usual one.
    public var reason: String?
    /// Header fields in order, before those the server adds.
    ///
    /// `Content-Length`, `Transfer-Encoding` and `Connection` are added as needed, unless they are
    /// given here: a framing field of yours is sent as you wrote it, true or not.
    public var headers: HeaderFields = [:]
    /// The body, if there is one.
    public var body: ReplyBody?
    /// How the body is delimited.
    public var framing = Framing.length

    var delivery = Delivery()

    /// Makes a reply without a body.
    public init(status: Int = 200, reason: String? = nil) {
        self.status = status
        self.reason = reason
    }
}

/// How a reply is sent, apart from what it says.
struct Delivery: Sendable {
    /// What happens once so many bytes were sent.
    struct Cut: Sendable {
        var count: Int
        var part: ServerReply.Part
        var action: Action
    }

    enum Action: Sendable {
        case stall
        case reset
        case close
    }

    struct Dribble: Sendable {
        var byteCount: Int
        var interval: Duration
    }

    /// A message before the final one.
    struct Interim: Sendable {
        var status: Int
        var headers: HeaderFields
    }

    var heldUntil: String?
    var delay: Duration?
    var bodyDelay: Duration?
    var interims: [Interim] = []
    var dribble: Dribble?
    /// The pause before each piece of the body.
    var pace: Duration?
    var cut: Cut?
    var keepAlive: Bool?
    var halfCloses = false
    var endsUnannounced = false
    var skipsBody = false
    /// Sent instead of the message.
    var raw: [UInt8]?
}
