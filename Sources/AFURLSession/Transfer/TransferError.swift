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
    /// Never sent: the setting that says which proxy to take cannot be used.
    case proxyMisconfigured(ProxyConfigurationError)
    /// The proxy did not lead to the server.
    case proxy(ProxyFailure)
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
    /// One part of it took this long, which was too long.
    case overdue(NamedTimeout, TransferPhase, Duration)
    case cancelled
    /// More body than may be held in memory.
    case bodyTooLong(limit: Int)
    /// The body's coding could not be undone.
    case content(ContentFailure)
    /// `returnCacheDataDontLoad`, and nothing is cached.
    case notCached
    case redirect(RedirectFailure)
    /// The body could not be stored.
    case file(FileFailure)
    /// The answer is for a part that was not asked for, with this status.
    case unaskedPart(Int)
    /// The rest of a file is shorter or longer than it was said to be.
    case brokenRest
    case resumeData(ResumeRecord.Flaw)
    case sessionInvalidated
    /// A class of the program says so.
    case foreign(any Error)
    /// Something cannot be done to a stream.
    case stream(StreamFailure)
    /// A `data:` URL or a file cannot be loaded.
    case local(LocalFailure)
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

/// The times that parts of a load may have.
enum NamedTimeout: Sendable {
    case queue, connect, tls
}

/// What a transfer was waiting for.
enum TransferPhase: Sendable {
    /// There is no network.
    case offline
    /// Its body is opened, or asked for.
    case preparing
    case queued
    case resolving
    case connecting
    /// The way through a proxy is being made.
    case proxy
    case securing
    case sending
    case waitingForHead
    case receivingBody
}

extension TransferError {
    /// What is reported as it is.
    var foreign: (any Error)? {
        if case .foreign(let error) = self { error } else { nil }
    }

    /// A delegate did not want the connection.
    var isWordOfDelegate: Bool {
        guard case .handshake(let failure) = self else { return false }
        switch failure.cause {
        case .refused(.rejected), .refused(.unanswered), .refused(.cancelled), .identityCancelled: return true
        case .refused(.evaluation), .refused(.rule), .refused(.noAnchors), .tls, .broken: return false
        }
    }

    /// The task as a whole has no time left.
    var isOutOfTime: Bool {
        if case .outOfTime = self { true } else { false }
    }
}
