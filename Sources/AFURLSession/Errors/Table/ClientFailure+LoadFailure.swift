package import AFWire
package import Foundation

/// Why something that is built on loads failed: a reader of streams, a `URLConnection`, an interceptor, a manager, an
/// operation, the image downloader.
package enum ClientFailure: Error, Sendable {
    /// `sendSynchronousRequest` was called on the network thread.
    case wouldWaitForItself
    /// A part of a multipart/x-mixed-replace body is malformed, for this reason.
    case badPart(String)
    case eventTooLong(EventStreamParser.TooLong)
    case lineTooLong(limit: Int, advice: String)
    /// The program set the token to nil while requests waited for one.
    case loggedOut
    /// The data task of a manager became a stream task.
    case becameStream
    case managerBodyTooLong(limit: Int)
    case operationBodyTooLong(limit: Int)
    case operationWithoutURL
    /// The policy of an operation pins the host, and the request is to go in the clear.
    case operationInTheClear(host: String)
    case output(OutputFailure)
    case imageWithoutURL
    /// The program cancelled the download of this image.
    case imageCancelled(String)
    case imageTooLong(String, limit: Int64)
}

/// Why the output stream of an operation did not take the response, and does not say so itself.
package enum OutputFailure: Sendable {
    case noSpace
    case refused
    /// The response began anew, and the stream cannot.
    case notRewindable
    /// The response began anew and is shorter than what the stream has.
    case remains
}

extension ClientFailure {
    package func urlError(for url: URL?) -> URLError { ErrorMapping.error(LoadFailure(self), url: url) }
}

extension LoadFailure {
    fileprivate init(_ failure: ClientFailure) {
        switch failure {
        case .wouldWaitForItself:
            self.init(
                .requestCaller,
                phase: .preparing,
                message: "The request was not sent: sendSynchronousRequest was called on the network thread, which "
                    + "would wait for itself.",
                advice: "Call it on another thread, or use a connection with a delegate."
            )
        case .badPart(let explanation):
            self.init(
                .malformedHeader,
                phase: .receivingBody,
                message: "Reading the parts of a multipart/x-mixed-replace body failed: \(explanation)."
            )
        case .eventTooLong(let part):
            let (what, limit) =
                part == .line ? ("A line", "maximumLineLength") : ("The data of an event", "maximumEventSize")
            self.init(
                .limit,
                phase: .receivingBody,
                message: "\(what) of the stream is longer than the limit.",
                advice: "Raise \(limit) if you expect such events."
            )
        case .lineTooLong(let limit, let advice):
            self.init(
                .limit,
                phase: .receivingBody,
                message: "A line of the body is longer than \(limit) bytes.",
                advice: advice
            )
        case .loggedOut:
            self.init(
                .authentication,
                phase: .preparing,
                message: "The request was not sent: the token was set to nil while it waited for one.",
                advice: "Log in, and set the token."
            )
        case .becameStream:
            self.init(
                .cancelledBecameStream,
                phase: .receivingBody,
                message: "The data task became a stream, as its delegate asked for.",
                advice: "Override the delegate's method for that, or use a session of your own."
            )
        case .managerBodyTooLong(let limit):
            self = .bodyTooLong(
                limit,
                advice: "Download it to a file, or raise maximumBodyInMemory of the session's configuration."
            )
        case .operationBodyTooLong(let limit):
            self = .bodyTooLong(limit, advice: "Give the operation an output stream, to a file say.")
        case .operationWithoutURL:
            self.init(.requestScheme, phase: .preparing, message: "The request has no URL.")
        case .operationInTheClear(let host): self = .plainText(to: host, pinnedBy: "the operation's security policy")
        case .output(let failure):
            let (message, advice) = failure.row
            self.init(.file, phase: .receivingBody, message: message, advice: advice)
        case .imageWithoutURL:
            // badURL and not unsupportedURL: what AFNetworking reports.
            self.init(.request, phase: .preparing, message: "The request for an image has no URL.")
        case .imageCancelled(let place):
            self.init(.cancelled, phase: .delivering, message: "ImageDownloader cancelled URL request: \(place)")
        case .imageTooLong(let place, let limit):
            self.init(
                .limit,
                phase: .receivingBody,
                message: "The image at \(place) is longer than \(limit) bytes.",
                advice: "Raise maximumResponseSize of the downloader if you expect images of that size."
            )
        }
    }
}

extension OutputFailure {
    fileprivate var row: (message: String, advice: String) {
        switch self {
        case .noSpace:
            ("The output stream has no space left, and does not say why.", "Give the operation another one.")
        case .refused: ("The output stream takes no bytes, and does not say why.", "Give the operation another one.")
        case .notRewindable:
            (
                "The response began anew, and the output stream cannot go back to where it began.",
                "Use a stream to a file, or none, for operations that are paused."
            )
        case .remains:
            (
                "The response began anew and is shorter than before; its former end is still in the output stream.",
                "Remove the file and load it again."
            )
        }
    }
}
