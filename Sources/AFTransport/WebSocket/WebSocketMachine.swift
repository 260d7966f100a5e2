/// Decides where a WebSocket stands (RFC 6455 §7). The connection tells it what happens, and does what it says.
///
/// ```
/// open ── closeAsked ──▶ closing ── unwantedMessage ──▶ skipping
/// open, closing, skipping ── violation ──▶ failing
/// open, closing, skipping ── serverClosed ──▶ ending
/// all but open, over ── closeOverdue ──▶ over
/// all but over ── lost, dropAsked ──▶ over
/// ```
///
/// Suspension, and a server that takes no more bytes, lie across the states.
struct WebSocketMachine {
    enum State: UInt8, CaseIterable {
        case open
        /// Our Close frame waits behind messages, or has left. The server's is awaited, and messages before it count.
        case closing
        /// The client did not want a message before the server's Close frame. It must not miss one in the middle, so it gets
        /// none of those that follow.
        case skipping
        /// The server has broken the protocol, or sends more than we take. Nothing that it sends counts. It has to close the
        /// connection: if we did at once, that could take our Close frame from it again.
        case failing
        /// The server's Close frame is here, and ours has left or is on its way. The server has to close the connection.
        case ending
        case over
    }

    enum Event: UInt8, CaseIterable {
        /// The client sends a message or a ping.
        case sendAsked
        case closeAsked
        /// The client wants nothing more of the connection.
        case dropAsked
        /// A message has arrived in full, and the client takes one now.
        case message
        /// A message has arrived in full, and the client takes none now.
        case unwantedMessage
        case serverPing
        /// The server's Close frame has arrived.
        case serverClosed
        /// What the server has sent breaks the protocol, or is more than we take.
        case violation
        /// Some bytes have left.
        case bytesLeft
        /// Nothing is left to send.
        case allLeft
        /// The server takes no more bytes. What it has sent before can still be read.
        case sendingFailed
        /// The connection has ended or broken, or the server is not there.
        case lost
        /// The server takes too long to close.
        case closeOverdue
    }

    enum Action: Equatable {
        case send
        /// Tell the caller why nothing is sent any more.
        case refuse
        /// Send a Close frame behind the messages that wait, and give the server its time to answer.
        case sendClose
        /// Send a Close frame that says that the client goes away, if there is room for it, and close the connection.
        case sayGoodbye
        /// Close the connection.
        case drop
        case deliver
        /// The client does not get this message.
        case skip
        case pong
        /// Tell the client of the server's Close frame, and answer it.
        case answerClose
        /// Tell the client of the server's Close frame, which answers ours.
        case noteClose
        /// Send a Close frame that says what is wrong, and nothing else.
        case failWithClose
        /// Send nothing but the Close frame that is on its way.
        case fail
        /// The messages in front of our Close frame leave: the server's time begins again.
        case restartTimer
        /// Nothing follows the Close frame of a client that fails the connection.
        case endWriting
        /// Read what the server has sent before: it may be a Close frame that says why.
        case readRest
        /// Close the connection, and tell the client why.
        case end
        /// Close the connection, and tell the client what the server has broken.
        case endFailed
        /// Close the connection, as both sides have asked for.
        case endInOrder
        case nothing
        /// No order of events leads here: `objection` says why. The connection ends with an error that names both.
        case impossible
    }

    private(set) var state: State
    private(set) var isSuspended: Bool
    /// The server takes no more bytes.
    private(set) var isBroken: Bool

    init(state: State = .open, isSuspended: Bool = false, isBroken: Bool = false) {
        (self.state, self.isSuspended, self.isBroken) = (state, isSuspended, isBroken)
    }

    mutating func handle(_ event: Event) -> Action {
        let (action, next) = table(event)
        if action == .readRest { isBroken = true }
        state = next
        return action
    }

    private func table(_ event: Event) -> (Action, State) {
        switch (state, event) {
        case (.open, .sendAsked): (.send, .open)
        case (_, .sendAsked): (.refuse, state)
        case (.over, _): (.nothing, .over)

        case (.open, .closeAsked): (.sendClose, .closing)
        case (_, .closeAsked): (.nothing, state)
        case (.open, .dropAsked): (isBroken || isSuspended ? .drop : .sayGoodbye, .over)
        case (_, .dropAsked): (.drop, .over)

        case (.open, .message), (.open, .unwantedMessage), (.closing, .message): (.deliver, state)
        case (.closing, .unwantedMessage), (.skipping, .message), (.skipping, .unwantedMessage): (.skip, .skipping)
        case (.open, .serverPing), (.closing, .serverPing), (.skipping, .serverPing): (.pong, state)
        case (.open, .serverClosed): (.answerClose, .ending)
        case (.closing, .serverClosed), (.skipping, .serverClosed): (.noteClose, .ending)
        case (.open, .violation): (.failWithClose, .failing)
        case (.closing, .violation), (.skipping, .violation): (.fail, .failing)

        case (.closing, .bytesLeft), (.skipping, .bytesLeft): (.restartTimer, state)
        case (_, .bytesLeft): (.nothing, state)
        case (.failing, .allLeft): (.endWriting, .failing)
        case (_, .allLeft): (.nothing, state)
        case (_, .sendingFailed) where !isBroken: (.readRest, state)

        case (.open, .lost), (.closing, .lost), (.skipping, .lost), (.closing, .closeOverdue),
            (.skipping, .closeOverdue):
            (.end, .over)
        case (.failing, .lost), (.failing, .closeOverdue): (.endFailed, .over)
        case (.ending, .lost), (.ending, .closeOverdue): (.endInOrder, .over)

        case (.open, .closeOverdue), (_, .sendingFailed),
            (.failing, .message), (.failing, .unwantedMessage), (.failing, .serverPing), (.failing, .serverClosed),
            (.failing, .violation),
            (.ending, .message), (.ending, .unwantedMessage), (.ending, .serverPing), (.ending, .serverClosed),
            (.ending, .violation):
            (.impossible, .over)
        }
    }

    /// Why an event is impossible in a state.
    static func objection(to event: Event, in state: State) -> String { "\(event) while \(state): \(reason(event))" }

    private static func reason(_ event: Event) -> String {
        switch event {
        case .message, .unwantedMessage, .serverPing, .serverClosed, .violation:
            "nothing that the server sends counts any more"
        case .sendingFailed: "the server has taken no bytes since it failed before"
        case .closeOverdue: "neither side has closed"
        case .sendAsked, .closeAsked, .dropAsked, .bytesLeft, .allLeft, .lost: "it may come at any time"
        }
    }

    // MARK: - What goes on

    mutating func suspend() {
        isSuspended = true
    }

    /// - Returns: Whether it was suspended.
    mutating func resume() -> Bool {
        defer { isSuspended = false }
        return isSuspended
    }

    var isOpen: Bool { state == .open }

    /// Whether what the server sends has a taker now. If not, the server has to wait.
    ///
    /// - Parameter isWanted: Whether the client takes another message. When the connection is broken, it gets those that
    ///   have arrived all the same.
    func reads(isWanted: Bool) -> Bool {
        !isSuspended && state != .over && (state != .open || isWanted || isBroken)
    }

    /// Whether what the server sends counts.
    var decodes: Bool { state == .open || state == .closing || state == .skipping }
}
