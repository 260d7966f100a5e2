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
