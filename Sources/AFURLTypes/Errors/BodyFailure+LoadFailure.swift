import AFLoop
import AFTransport
package import AFWire

extension LoadFailure {
    /// The body of the request could not be sent, for a reason on the client's side.
    package init(_ failure: BodyFailure, peer: Endpoint?) {
        switch failure {
        case .file(let failure): self.init(failure, peer: peer)
        case .stream(let error):
            let cause = error.map { EscapedText("\($0.localizedDescription)").text } ?? "it gave no reason"
            self = .broken(.stream, what: "its stream could not be read: \(cause).", peer: peer, error: error)
        case .streamIsUsed:
            self = .bodyless(
                .stream,
                what: "its body stream is open already, or was read before.",
                advice: "Give every request a stream that is new."
            )
        case .length(let announced, let found, let isAtEnd):
            self = .broken(
                .length,
                what:
                    "\(announced) bytes were announced, but the stream has \(isAtEnd ? "only" : "at least") \(found).",
                peer: peer,
                advice: "Correct the Content-Length field, or leave it out."
            )
        case .noStream:
            self = .bodyless(
                .exhausted,
                what: "there is no stream for its body.",
                advice: "Answer urlSession(_:task:needNewBodyStream:), or set httpBodyStream."
            )
        case .exhausted:
            self = .broken(
                .exhausted,
                what: "it has to be sent again, a stream cannot be read twice, and the delegate gave no new one.",
                peer: peer,
                advice: "Answer urlSession(_:task:needNewBodyStream:), or upload from a file or from memory."
            )
        }
    }

    private static func bodyless(_ detail: Detail, what: String, advice: String) -> LoadFailure {
        LoadFailure(
            .body,
            detail: detail,
            phase: .preparing,
            message: "The request was not sent: \(what)",
            advice: advice
        )
    }

    private static func broken(
        _ detail: Detail,
        what: String,
        peer: Endpoint?,
        error: (any Error)? = nil,
        advice: String? = nil
    ) -> LoadFailure {
        LoadFailure(
            .body,
            detail: detail,
            phase: .sending,
            message: sending(peer) + what,
            advice: advice,
            underlyingError: error
        )
    }

    package static func sending(_ peer: Endpoint?) -> String {
        "Sending the body to \(peer?.text ?? "the server") failed: "
    }
}

extension LoadFailure {
    /// The content coding of a body could not be decoded.
    package init(_ failure: ContentFailure, peer: Endpoint?) {
        let doing = "Decoding the body from \(peer?.text ?? "the server") failed: "
        switch failure {
        case .tooManyCodings:
            self = .undecoded(.coding, message: doing + "it is coded more than \(ContentPlan.maximumCodings) times.")
        case .damaged(let coding, let why):
            self = .undecoded(.damaged, message: doing + "it is not valid \(coding.rawValue) (\(why)).")
        case .truncated(let coding):
            self = .undecoded(.truncated, message: doing + "it ends in the middle of its \(coding.rawValue) coding.")
        case .bomb(let ratio):
            self = .undecoded(
                .bomb,
                message: doing + "it becomes more than \(ratio) times longer.",
                advice: "Raise maximumContentRatio if it is meant to."
            )
        case .noMemory(let coding):
            self = .undecoded(.memory, message: doing + "there is no memory for undoing its \(coding.rawValue) coding.")
        }
    }

    private static func undecoded(_ detail: Detail, message: String, advice: String? = nil) -> LoadFailure {
        LoadFailure(.decoding, detail: detail, phase: .receivingBody, message: message, advice: advice)
    }
}

extension LoadFailure {
    package init(_ failure: StreamFailure, peer: Endpoint?) {
        let place = peer?.text ?? "the peer"
        switch failure {
        case .closed(let direction):
            let doing = direction == .reading ? "Reading from" : "Writing to"
            self.init(
                .lost,
                detail: .closed,
                phase: direction == .reading ? .receivingBody : .sending,
                message: "\(doing) \(place) failed: the stream is closed in this direction."
            )
        case .pinned:
            self.init(
                .request,
                detail: .scheme,
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
                .tls,
                detail: .notTLS,
                phase: .tls,
                message:
                    "Securing the stream to \(place) failed: bytes that came in the clear have not been read. They "
                    + "may come from another sender than the peer.",
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
}

extension LoadFailure {
    package init(_ failure: RedirectFailure, from peer: Endpoint?) {
        let (detail, what, advice): (Detail?, String, String?) =
            switch failure {
            case .tooMany(let count):
                (
                    nil,
                    "\(count) redirects have been followed already.",
                    "If it is no circle, raise maximumCount of the redirectPolicy."
                )
            case .unusable(let rejection):
                (.location, "it leads nowhere: \(rejection).", "The server has to correct its Location field.")
            case .ambiguous: (.location, "it has several Location fields, and they differ.", nil)
            case .foreignScheme(let scheme):
                (
                    .scheme,
                    "it leads to the scheme \(scheme), which is not loaded. The response says where, in its Location "
                        + "field.",
                    "To take it as it is, answer nil in "
                        + "urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:), or clear "
                        + "followsRedirects of the redirectPolicy."
                )
            case .plainText(let target):
                (
                    .scheme,
                    "it leads from https to http, at \(target.text), where everyone on the way can read along.",
                    "If that is all right, allow it with allowsPlainText of the redirectPolicy."
                )
            case .bodyIsGone(let target):
                (
                    .body,
                    "the body would have to be sent again, to \(target.text), and a stream cannot be read twice.",
                    "Answer urlSession(_:task:needNewBodyStream:), or upload from a file or from memory."
                )
            case .bodyLeavesOrigin(let target):
                (
                    .body,
                    "the body of the request would go to another origin, \(target.text).",
                    "Allow it in urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:), or with "
                        + "sendsBodyToOtherOrigins of the redirectPolicy."
                )
            case .responseIsTaken:
                (
                    .late,
                    "the URL protocol class had begun a response, and the task has handed it over or written it to a "
                        + "file.",
                    "The class has to call wasRedirectedTo before it reports a response."
                )
            }
        self.init(
            .redirect,
            detail: detail,
            phase: .waitingForHead,
            message: "A redirect by \(peer?.text ?? "the server") was not followed: \(what)",
            advice: advice
        )
    }
}
