/// What a simulated server does with the first request of a task. A second one, after
/// a retry, is answered plainly.
enum Behaviour: CaseIterable {
    // MARK: The answer is complete
    case length
    case chunked
    case untilClose
    case untilClose10
    case interim
    case noContent
    case announcesClose
    case keepAliveHint
    case dribble
    /// Reads the upload late.
    case readsLate
    case early
    case requestTimeout

    // MARK: And then something happens to the connection
    case halfCloses
    case closesLater
    case resetsLater
    /// A second response follows, in the same breath.
    case poisons
    case poisonsLater

    // MARK: It is not
    case malformed
    case truncatedLength
    case truncatedChunks
    case resetInBody
    case resetInHead
    case stallBeforeHead
    case stallInHead
    case stallInBody
    case closesUnanswered
    case resetsUnanswered

    static let calm: [Behaviour] = [
        .length, .chunked, .untilClose, .untilClose10, .interim, .noContent, .announcesClose, .dribble, .readsLate,
    ]

    /// Whether no other request may be sent on the connection afterwards.
    var retires: Bool {
        switch self {
        case .length, .chunked, .interim, .noContent, .keepAliveHint, .dribble, .readsLate, .early: false
        case .closesLater, .resetsLater, .requestTimeout: false
        // What follows may still be on its way when the next request is sent.
        case .halfCloses, .poisons, .poisonsLater: false
        case .stallBeforeHead, .closesUnanswered, .resetsUnanswered: false
        case .untilClose, .untilClose10, .announcesClose: true
        case .malformed, .truncatedLength, .truncatedChunks, .resetInBody, .resetInHead, .stallInHead, .stallInBody:
            true
        }
    }

    /// Its body goes on until the connection ends.
    var endsWithConnection: Bool { self == .untilClose || self == .untilClose10 }

    var breaksBody: Bool {
        [.truncatedLength, .truncatedChunks, .resetInBody, .stallInBody].contains(self)
    }

    /// A success would be a lie.
    var isBroken: Bool {
        switch self {
        case .malformed, .truncatedLength, .truncatedChunks, .resetInBody, .resetInHead, .stallBeforeHead: true
        case .stallInHead, .stallInBody, .closesUnanswered, .resetsUnanswered: true
        case .length, .chunked, .untilClose, .untilClose10, .interim, .noContent, .announcesClose: false
        case .keepAliveHint, .dribble, .readsLate, .early, .requestTimeout: false
        case .halfCloses, .closesLater, .resetsLater, .poisons, .poisonsLater: false
        }
    }
}
