/// What a request says of networks and of itself to Apple's loader. It is kept, and has no effect here.
package struct RequestHints: Sendable, Hashable, Codable {
    package var allowsExpensiveNetwork = true
    package var allowsConstrainedNetwork = true
    package var requiresDNSSEC = false
    package var assumesHTTP3 = false
    /// The number of a `URLRequest.Attribution`.
    package var attribution: UInt = 0
}

/// The same in the space of a reference: nearly every request keeps the defaults.
package enum OwnHints: Sendable, Hashable {
    case usual
    indirect case own(RequestHints)

    package var value: RequestHints {
        get { if case .own(let hints) = self { hints } else { RequestHints() } }
        set { self = newValue == RequestHints() ? .usual : .own(newValue) }
    }
}
