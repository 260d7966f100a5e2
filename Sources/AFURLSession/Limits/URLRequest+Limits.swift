public import Foundation

extension URLRequest {
    /// How long this request may wait for its turn, in seconds, in place of what
    /// ``URLSessionConfiguration/queueTimeout`` says. Nil, the default, and what is not positive: as that says.
    public var queueTimeout: TimeInterval? {
        get { contents.limits.value.queueTimeout }
        set { change { $0.limits.value.queueTimeout = newValue } }
    }

    /// How many bytes of its body are sent in a second, at most. Nil, the default, and what is not positive: as many as
    /// the network takes.
    ///
    /// Beside ``URLSessionConfiguration/maximumBytesSentPerSecond``, which all requests of a session share: both are
    /// kept. Waiting does not run into ``timeoutInterval``. Redirected and repeated requests keep to it as well.
    public var maximumBytesSentPerSecond: Int? {
        get { contents.limits.value.sendRate }
        set { change { $0.limits.value.sendRate = newValue } }
    }

    /// What the request is for. That of the session unless set.
    public var networkServiceType: NetworkServiceType {
        get { contents.limits.value.serviceType ?? .default }
        set { change { $0.limits.value.serviceType = newValue } }
    }

    /// Whether the request may be sent by way of a cellular network. True; a session that does not allow it for all its
    /// requests goes before it.
    public var allowsCellularAccess: Bool {
        get { contents.limits.value.allowsCellular }
        set { change { $0.limits.value.allowsCellular = newValue } }
    }
}
