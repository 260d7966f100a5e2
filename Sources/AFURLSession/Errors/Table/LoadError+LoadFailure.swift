import AFLoop
import AFTransport
package import AFWire
package import Foundation

// The table of failures: for each cause its kind (reason, detail and code), its phase, what is said of it, and what to
// change. This folder has all of it, by who found out: a cause is an enumeration's case, a row is the `LoadFailure` that
// the switch over that enumeration has for it, and a new cause does not compile without a row. Nothing else makes a
// `LoadFailure`. `LoadFailure+Kind.swift` has the code of each reason and detail.

extension LoadError {
    /// The error that a task reports.
    ///
    /// - Parameter remark: A remark to add to the message.
    package func urlError(
        for url: URL?,
        peer: Endpoint? = nil,
        account: LoadAccount? = nil,
        remark: String? = nil
    ) -> URLError {
        var failure = LoadFailure(self, peer: peer)
        if let account { failure.add(account) }
        if let remark, !remark.isEmpty, failure.reason != .cancelled { failure.message += " \(remark)" }
        return ErrorMapping.error(failure, url: url)
    }
}

extension LoadFailure {
    init(_ error: LoadError, peer: Endpoint?) {
        switch error {
        case .transfer(let error): self.init(error, peer: peer)
        case .rejected(let rejection): self.init(rejection)
        case .plainTextForbidden:
            self = .plainText(to: peer?.host.text ?? "the host", pinnedBy: "the session's evaluator")
        case .proxyMisconfigured(let error):
            self.init(
                .requestProxy,
                phase: .preparing,
                message: "The request was not sent: \(error).",
                advice: "Correct the setting, or remove it."
            )
        case .cancelled: self = .cancelled(phase: .delivering)
        case .bodyTooLong(let limit):
            self = .bodyTooLong(limit, advice: "Raise maximumBodyInMemory, or receive it with a delegate.")
        case .content(let failure): self.init(failure, peer: peer)
        case .unanswered(let missing): self.init(missing, peer: peer)
        case .notCached:
            self.init(
                .cache,
                phase: .preparing,
                message: "Nothing is cached for the request, and its cache policy forbids loading it."
            )
        case .redirect(let failure): self.init(failure, from: peer)
        case .file(let failure): self.init(failure, peer: peer)
        case .unaskedPart(let status):
            // The download would have stored a part as the whole.
            self.init(
                .malformedStatus,
                phase: .receivingBody,
                message: "Loading from \(Self.place(peer)) failed: it answered \(status), which is about a part of the "
                    + "file, but no part was asked for.",
                advice: "Set a Range field if a part is what you want."
            )
        case .brokenRest:
            self.init(
                .malformedFraming,
                phase: .receivingBody,
                message: "Receiving the rest of the file from \(Self.place(peer)) failed: it sent more or fewer bytes "
                    + "than its Content-Range says. What was there before is kept.",
                advice: "Try again, or load the whole."
            )
        case .resumeData(let flaw): self.init(flaw)
        case .sessionInvalidated:
            self.init(
                .cancelledInvalidated,
                phase: .preparing,
                message: "The session was invalidated before the task was resumed.",
                advice: "Make the task in a new session."
            )
        case .foreign(let error):
            self.init(
                .resources,
                phase: .receivingBody,
                message: "Loading failed: a protocol class or an interceptor of the program says so.",
                underlyingError: error
            )
        case .stream(let failure): self.init(failure, peer: peer)
        case .webSocket(let failure): self.init(failure, peer: peer)
        case .refused(let refusal): self.init(refusal)
        case .parts(let failure): self.init(failure)
        case .local(let failure): self.init(failure)
        case .forked:
            self.init(
                .resources,
                phase: .preparing,
                message: "This process was forked: the network thread stayed in the parent.",
                advice: "Call exec first."
            )
        case .noThread(let error):
            self.init(
                .resources,
                phase: .preparing,
                errno: error.code,
                message: "The network thread could not be started: \(error).",
                advice: "Raise the limit on threads, or try again."
            )
        case .fault(let words): self = .fault(words)
        }
    }

    /// What the messages call the peer.
    static func place(_ peer: Endpoint?) -> String { peer?.text ?? "the server" }

    static func cancelled(phase: Phase) -> LoadFailure {
        LoadFailure(.cancelled, phase: phase, message: "The load was cancelled.")
    }

    static func plainText(to host: String, pinnedBy judge: String) -> LoadFailure {
        LoadFailure(
            .requestScheme,
            phase: .preparing,
            message: "The request was not sent: \(judge) pins \(host), and over plain http no certificate is looked "
                + "at.",
            advice: "Use https, or exempt the host from the pins."
        )
    }

    static func bodyTooLong(_ limit: Int, advice: String) -> LoadFailure {
        LoadFailure(
            .limit,
            phase: .receivingBody,
            message: "The body is longer than \(limit) bytes.",
            advice: advice
        )
    }

    static func fault(_ words: String) -> LoadFailure {
        LoadFailure(
            .fault,
            phase: .preparing,
            message: "The task ended because of a defect of this library (\(words)).",
            advice: "Please report it with this text, and with what a monitor prints of the task."
        )
    }

    /// The request broke a rule; the session sent nothing.
    init(_ rejection: RequestRejection) {
        let (kind, advice): (Kind, String) =
            switch (rejection.component, rejection.rule) {
            // Foundation's loaders also report a missing URL, and one without a scheme, as unsupported.
            case (.scheme, .notHTTP), (.scheme, .missing), (.url, .missing), (.url, .empty):
                (.requestScheme, "Use an absolute http:// or https:// URL.")
            case (.scheme, _): (.request, "Use an absolute http:// or https:// URL.")
            case (.userInfo, _): (.request, "Give user name and password as a credential instead of in the URL.")
            case (.body, .lengthUnknown): (.requestSize, "Say the length, or use HTTP/1.1.")
            case (.body, .bodyNotAllowed): (.requestSize, "Use another method, or move the body into the query.")
            case (.body, .trailersNeedBody): (.request, "Give it a body, or remove the trailers.")
            case (.body, .trailersNeedChunks): (.requestHeader, "Remove the field Content-Length, or the trailers.")
            case (.fieldValue, _), (.fieldName, _), (.hostField, _), (.trailerName, _):
                (.requestHeader, "Change or remove the field.")
            case (.method, _): (.requestMethod, "Correct it and try again.")
            case (.host, .tooLong): (.request, "Shorten it; long values belong in the body.")
            case (_, .tooLong): (.requestSize, "Shorten it; long values belong in the body.")
            default: (.request, "Correct it and try again.")
            }
        self.init(kind, phase: .preparing, message: "The request was not sent: \(rejection).", advice: advice)
    }

    /// The time of the task is over because the program has not answered.
    private init(_ missing: MissingAnswer, peer: Endpoint?) {
        let (who, advice) =
            switch missing {
            case .delegate(let method):
                ("the delegate has not answered \(method)", "Call its completion handler, whatever the answer is.")
            case .interceptor(let method):
                ("an interceptor has not returned from \(method)", "Let it return, or throw, also when it gives up.")
            }
        self.init(
            .timeoutUnanswered,
            phase: .delivering,
            message: "Loading from \(Self.place(peer)) failed: \(who), and the time of the task is over.",
            advice: advice
        )
    }

    private init(_ failure: RedirectFailure, from peer: Endpoint?) {
        let (kind, what, advice): (Kind, String, String?) =
            switch failure {
            case .tooMany(let count):
                (
                    .redirect,
                    "\(count) redirects have been followed already.",
                    "If it is no circle, raise maximumCount of the redirectPolicy."
                )
            case .unusable(let rejection):
                (.redirectLocation, "it leads nowhere: \(rejection).", "The server has to correct its Location field.")
            case .ambiguous: (.redirectLocation, "it has several Location fields, and they differ.", nil)
            case .foreignScheme(let scheme):
                (
                    .redirectScheme,
                    "it leads to the scheme \(scheme), which is not loaded. The response says where, in its Location "
                        + "field.",
                    "To take it as it is, answer nil in "
                        + "urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:), or clear "
                        + "followsRedirects of the redirectPolicy."
                )
            case .plainText(let target):
                (
                    .redirectScheme,
                    "it leads from https to http, at \(target.text), where everyone on the way can read along.",
                    "If that is all right, allow it with allowsPlainText of the redirectPolicy."
                )
            case .bodyIsGone(let target):
                (
                    .redirectBody,
                    "the body would have to be sent again, to \(target.text), and a stream cannot be read twice.",
                    "Answer urlSession(_:task:needNewBodyStream:), or upload from a file or from memory."
                )
            case .bodyLeavesOrigin(let target):
                (
                    .redirectBody,
                    "the body of the request would go to another origin, \(target.text).",
                    "Allow it in urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:), or with "
                        + "sendsBodyToOtherOrigins of the redirectPolicy."
                )
            case .responseIsTaken:
                (
                    .redirectLate,
                    "the URL protocol class had begun a response, and the task has handed it over or written it to a "
                        + "file.",
                    "The class has to call wasRedirectedTo before it reports a response."
                )
            }
        self.init(
            kind,
            phase: .waitingForHead,
            message: "A redirect by \(Self.place(peer)) was not followed: \(what)",
            advice: advice
        )
    }

    private init(_ failure: StreamFailure, peer: Endpoint?) {
        let place = peer?.text ?? "the peer"
        switch failure {
        case .closed(let direction):
            let doing = direction == .reading ? "Reading from" : "Writing to"
            self.init(
                .lostClosed,
                phase: direction == .reading ? .receivingBody : .sending,
                message: "\(doing) \(place) failed: the stream is closed in this direction."
            )
        case .pinned:
            self.init(
                .requestScheme,
                phase: .preparing,
                message: "Nothing was sent to \(place): the session's evaluator has pins for it, and in the clear no "
                    + "certificate is looked at.",
                advice: "Call startSecureConnection() before anything is read or written."
            )
        case .halfClosed:
            self.init(
                .tls,
                phase: .tls,
                message: "Securing the stream to \(place) failed: it is closed in one direction, or was before all was "
                    + "read, or is the body of a response.",
                advice: "Secure it before it is closed."
            )
        case .unreadable:
            self.init(
                .tlsNotTLS,
                phase: .tls,
                message: "Securing the stream to \(place) failed: bytes that came in the clear have not been read. "
                    + "They may come from another sender than the peer.",
                advice: "Read all the peer says before startSecureConnection()."
            )
        case .noStreamDelegate:
            self.init(
                .request,
                phase: .delivering,
                message: "No streams were made of the connection to \(place): it is the body of a response, or the "
                    + "delegate has no method for them.",
                advice: "Use a delegate that is a URLSessionStreamDelegate."
            )
        }
    }

    private init(_ refusal: ResponseRefusal) {
        let status = refusal.refused.response.statusCode
        let (kind, what, advice): (Kind, String, String) =
            switch (refusal.cause, refusal.content) {
            case (.status, .events):
                (
                    .responseStatus,
                    "The server answered \(status) to a request for events.",
                    "Look at refusedResponse of the error; after the statuses in reconnectingStatusCodes the stream "
                        + "connects again."
                )
            case (.status, .jsonLines):
                (
                    .responseStatus,
                    "The server answered \(status) to a request for lines of JSON.",
                    "Look at refusedResponse of the error."
                )
            case (.status, .file):
                (
                    .responseStatus,
                    "The server answered \(status) to a request for a file.",
                    "Look at refusedResponse of the error."
                )
            case (.contentType(let type), _):
                (
                    .response,
                    "The response has \(Self.inWords(type: type)); an event stream has text/event-stream.",
                    "Look at refusedResponse of the error; bytes(for:) reads a response of any type."
                )
            }
        self.init(
            kind,
            phase: .waitingForHead,
            message: what,
            advice: advice,
            refusedResponse: refusal.refused
        )
    }

    private static func inWords(type: String) -> String {
        type.isEmpty ? "no content type" : "the content type \(EscapedText(String(type.prefix(100))))"
    }
}
