import AFWire
import Foundation

/// Who answers the challenges of trust and identity of a connection, where that is not the delegate of the session.
///
/// What one of them has accepted says nothing to another: connections, TLS sessions, proven chains and stored responses
/// are kept apart by it.
enum TrustJudge: Hashable, Sendable {
    /// One object. The number is its own, and never given twice.
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

/// A delegate of one task that decides about servers on behalf of another object.
protocol TrustJudging: AnyObject {
    var trustJudge: TrustJudge { get }
}

/// The numbers of delegates of single tasks. None is kept alive, and none gets the number of one that is gone, though it
/// may have its address.
struct DelegateNumbers {
    private struct Entry {
        weak var delegate: AnyObject?
        let number: UInt64
    }

    private static let smallest = 16

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// As many entries as there may be before those of delegates that are gone are removed.
    private var limit = DelegateNumbers.smallest

    var count: Int { entries.count }

    mutating func number(of delegate: AnyObject) -> UInt64 {
        let place = ObjectIdentifier(delegate)
        if let entry = entries[place], entry.delegate === delegate { return entry.number }
        if entries.count >= limit {
            entries = entries.filter { $0.value.delegate != nil }
            limit = max(DelegateNumbers.smallest, 2 * entries.count)
        }
        let number = CachePartition.uniqueNumber()
        entries[place] = Entry(delegate: delegate, number: number)
        return number
    }
}

extension TaskCore {
    /// Who would answer challenges of trust and identity for the task, as far as that is known before a question is put:
    /// nil is the session's delegate, or none at all.
    ///
    /// A delegate of the task's own that may have a method for challenges counts as if it had one. That it has none is
    /// known once it has been asked.
    var trustJudge: TrustJudge? {
        guard let own = ownDelegate, own !== session.delegate, !session.answersChallenges,
            !session.isMissing(.receivedTaskChallenge, in: own)
        else { return nil }
        if let own = own as? any TrustJudging { return own.trustJudge }
        return .own(session.delegateNumbers.number(of: own))
    }

    /// The same for a request to this place: nil in the clear, where there is nothing to ask.
    func trustJudge(for endpoint: Endpoint) -> TrustJudge? {
        endpoint.scheme == .https ? trustJudge : nil
    }
}
