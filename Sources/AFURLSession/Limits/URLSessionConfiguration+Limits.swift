import AFTransport
public import Foundation

// MARK: - Timeouts by name

extension URLSessionConfiguration {
    /// How long a task may wait for its turn, in seconds, while all connections it might have are in use and none is
    /// being made for it. Nil: as long as its other times allow. Not positive means nil.
    ///
    /// This time, ``connectTimeout``, ``connectAttemptTimeout`` and ``tlsTimeout`` run beside
    /// ``timeoutIntervalForRequest``, which counts all waiting, and ``timeoutIntervalForResource``: whichever is over
    /// first ends the task, and the error says which one it was (``LoadFailure/detail``) and how long each phase took
    /// (``LoadFailure/timings``).
    public var queueTimeout: TimeInterval? {
        get { self[\.limits.queueTimeout] }
        set { self[\.limits.queueTimeout] = newValue }
    }

    /// How long it may take to connect, in seconds: looking up the name, trying its addresses, and being led on by a
    /// proxy, if there is one. Nil: as long as the other times allow. Not positive means nil.
    public var connectTimeout: TimeInterval? {
        get { self[\.limits.connectTimeout] }
        set { self[\.limits.connectTimeout] = newValue }
    }

    /// How long each address of a name may take to answer, in seconds; then it is given up, and the next one, if there
    /// is one that was not tried already, takes its place. Nil: as long as the other times allow. Not positive means
    /// nil.
    public var connectAttemptTimeout: TimeInterval? {
        get { self[\.limits.connectAttemptTimeout] }
        set { self[\.limits.connectAttemptTimeout] = newValue }
    }

    /// How long it may take to secure a connection, in seconds, with the time a delegate takes to decide about the
    /// server. Nil: as long as the other times allow. Not positive means nil.
    public var tlsTimeout: TimeInterval? {
        get { self[\.limits.tlsTimeout] }
        set { self[\.limits.tlsTimeout] = newValue }
    }
}

// MARK: - Networks

extension URLSessionConfiguration {
    /// Whether tasks wait for a network, if there is none, where they would fail. False.
    ///
    /// A task waits when none of the addresses can be reached because this machine has no way to them, or when no name
    /// service can be asked; a server that refuses is there. It tries again when a link, an address or a route of the
    /// machine changes, and now and then by itself: after a second, then after twice as long each time, up to a minute.
    /// The delegate hears of it once (``URLSessionTaskDelegate/urlSession(_:taskIsWaitingForConnectivity:)``). While it
    /// waits ``timeoutIntervalForRequest`` stands still, ``timeoutIntervalForResource`` does not.
    public var waitsForConnectivity: Bool {
        get { self[\.limits.waitsForConnectivity] }
        set { self[\.limits.waitsForConnectivity] = newValue }
    }

    /// Whether connections may be made by way of a cellular network. True.
    ///
    /// If not, the kernel is asked for the way to each address before it is connected to, and addresses to which the
    /// way is by a modem (an interface of the type `wwan`) are left out. A way the kernel does not tell is taken.
    public var allowsCellularAccess: Bool {
        get { self[\.limits.link.allowsCellular] }
        set { self[\.limits.link.allowsCellular] = newValue }
    }

    /// What the requests of the session are for that do not say it themselves. Nothing in particular, `.default`.
    public var networkServiceType: URLRequest.NetworkServiceType {
        get { self[\.limits.link.serviceType] }
        set { self[\.limits.link.serviceType] = newValue }
    }

    /// Who decides about the addresses that are connected to. Nil: nobody, each may be.
    public var addressFilter: AddressFilter? {
        get { self[\.limits.addressFilter] }
        set { self[\.limits.addressFilter] = newValue }
    }

    /// Hosts whose connections are made to another place, under their own names. The first that fits counts. Empty
    /// unless set.
    ///
    /// For connections to servers: a proxy is told the URL's host, and a Unix-domain socket goes before them.
    /// ``addressFilter`` is asked about the place that is connected to.
    public var hostOverrides: [HostOverride] {
        get { self[\.limits.overrides] }
        set { self[\.limits.overrides] = newValue }
    }
}

// MARK: - Shares

extension URLSessionConfiguration {
    /// Connections a session may have at a time, to all hosts together, those that are idle included. Nil, the default:
    /// only ``httpMaximumConnectionsPerHost`` counts. Less than 1 means 1.
    ///
    /// When all are made, an idle one is closed for a host that has none; failing that, the next that becomes free is.
    /// So every host gets its turn, and fewer connections than hosts cost a new connection for each turn.
    public var maximumConnections: Int? {
        get { self[\.limits.maximumConnections] }
        set { self[\.limits.maximumConnections] = newValue }
    }

    /// Bytes a session receives in a second, all its tasks together and each with its fair share. Nil, the default, and
    /// what is not positive: no limit.
    ///
    /// Responses are counted, heads and bodies, without what TLS adds to them. What is not taken from the network waits
    /// there, and holds up its sender. A task that is held up for its share does not run into
    /// ``timeoutIntervalForRequest``.
    public var maximumBytesReceivedPerSecond: Int? {
        get { self[\.limits.receiveRate] }
        set { self[\.limits.receiveRate] = newValue }
    }

    /// Bytes a session sends in a second: as ``maximumBytesReceivedPerSecond``, for requests. Heads are counted and not
    /// held up.
    public var maximumBytesSentPerSecond: Int? {
        get { self[\.limits.sendRate] }
        set { self[\.limits.sendRate] = newValue }
    }
}
