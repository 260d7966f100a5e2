import AFBase
import AFWire
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

/// The numbers of delegates of single tasks. It keeps no delegate alive. A delegate never gets the number of one that
/// is gone, though it may have its address.
package struct DelegateNumbers {
    private struct Entry {
        package weak var delegate: AnyObject?
        package let number: UInt64
    }

    private static let smallest = 16

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// As many entries as there may be before those of delegates that are gone are removed.
    private var limit = DelegateNumbers.smallest

    package init() {}

    package var count: Int { entries.count }

    package mutating func number(of delegate: AnyObject) -> UInt64 {
        let place = ObjectIdentifier(delegate)
        if let entry = entries[place], entry.delegate === delegate { return entry.number }
        if entries.count >= limit {
            entries = entries.filter { $0.value.delegate != nil }
            limit = max(DelegateNumbers.smallest, 2 * entries.count)
        }
        let number = UniqueNumber.next()
        entries[place] = Entry(delegate: delegate, number: number)
        return number
    }
}
