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
