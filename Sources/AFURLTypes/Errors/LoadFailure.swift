public import Foundation

// Why a load failed, as a tree of reasons and their details. The public code is in the last column.
//
// LoadFailure
// ├── request ────────────── refused before a connection was chosen      badURL
// │   ├── scheme             not http or https, or none; pinned and http unsupportedURL
// │   ├── proxy              a setting for proxies cannot be used        badURL
// │   ├── size               too long to send; a body where none may be  dataLengthExceedsMaximum
// │   ├── caller             the network thread would wait for itself    cannotLoadFromNetwork
// │   ├── method             no token                                    badURL
// │   └── header             a field that may not be sent                badURL
// ├── resources ──────────── the local system or the network refused     cannotConnectToHost
// │   ├── nameNotFound       the name does not exist                     cannotFindHost
// │   ├── nameLookup         the name service gave no answer             dnsLookupFailed
// │   ├── network            this machine has no way to any address      notConnectedToInternet
// │   ├── cellular           the only way may not be taken               dataNotAllowed
// │   └── address            the session's filter allows none            cannotConnectToHost
// ├── timeout ────────────── a deadline passed; see the phase            timedOut
// │   └── idle, resource, queue, connect, attempt, handshake, pong, close: which one it was
// ├── lost ───────────────── the peer went away                          networkConnectionLost
// │   └── head, body, truncated, reset, proxy, closed
// ├── malformed ──────────── the message breaks its protocol             cannotParseResponse
// │   └── status, header, framing, chunk, frame
// ├── response ───────────── it is not one that the caller can use       badServerResponse
// │   ├── status             its status is another one                   badServerResponse
// │   └── upgrade            it opens no WebSocket                       badServerResponse
// ├── limit ──────────────── more than the session may hold              dataLengthExceedsMaximum
// ├── decoding ───────────── the content cannot be decoded               cannotDecodeContentData
// │   └── damaged, truncated, bomb, memory: its coding                   cannotDecodeRawData
// ├── tls ────────────────── the handshake or a record failed            secureConnectionFailed
// │   └── version, cipher, alpn, renegotiation, alert, notTLS, flood
// ├── trust ──────────────── the peer's certificate was not accepted     serverCertificateUntrusted
// │   ├── date               it has expired                              serverCertificateHasBadDate
// │   ├── notYetValid        it is not valid yet                         serverCertificateNotYetValid
// │   ├── unknownRoot        no anchor signed it                         serverCertificateHasUnknownRoot
// │   └── selfSigned, name, purpose, weakKey, chain, policy, delegate, anchors
// ├── clientCertificate ──── the client's was refused                    clientCertificateRejected
// │   └── required           the peer wants one                          clientCertificateRequired
// ├── redirect ───────────── too many of them                            httpTooManyRedirects
// │   ├── location           to no usable place                          redirectToNonExistentLocation
// │   ├── scheme             from https to http                          unsupportedURL
// │   └── body               of the request, that must or can not follow requestBodyStreamExhausted
// ├── authentication ─────── a token is needed, and there is none        userAuthenticationRequired
// ├── proxy ──────────────── the proxy failed                            cannotConnectToHost
// │   ├── credentials        it wants others, or some                    userAuthenticationRequired
// │   └── nameNotFound, nameLookup, connect, tls, refused, malformed
// ├── body ───────────────── the request's could not be supplied          requestBodyStreamExhausted
// │   └── stream, length, exhausted
// ├── file ───────────────── a file could not be written                 cannotWriteToFile
// │   ├── permission         it may not be read                          noPermissionsToReadFile
// │   ├── directory          it is one                                   fileIsDirectory
// │   ├── read               it could not be read to its end             cannotOpenFile
// │   ├── changed            it is not what was announced any more       requestBodyStreamExhausted
// │   └── create, open, move, missing                                    the code of that name
// ├── cache ──────────────── only the cache might answer, and could not  resourceUnavailable
// ├── fault ──────────────── a defect of this library                    unknown
// └── cancelled ──────────── the caller asked for it                     cancelled
//     ├── invalidated        by ending the session                       cancelled
//     └── becameStream       by making a stream task of it               cancelled

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
    /// The kind of the failure.
    public let reason: Reason
    /// The more exact kind, where the reason has kinds of its own.
    public let detail: Detail?
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

    /// The error of the program's code that caused the failure: that of a body stream.
    public var underlyingError: (any Error)? { cause?.error }

    private struct Cause: Hashable, Sendable {
        let error: any Error

        static func == (one: Cause, other: Cause) -> Bool { one.error as NSError == other.error as NSError }

        func hash(into hasher: inout Hasher) {
            hasher.combine(error as NSError)
        }
    }

    package init(
        _ reason: Reason,
        detail: Detail? = nil,
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
        self.reason = reason
        self.detail = detail
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
