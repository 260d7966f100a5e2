import AFLoop
import AFTransport
import AFWire

extension LoadFailure {
    /// The body of the request could not be sent, for a reason on the client's side.
    init(_ failure: BodyFailure, peer: Endpoint?) {
        switch failure {
        case .file(let failure): self.init(failure, peer: peer)
        case .stream(let error):
            let cause = error.map { EscapedText("\($0.localizedDescription)").text } ?? "it gave no reason"
            self = .broken(.stream, "its stream could not be read: \(cause).", peer, error)
        case .streamIsUsed:
            self = .bodyless(
                .stream,
                "its body stream is open already, or was read before.",
                "Give every request a stream that is new."
            )
        case .length(let announced, let found, let isAtEnd):
            self = .broken(
                .length,
                "\(announced) bytes were announced, but the stream has \(isAtEnd ? "only" : "at least") \(found).",
                peer,
                advice: "Correct the Content-Length field, or leave it out."
            )
        case .noStream:
            self = .bodyless(
                .exhausted,
                "there is no stream for its body.",
                "Answer urlSession(_:task:needNewBodyStream:), or set httpBodyStream."
            )
        case .exhausted:
            self = .broken(
                .exhausted,
                "it has to be sent again, a stream cannot be read twice, and the delegate gave no new one.",
                peer,
                advice: "Answer urlSession(_:task:needNewBodyStream:), or upload from a file or from memory."
            )
        }
    }

    private static func bodyless(_ detail: Detail, _ what: String, _ advice: String) -> LoadFailure {
        LoadFailure(.body, detail, phase: .preparing, message: "The request was not sent: \(what)", advice: advice)
    }

    private static func broken(
        _ detail: Detail,
        _ what: String,
        _ peer: Endpoint?,
        _ error: (any Error)? = nil,
        advice: String? = nil
    ) -> LoadFailure {
        LoadFailure(
            .body,
            detail,
            phase: .sending,
            message: sending(peer) + what,
            advice: advice,
            underlyingError: error
        )
    }

    static func sending(_ peer: Endpoint?) -> String {
        "Sending the body to \(peer?.text ?? "the server") failed: "
    }
}
