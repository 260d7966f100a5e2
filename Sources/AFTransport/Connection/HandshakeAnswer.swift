package import AFTLS

package enum HandshakeAnswer {
    /// The server is trusted, whatever the standard evaluation says.
    case trust
    case identity(ClientIdentity)
    /// As if there were no delegate.
    case standard
    /// No delegate has a method for the question.
    case unasked
    /// The task whose delegate was asked has ended meanwhile.
    case gone
    case reject
    case cancel
    case none
    /// The decision of an evaluator on another thread.
    case evaluated(ServerTrustDecision)
}
