extension URLRequest {
    /// Who asked for a request.
    @nonexhaustive
    public enum Attribution: UInt, Sendable {
        /// The program.
        case developer = 0
        /// The user, as by following a link.
        case user = 1
    }

    /// Whether the session may send the request over a network that is expensive. Kept, and **of no effect here**: Linux
    /// does not know what a network costs. True by default. ``allowsCellularAccess`` has an effect.
    public var allowsExpensiveNetworkAccess: Bool {
        get { contents.hints.value.allowsExpensiveNetwork }
        set { change { $0.hints.value.allowsExpensiveNetwork = newValue } }
    }

    /// Whether the session may send the request over a network on which the user saves data. Kept, and **of no effect
    /// here**: Linux has no such mode. True by default.
    public var allowsConstrainedNetworkAccess: Bool {
        get { contents.hints.value.allowsConstrainedNetwork }
        set { change { $0.hints.value.allowsConstrainedNetwork = newValue } }
    }

    /// Who asked for the request. Kept, and **of no effect here**: no report of the system counts requests. The developer
    /// by default.
    public var attribution: Attribution {
        get { Attribution(rawValue: contents.hints.value.attribution) ?? .developer }
        set { change { $0.hints.value.attribution = newValue.rawValue } }
    }

    /// Whether the addresses of the host must be signed (DNSSEC). Kept, and **of no effect here**: the session asks the
    /// resolver of the system, which decides by itself whether it validates, and does not tell. False by default.
    ///
    /// > Warning: True protects nothing here. Use https, and pins where an authority is not enough.
    public var requiresDNSSECValidation: Bool {
        get { contents.hints.value.requiresDNSSEC }
        set { change { $0.hints.value.requiresDNSSEC = newValue } }
    }

    /// Whether the session tries HTTP/3 at once. Kept, and **of no effect here**: the session speaks HTTP/1.1. False by
    /// default.
    public var assumesHTTP3Capable: Bool {
        get { contents.hints.value.assumesHTTP3 }
        set { change { $0.hints.value.assumesHTTP3 = newValue } }
    }
}

extension NSURLRequest {
    /// Who asked for a request.
    public typealias Attribution = URLRequest.Attribution
}
