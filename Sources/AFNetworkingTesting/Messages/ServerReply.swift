import Foundation

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
    @nonexhaustive
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
    @nonexhaustive
    public enum Part: Sendable, Hashable {
        /// The bytes after the head of the final response, chunk framing included.
        case body
        /// The bytes of the body itself, without chunk framing: an event, a line.
        case content
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

    // MARK: - Making replies

    /// An empty reply with this status.
    public static func status(_ status: Int, reason: String? = nil) -> ServerReply {
        ServerReply(status: status, reason: reason)
    }

    /// A 200 with UTF-8 text.
    public static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> ServerReply {
        data(text.utf8, type: type)
    }

    /// A 200 with JSON text.
    public static func json(_ text: String) -> ServerReply {
        data(text.utf8, type: "application/json")
    }

    /// A 200 with a value encoded as JSON, keys sorted.
    public static func json(encoding value: some Encodable) throws -> ServerReply {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return data(try encoder.encode(value), type: "application/json")
    }

    /// A 200 with these bytes.
    public static func data(_ bytes: some Sequence<UInt8>, type: String? = "application/octet-stream") -> ServerReply {
        stream(.bytes(bytes), type: type)
    }

    /// A 200 with a body from a source, which need not fit into memory.
    public static func stream(_ source: ReplyBody, type: String? = "application/octet-stream") -> ServerReply {
        var reply = ServerReply()
        reply.body = source
        reply.headers["Content-Type"] = type
        return reply
    }

    /// Exactly this text in place of a well-formed message; the connection stays open after it.
    ///
    /// Status, headers and framing do not apply; delays, dribbling and the cuts do.
    public static func raw(_ text: String) -> ServerReply {
        raw(bytes: text.utf8)
    }

    /// Exactly these bytes in place of a well-formed message; the connection stays open after them.
    public static func raw(bytes: some Sequence<UInt8>) -> ServerReply {
        var reply = ServerReply()
        reply.delivery.raw = Array(bytes)
        return reply
    }

    /// With another status.
    public func status(_ status: Int, reason: String? = nil) -> ServerReply {
        changed {
            $0.status = status
            $0.reason = reason
        }
    }

    /// With one more header field at the end. A field that a response has only once, such as `Content-Type`, replaces
    /// the previous one; `headers(_:)` adds it in any case.
    public func header(_ name: String, _ value: String) -> ServerReply {
        changed { reply in
            if Self.singleFields.contains(where: name.equalsIgnoringCase) {
                reply.headers[name] = value
            } else {
                reply.headers.append(name, value)
            }
        }
    }

    /// Fields that a response has only once (RFC 9110 and RFC 9111).
    private static let singleFields = [
        "Age", "Content-Disposition", "Content-Length", "Content-Location", "Content-Range", "Content-Type", "Date",
        "ETag", "Expires", "Last-Modified", "Location", "Retry-After", "Server",
    ]

    /// With more header fields at the end, also those that a response should have only once.
    public func headers(_ headers: HeaderFields) -> ServerReply {
        changed { $0.headers = HeaderFields($0.headers.fields + headers.fields) }
    }

    /// With the body in chunks of these sizes, of which the last repeats, and trailer fields after it.
    public func chunked(_ sizes: Int..., trailers: HeaderFields = [:]) -> ServerReply {
        changed { $0.framing = .chunked(sizes: sizes, trailers: trailers) }
    }

    /// With a body that ends with the connection, without a length.
    public func closeDelimited() -> ServerReply {
        changed { $0.framing = .untilClose }
    }

    /// With the body compressed and the coding in `Content-Encoding`. Use it again for another layer.
    ///
    /// The whole body is made first. A body without a known count, or a reply without a body, stays as it is.
    public func compressed(_ coding: ContentCoding) -> ServerReply {
        guard let body, let count = body.count else { return self }
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = body.piece(bytes.count)
            if piece.isEmpty { break }
            bytes += piece
        }
        return changed { reply in
            reply.body = .bytes(coding.encode(bytes.prefix(count)))
            let others = reply.headers["Content-Encoding"].map { $0 + ", " } ?? ""
            reply.headers["Content-Encoding"] = others + coding.token
        }
    }

    func changed(_ body: (inout ServerReply) -> Void) -> ServerReply {
        var copy = self
        body(&copy)
        return copy
    }

    // MARK: - Behaviour

    /// Waits before the first byte.
    public func delayed(by duration: Duration) -> ServerReply {
        changed { $0.delivery.delay = duration }
    }

    /// Sends the head, then waits before the body.
    public func delayingBody(by duration: Duration) -> ServerReply {
        changed { $0.delivery.bodyDelay = duration }
    }

    /// Waits before the first byte until the test calls `TestServer.signal(_:)` with this name.
    public func held(until signal: String) -> ServerReply {
        changed { $0.delivery.heldUntil = signal }
    }

    /// Sends at most `byteCount` bytes per write, with a pause after each write.
    public func dribbling(_ byteCount: Int, every interval: Duration = .zero) -> ServerReply {
        changed { $0.delivery.dribble = Delivery.Dribble(byteCount: max(byteCount, 1), interval: interval) }
    }

    /// Sends the head, then each piece of the body in one write, with a pause before it.
    ///
    /// The body decides about its pieces: `ReplyBody.generated(count:_:)` makes them one by one.
    public func pacing(every interval: Duration) -> ServerReply {
        changed { $0.delivery.pace = interval }
    }

    /// Stops sending after `byteCount` bytes and keeps the connection open until the client
    /// closes it or the server stops.
    ///
    /// The server sends a shorter reply whole before it stops. The same is true of the other cuts.
    public func stalling(after byteCount: Int, of part: Part = .body) -> ServerReply {
        cut(after: byteCount, of: part, then: .stall)
    }

    /// Resets the connection after `byteCount` bytes.
    ///
    /// A reset may overtake bytes the client has not read yet; put a pause or a signal in a
    /// script when the client must see them first.
    public func resetting(after byteCount: Int, of part: Part = .body) -> ServerReply {
        cut(after: byteCount, of: part, then: .reset)
    }

    /// Closes the connection, with an end of stream, after `byteCount` bytes.
    public func closing(after byteCount: Int, of part: Part = .body) -> ServerReply {
        cut(after: byteCount, of: part, then: .close)
    }

    /// Closes the server's sending side after the reply, but goes on receiving and recording requests.
    public func halfClosing() -> ServerReply {
        changed { $0.delivery.halfCloses = true }
    }

    /// If a TLS connection ends with this reply, the server sends no close_notify: the client cannot tell whether
    /// the reply was cut off.
    public func endingUnannounced() -> ServerReply {
        changed { $0.delivery.endsUnannounced = true }
    }

    /// Sends an interim (1xx) response before the final one. Use it again for more of them.
    public func interim(_ status: Int, _ headers: HeaderFields = [:]) -> ServerReply {
        changed { $0.delivery.interims.append(Delivery.Interim(status: status, headers: headers)) }
    }

    /// Keeps the connection open after the reply, or closes it; the client's wish does not count.
    public func keepAlive(_ keepAlive: Bool) -> ServerReply {
        changed { $0.delivery.keepAlive = keepAlive }
    }

    /// Answers as soon as the head of the request has arrived, then closes the connection and discards the body.
    ///
    /// With `keepAlive(true)` the server reads and discards the rest of the body after the answer, and
    /// the connection stays open. This works for replies that are known when the head arrives:
    /// enqueued and fixed replies, and those of routes registered with `answering: .head`.
    public func withoutReadingBody() -> ServerReply {
        changed { $0.delivery.skipsBody = true }
    }

    private func cut(after byteCount: Int, of part: Part, then action: Delivery.Action) -> ServerReply {
        changed { $0.delivery.cut = Delivery.Cut(count: max(byteCount, 0), part: part, action: action) }
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
    /// Bytes that are sent behind the head, in the same write.
    var surplus: [UInt8] = []
    /// Makes the reply to a request from this one.
    var completion: (@Sendable (_ reply: ServerReply, _ request: RecordedRequest) -> ServerReply)?
    /// Serves the connection after 101, until it ends. Gets the bytes that arrived behind the request, too.
    var successor: (@Sendable (any SwitchedStream, [UInt8], RecordedRequest) throws(ConnectionEnd) -> Never)?
}
