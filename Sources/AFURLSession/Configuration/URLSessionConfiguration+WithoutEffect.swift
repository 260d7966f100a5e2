/// Foundation's settings for background sessions, which go on without their program. There are none of that kind here:
/// the configuration keeps the values, and they have no effect, as in every other session of Foundation's.
struct BackgroundSettings: Sendable {
    var isDiscretionary = false
    var sessionSendsLaunchEvents = false
    var extendsIdleMode = false
    var sharedContainerIdentifier: String?
}

extension URLSessionConfiguration {
    /// The name of a background session. Nil: there are no such sessions here.
    public var identifier: String? { nil }

    /// Whether the system may choose when a background session loads. Kept, and of no effect here.
    public var isDiscretionary: Bool {
        get { self[\.background.isDiscretionary] }
        set { self[\.background.isDiscretionary] = newValue }
    }

    /// Whether a background session may start its program. Kept, and of no effect here.
    public var sessionSendsLaunchEvents: Bool {
        get { self[\.background.sessionSendsLaunchEvents] }
        set { self[\.background.sessionSendsLaunchEvents] = newValue }
    }

    /// Whether connections stay open while the program is in the background. Kept, and of no effect here: a process
    /// of this system always runs.
    public var shouldUseExtendedBackgroundIdleMode: Bool {
        get { self[\.background.extendsIdleMode] }
        set { self[\.background.extendsIdleMode] = newValue }
    }

    /// The container in which an extension of a program puts its downloads. Kept, and of no effect here: see
    /// ``temporaryFolder``.
    public var sharedContainerIdentifier: String? {
        get { self[\.background.sharedContainerIdentifier] }
        set { self[\.background.sharedContainerIdentifier] = newValue }
    }
}

/// Foundation's settings for kinds of networks that Linux does not tell apart: kept, and of no effect.
struct NetworkHints: Sendable {
    var allowsExpensive = true
    var allowsConstrained = true
    var requiresDNSSEC = false
    var multipath = URLSessionConfiguration.MultipathServiceType.none
}

extension URLSessionConfiguration {
    /// How connections use several networks at a time.
    @nonexhaustive
    public enum MultipathServiceType: Int, Sendable {
        /// They do not.
        case none = 0
        /// They change to another network when one fails.
        case handover = 1
        /// They use the network that answers first.
        case interactive = 2
        /// They use all networks together.
        case aggregate = 3
    }

    /// Whether the session may use a network that is expensive. Kept, and **of no effect here**: Linux does not know what a
    /// network costs. True by default. ``allowsCellularAccess`` has an effect.
    public var allowsExpensiveNetworkAccess: Bool {
        get { self[\.networks.allowsExpensive] }
        set { self[\.networks.allowsExpensive] = newValue }
    }

    /// Whether the session may use a network on which the user saves data. Kept, and **of no effect here**: Linux has no
    /// such mode. True by default.
    public var allowsConstrainedNetworkAccess: Bool {
        get { self[\.networks.allowsConstrained] }
        set { self[\.networks.allowsConstrained] = newValue }
    }

    /// Whether the addresses of hosts must be signed (DNSSEC). Kept, and **of no effect here**: see
    /// ``/AFURLTypes/URLRequest/requiresDNSSECValidation``. False by default.
    ///
    /// > Warning: True protects nothing here. Use https, and pins where an authority is not enough.
    public var requiresDNSSECValidation: Bool {
        get { self[\.networks.requiresDNSSEC] }
        set { self[\.networks.requiresDNSSEC] = newValue }
    }

    /// How connections use several networks at a time. Kept, and **of no effect here**: the session speaks plain TCP. None
    /// by default.
    public var multipathServiceType: MultipathServiceType {
        get { self[\.networks.multipath] }
        set { self[\.networks.multipath] = newValue }
    }
}
