import Foundation

/// Who decided about a server, where that was neither the rules nor the delegate of the session as a whole.
///
/// What one of them has accepted says nothing to another: connections, TLS sessions and stored responses are kept apart
/// by it.
enum TrustJudge: Hashable, Sendable {
    /// Nobody decides alike.
    case own(UInt64)
    /// All who go by this name decide alike.
    case named(Data)

    /// For ``CachePartition``.
    var bytes: [UInt8] {
        switch self {
        case .own(let number): withUnsafeBytes(of: number.littleEndian) { [UInt8(0)] + Array($0) }
        case .named(let name): [UInt8(1)] + Array(name)
        }
    }
}

/// A delegate of one task that decides about servers on behalf of somebody.
protocol TrustJudging: AnyObject {
    var trustJudge: TrustJudge { get }
}

extension TaskCore {
    /// Who decides about a server in place of the session, as far as anybody knows before it is asked.
    func trustJudge(of isSecured: Bool) -> TrustJudge? {
        guard isSecured, let delegate = ownDelegate as? any TrustJudging,
            !session.isMissing(.receivedTaskChallenge, in: delegate)
        else { return nil }
        return delegate.trustJudge
    }
}
