public import Foundation

extension URLRequest {
    /// How long this request may wait for a connection, in seconds, in place of
    /// ``URLSessionConfiguration/queueTimeout``. Nil, the default, or a number that is not positive: the session's
    /// value applies.
    public var queueTimeout: TimeInterval? {
        get { contents.limits.value.queueTimeout }
        set { change { $0.limits.value.queueTimeout = newValue } }
    }

    /// How many bytes of its body the session sends in a second, at most. Nil, the default, or a number that is not
    /// positive: as many as the network takes.
    ///
    /// The limit ``URLSessionConfiguration/maximumBytesSentPerSecond``, which all requests of a session share, holds as
    /// well. Waiting for a share does not count against ``timeoutInterval``. Redirected and repeated requests keep the
    /// limit.
    public var maximumBytesSentPerSecond: Int? {
        get { contents.limits.value.sendRate }
        set { change { $0.limits.value.sendRate = newValue } }
    }

    /// What the request is for. The session's value unless set.
    public var networkServiceType: NetworkServiceType {
        get { contents.limits.value.serviceType ?? .default }
        set { change { $0.limits.value.serviceType = newValue } }
    }

    /// Whether the session may send the request over a cellular network. True by default; a session that forbids it for
    /// all its requests takes precedence.
    public var allowsCellularAccess: Bool {
        get { contents.limits.value.allowsCellular }
        set { change { $0.limits.value.allowsCellular = newValue } }
    }
}
