import AFTransport
import AFWire
import Foundation

/// Sends a request over TLS if its host asks for that (RFC 6797), and learns which hosts do. Ends one that may not go
/// without.
final class TransportSecurityStep: LoadStep {
    /// Nil if the session keeps none.
    private let store: HSTSStore?

    init(_ store: HSTSStore?) {
        self.store = store
    }

    func prepare(_ draft: inout RequestDraft, of load: any LoadView) -> Preparation {
        // First whether anything can be forbidden: to take the request out of the draft costs more than to ask.
        guard load.session.mayForbid, case .ready(let request) = draft.wire, load.session.forbids(request) else {
            return .goOn
        }
        guard var made = load.presentRequest, let url = made.url,
            let secured = load.session.withTLS(url, to: request.endpoint)
        else { return .fail(.plainTextForbidden) }
        made.url = secured
        do throws(RequestRejection) {
            draft.wire = .ready(try load.freeze(made, former: request))
        } catch {
            return .fail(.rejected(error))
        }
        return .goOnWith(made)
    }

    /// The store came to know the host while the request waited for a connection: prepares the request anew.
    func judge(_ outcome: ExchangeOutcome, of load: any LoadView) -> Verdict {
        guard case .failure(let failure) = outcome, case .plainTextForbidden = failure.error,
            let former = load.transfer, let url = load.presentRequest?.url,
            load.session.withTLS(url, to: former.request.endpoint) != nil
        else { return .pass }
        return load.presentAgain(inPlaceOf: former).map(Verdict.send) ?? .pass
    }

    func learn(from head: ResponseHead, of transfer: Transfer, for owner: any RequestOwner) {
        let endpoint = transfer.request.endpoint
        // A 407 is the proxy's.
        guard let store, endpoint.isSecured, !transfer.isRefusedByProxy(head) else { return }
        let session = owner.session
        store.learn(
            head.headers,
            from: endpoint.host,
            under: session.scope(of: transfer),
            at: session.world.wallClock().seconds
        )
    }
}

extension Transfer {
    /// Whether this response is the proxy's.
    func isRefusedByProxy(_ head: ResponseHead) -> Bool {
        head.status == 407 && key.route.map { !$0.tunnels(to: request.endpoint) } ?? false
    }
}
