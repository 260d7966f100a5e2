import AFBase

/// A cookie storage, as long as none of its cookies is removed: a user who logs out loses some, and the next one has no part
/// in what was before.
package struct CookieEpoch: Sendable, Hashable {
    /// Half as long as others, since each task has one.
    package let number: UInt32

    /// - Parameter number: 0 for none.
    package init(number: UInt32) {
        self.number = number
    }

    package static func begin() -> CookieEpoch {
        CookieEpoch(number: max(UInt32(truncatingIfNeeded: UniqueNumber.next()), 1))
    }

    /// The cookies are not those of a storage, or there are none.
    package static let none = CookieEpoch(number: 0)
}
