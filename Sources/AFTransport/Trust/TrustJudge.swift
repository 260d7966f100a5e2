package import Foundation

/// Who answers the challenges of trust and identity of a connection, if that is not the session's delegate.
///
/// What one judge has accepted says nothing to another: each has connections, TLS sessions, proven chains and stored
/// responses of its own.
package enum TrustJudge: Hashable, Sendable {
    /// One object, by a number that no other object ever gets.
    case own(UInt64)
    /// All judges of this name decide alike.
    case named(Data)

    /// The bytes that keep the stored responses of judges apart.
    package var bytes: [UInt8] {
        switch self {
        case .own(let number): withUnsafeBytes(of: number.littleEndian) { [UInt8(0)] + Array($0) }
        case .named(let name): [UInt8(1)] + Array(name)
        }
    }
}

/// A delegate of one task that decides about servers on behalf of another object.
package protocol TrustJudging: AnyObject {
    var trustJudge: TrustJudge { get }
}
