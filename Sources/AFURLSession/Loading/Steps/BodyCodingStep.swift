import AFTransport
import AFWire

/// Sends a request once more without the coding of its body, if the server does not take that, and remembers the origin.
final class BodyCodingStep: LoadStep {
    private let refusals: BodyCodingRefusals

    init(_ refusals: BodyCodingRefusals) {
        self.refusals = refusals
    }

    func judge(_ outcome: ExchangeOutcome, of load: any LoadView) -> Verdict {
        guard case .response(let pending) = outcome, pending.response.statusCode == 415,
            pending.request.body.coded != nil, let coding = pending.request.body.coding,
            // RFC 9110 §15.5.16: without the field the reason is another one.
            coding.isAccepted(by: pending.response.headers) == false, let present = load.presentRequest
        else { return .pass }
        refusals.note(pending.request.endpoint)
        return .send(NextRequest(present, inPlaceOf: pending.request))
    }
}
