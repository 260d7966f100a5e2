public import Foundation

/// Why and where a load failed, in full.
///
/// Every `URLError` of this module carries one; ``Foundation/URLError/loadFailure`` returns it. Reasons, details and
/// phases are open sets: compare with the ones you know and expect others. It contains no credentials, and text from
/// the peer is escaped.
///
/// As an `NSError` it has ``message`` as its localized description, what happened as its failure reason, and ``advice``
/// as its recovery suggestion. The `URLError` that carries it has the same.
public struct LoadFailure: Error, Hashable, Sendable {
    /// The step at which the load failed.
    public let phase: Phase
    /// Reason, detail and code.
    let kind: Kind
    /// Every address that was tried, in order, and how that ended.
    public internal(set) var attempts: [Attempt]
    /// The error number of the system call that failed, if one did.
    public let errno: Int32?
    /// The step, the server, what happened and what to change, in a sentence or two.
    public internal(set) var message: String
    /// ``message`` without what to change.
    package let occurrence: String
    /// What to change, if there is helpful advice; it is part of ``message`` too.
    public let advice: String?
    /// How long each phase took, in the order in which they began. They are those of the last request of the task; the
    /// task's metrics have the earlier ones.
    public internal(set) var timings: [Timing] = []
    /// What the server showed and why that was not enough, if securing the connection failed.
    public let security: Security?

    /// How a proxy refused: the status of its response, or the number of its reply if it speaks SOCKS.
    public let proxyReply: Int?

    /// The response, and the beginning of its body, if a stream of events or lines did not take it.
    public let refusedResponse: RefusedResponse?

    private let cause: Cause?

    /// The kind of the failure.
    public var reason: Reason { kind.reason }

    /// The more exact kind, where the reason has kinds of its own.
    public var detail: Detail? { kind.detail }

    /// The error of the program's code that caused the failure: that of a body stream.
    public var underlyingError: (any Error)? { cause?.error }

    private struct Cause: Hashable, Sendable {
        let error: any Error

        static func == (one: Cause, other: Cause) -> Bool { one.error as NSError == other.error as NSError }

        func hash(into hasher: inout Hasher) {
            hasher.combine(error as NSError)
        }
    }

    init(
        _ kind: Kind,
        phase: Phase,
        attempts: [Attempt] = [],
        errno: Int32? = nil,
        message occurrence: String,
        advice: String? = nil,
        security: Security? = nil,
        proxyReply: Int? = nil,
        refusedResponse: RefusedResponse? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.phase = phase
        self.kind = kind
        self.attempts = attempts
        self.errno = errno
        self.occurrence = occurrence
        self.advice = advice
        message = advice.map { "\(occurrence) \($0)" } ?? occurrence
        self.security = security
        self.proxyReply = proxyReply
        self.refusedResponse = refusedResponse
        cause = underlyingError.map(Cause.init)
    }
}

extension LoadFailure: CustomStringConvertible, LocalizedError {
    /// The message.
    public var errorDescription: String? { message }

    /// The step, the server, and what happened.
    public var failureReason: String? { occurrence }

    /// The advice.
    public var recoverySuggestion: String? { advice }

    /// The message, then one line for each address that was tried, then how long each phase took, then what the server
    /// showed.
    public var description: String {
        ([message] + evidence(attempts.map(\.description), beside: message)).joined(separator: "\n")
    }

    /// What the description has behind the message, as far as that does not say it already.
    var evidence: [String] { evidence(attempts.map { $0.text(beside: message) }, beside: message) }

    private func evidence(_ attempts: [String], beside message: String) -> [String] {
        let times = timings.map(\.description).joined(separator: ", ")
        let lines = attempts.map { "  \($0)" } + (times.isEmpty ? [] : ["  \(times)"])
        return lines + (security.map { [$0.text(beside: message)] } ?? [])
    }
}

extension URLError {
    /// The detailed cause of a failure of this package; nil for errors from elsewhere.
    ///
    /// `userInfo` has the same value under `NSUnderlyingErrorKey`. If that key has another error, for example the
    /// session's error beneath that of a manager, the value is in the `userInfo` of that error.
    public var loadFailure: LoadFailure? { .beneath(self) }
}

extension LoadFailure {
    /// The failure that an error is, or that lies beneath it.
    package static func beneath(_ error: any Error) -> LoadFailure? {
        var error: (any Error)? = error
        // A chain of errors is not longer unless a program made it so.
        for _ in 0..<32 {
            guard let current = error else { return nil }
            if let failure = current as? LoadFailure { return failure }
            error = (current as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        }
        return nil
    }
}
