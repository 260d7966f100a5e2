/// The same in the space of a reference: nearly every request keeps the defaults.
package enum OwnLimits: Sendable, Hashable {
    case usual
    indirect case own(RequestLimits)

    /// Nil if the request sets none.
    @inlinable
    package var own: RequestLimits? {
        if case .own(let limits) = self { limits } else { nil }
    }

    package var value: RequestLimits {
        get { own ?? RequestLimits() }
        set { self = newValue == RequestLimits() ? .usual : .own(newValue) }
    }
}
