import Synchronization

/// Numbers of which each is given once in a process.
package enum UniqueNumber {
    private static let last = Atomic<UInt64>(0)

    package static func next() -> UInt64 {
        last.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
