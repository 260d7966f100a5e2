import AFBase

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
