import AFLoop
import AFTLS
import AFWire

/// Why a transfer ended without a response, or in the middle of one. The engine's
/// own vocabulary; `ErrorMapping` turns it into what users see.
enum TransferError: Error, Sendable {
    /// Never sent: the request itself is wrong.
    case rejected(RequestRejection)
    /// The body could not be sent, or not as it was announced.
    case body(BodyFailure)
    /// Never sent: over plain http nobody would look at the pins of the host.
    case plainTextForbidden
    case impossibleSocketPath
    case dial(DialFailure, DialReport)
    /// The connection could not be secured.
    case handshake(HandshakeFailure)
    /// A secured connection broke above the socket.
    case secured(TLSFailure, TransferPhase, Identification)
    /// The body ended where only a farewell could have told that it was complete.
    case cutShort
    /// The peer's message broke a rule, or broke off.
    case wire(HTTP1Error)
    /// The connection failed under us.
    case channel(SystemCallError, TransferPhase)
    /// Nothing happened for this long.
    case timedOut(TransferPhase, Duration)
    /// The whole task took longer than it may.
    case outOfTime(TransferPhase)
    case cancelled
    /// More body than may be held in memory.
    case bodyTooLong(limit: Int)
    /// `returnCacheDataDontLoad`, and nothing is cached.
    case notCached
    /// The body could not be stored.
    case file(FileFailure)
    /// The answer is for a part that was not asked for, with this status.
    case unaskedPart(Int)
    /// The rest of a file is shorter or longer than it was said to be.
    case brokenRest
    case resumeData(ResumeRecord.Flaw)
    case sessionInvalidated
    /// In the child of a fork there is no network thread.
    case forked
    /// The system has no thread for us.
    case noThread(SystemCallError)

    /// Whether a peer asked who we are, and learned it.
    enum Identification: Sendable {
        case notAsked
        case withheld
        case shown
    }
}

/// What a transfer was waiting for.
enum TransferPhase: Sendable {
    /// Its body is opened, or asked for.
    case preparing
    case queued
    case resolving
    case connecting
    case securing
    case sending
    case waitingForHead
    case receivingBody
}
