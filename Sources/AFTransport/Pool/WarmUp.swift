/// Wants connections to one place before requests do. It is asked what requests are asked.
package protocol WarmUp: DepartureRules {
    /// How many are to be idle.
    var count: Int { get }
    /// The delegate that the handshake may ask about the server, if there is one.
    var handshakeDelegate: (any HandshakeDelegate)? { get }
    /// Fewer are idle, perhaps because a request has just taken one. Whether the pool makes more now.
    func mayDial(afterUse: Bool) -> Bool
    /// As many are idle as it wants, or as it gets.
    func isWarm(idle: Int)
    /// Nil: the rules have changed, or forbid the connection. It has to begin anew.
    func stopped(by error: TransferError?)
}
