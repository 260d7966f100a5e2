import AFTransport
import AFWire

extension LoadFailure {
    /// The content coding of a body could not be decoded.
    init(_ failure: ContentFailure, peer: Endpoint?) {
        let doing = "Decoding the body from \(peer?.text ?? "the server") failed: "
        switch failure {
        case .tooManyCodings:
            self = .undecoded(.coding, doing + "it is coded more than \(ContentPlan.maximumCodings) times.")
        case .damaged(let coding, let why):
            self = .undecoded(.damaged, doing + "it is not valid \(coding.rawValue) (\(why)).")
        case .truncated(let coding):
            self = .undecoded(.truncated, doing + "it ends in the middle of its \(coding.rawValue) coding.")
        case .bomb(let ratio):
            self = .undecoded(
                .bomb,
                doing + "it becomes more than \(ratio) times longer.",
                advice: "Raise maximumContentRatio if it is meant to."
            )
        case .noMemory(let coding):
            self = .undecoded(.memory, doing + "there is no memory for undoing its \(coding.rawValue) coding.")
        }
    }

    private static func undecoded(_ detail: Detail, _ message: String, advice: String? = nil) -> LoadFailure {
        LoadFailure(.decoding, detail, phase: .receivingBody, message: message, advice: advice)
    }
}
