/// A reply of a `TestServer`: a message, and how the server misbehaves while it sends it.
///
/// Make one with a factory method, then change it: every method returns a changed copy.
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
        /// With `Content-Length`; in chunks if the length is not known.
        case length
        /// In chunks of these sizes, of which the last repeats; without sizes, each piece is a chunk.
        /// A 1.0 client cannot read chunks: for it the body ends with the connection.
        case chunked(sizes: [Int], trailers: HeaderFields)
        /// By the end of the connection.
        case untilClose
    }

    /// Which bytes count towards a cut.
    public enum Part: Sendable, Hashable {
        /// The bytes after the head of the final response, chunk framing included.
        case body
        /// All bytes of the reply, interim responses included.
        case message
    }

    /// The status code.
    public var status: Int
    /// The reason phrase; nil for that of RFC 9110.
    public var reason: String?
    /// Header fields in order, before those the server adds.
    ///
    /// The server adds `Content-Length`, `Transfer-Encoding` and `Connection` as needed, unless they are
    /// set here: it sends a framing field of yours as you wrote it, true or not.
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

/// How the server sends a reply.
struct Delivery: Sendable {
    /// What the server does once it has sent `count` bytes.
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

    /// A 1xx response before the final one.
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
    /// Bytes that are sent in place of the message.
    var raw: [UInt8]?
}
