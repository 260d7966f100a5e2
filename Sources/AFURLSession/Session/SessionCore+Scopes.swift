import AFState
import AFTransport
import AFWire

extension SessionCore {
    /// Under which judgement the server of a transfer was accepted.
    func scope(of transfer: Transfer) -> TrustScope {
        let handshake = transfer.times.connection?.handshake
        return scopes.scope(
            of: transfer.request.endpoint,
            under: transfer.key.security,
            word: handshake?.followsDelegate == false ? .none : .delegate(transfer.key.judge),
            isProven: handshake?.isChainTrusted == true && !transfer.wasDecidedElsewhere
        )
    }

    /// The same of a proxy, about which no delegate is asked.
    func scope(ofProxy route: ProxyRoute, under rules: SecurityContext?) -> TrustScope {
        scopes.scope(of: route.endpoint, under: rules, word: .none, isProven: false)
    }
}

extension Load {
    /// Under which judgement the task gets what it receives now. Nil if it comes from the cache.
    var presentScope: TrustScope? { memory?.foreign?.scope ?? transfer.map { session.scope(of: $0) } }
}
