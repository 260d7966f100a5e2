import AFTransport
import AFWire
import Foundation

// Rows for bodies: those of requests that could not be sent, and those of responses that could not be decoded.
extension LoadFailure {
    init(_ failure: BodyFailure, peer: Endpoint?) {
        switch failure {
        case .file(let failure): self.init(failure, peer: peer)
        case .stream(let error):
            let cause = error.map { EscapedText("\($0.localizedDescription)").text } ?? "it gave no reason"
            self.init(
                .bodyStream,
                phase: .sending,
                message: "\(Self.sending(peer))its stream could not be read: \(cause).",
                underlyingError: error
            )
        case .streamIsUsed:
            self.init(
                .bodyStream,
                phase: .preparing,
                message: "The request was not sent: its body stream is open already, or was read before.",
                advice: "Give every request a stream that is new."
            )
        case .length(let announced, let found, let isAtEnd):
            self.init(
                .bodyLength,
                phase: .sending,
                message: "\(Self.sending(peer))\(announced) bytes were announced, but the stream has "
                    + "\(isAtEnd ? "only" : "at least") \(found).",
                advice: "Correct the Content-Length field, or leave it out."
            )
        case .noStream:
            self.init(
                .bodyExhausted,
                phase: .preparing,
                message: "The request was not sent: there is no stream for its body.",
                advice: "Answer urlSession(_:task:needNewBodyStream:), or set httpBodyStream."
            )
        case .exhausted:
            self.init(
                .bodyExhausted,
                phase: .sending,
                message: "\(Self.sending(peer))it has to be sent again, a stream cannot be read twice, and the "
                    + "delegate gave no new one.",
                advice: "Answer urlSession(_:task:needNewBodyStream:), or upload from a file or from memory."
            )
        case .coding(let coding):
            self.init(
                .bodyMemory,
                phase: .sending,
                message: "\(Self.sending(peer))there is no memory for its \(coding.rawValue) coding."
            )
        case .trailers(let rejection):
            self.init(
                .requestHeader,
                phase: .sending,
                message: "\(Self.sending(peer))\(rejection).",
                advice: "Change what the closure of the request's trailers returns."
            )
        }
    }

    static func sending(_ peer: Endpoint?) -> String { "Sending the body to \(place(peer)) failed: " }

    /// The content coding of a body could not be decoded.
    init(_ failure: ContentFailure, peer: Endpoint?) {
        let (kind, what, advice): (Kind, String, String?) =
            switch failure {
            case .tooManyCodings:
                (.decodingCoding, "it is coded more than \(ContentPlan.maximumCodings) times.", nil)
            case .damaged(let coding, let why):
                (.decodingDamaged, "it is not valid \(coding.rawValue) (\(why)).", nil)
            case .truncated(let coding):
                (.decodingTruncated, "it ends in the middle of its \(coding.rawValue) coding.", nil)
            case .bomb(let ratio):
                (
                    .decodingBomb, "it becomes more than \(ratio) times longer.",
                    "Raise maximumContentRatio if it is meant to."
                )
            case .noMemory(let coding):
                (.decodingMemory, "there is no memory for undoing its \(coding.rawValue) coding.", nil)
            }
        self.init(
            kind,
            phase: .receivingBody,
            message: "Decoding the body from \(Self.place(peer)) failed: \(what)",
            advice: advice
        )
    }

    init(_ flaw: ResumeFlaw) {
        let what =
            switch flaw {
            case .notResumeData: "it was not made by this library"
            case .otherVersion(let version, let read): "its version is \(version), and this library reads \(read)"
            case .tooLong(let limit): "it is longer than \(limit) bytes"
            case .damaged: "it was damaged or changed"
            }
        self.init(
            .decoding,
            phase: .preparing,
            message: "The download was not resumed: the resume data cannot be used, because \(what).",
            advice: "Download the whole with a request."
        )
    }
}
