import AFTransport
public import Foundation

// MARK: - Timeouts by name

extension URLSessionConfiguration {
    /// How long a task may wait, in seconds, while all connections it might have are in use and the session makes none
    /// for it. Nil, or a number that is not positive: as long as its other times allow.
    ///
    /// This time, ``connectTimeout``, ``connectAttemptTimeout`` and ``tlsTimeout`` run beside
    /// ``timeoutIntervalForRequest``, which counts all waiting, and ``timeoutIntervalForResource``. The first that is
    /// over ends the task. The error says which one it was (``/AFURLSession/LoadFailure/detail``) and how long each phase
    /// took (``/AFURLSession/LoadFailure/timings``).
    public var queueTimeout: TimeInterval? {
        get { self[\.pool.queueTimeout] }
        set { self[\.pool.queueTimeout] = newValue }
    }

    /// How long connecting may take, in seconds: looking up the name, trying its addresses, and waiting for a proxy to
    /// connect to the server, if there is one. Nil, or a number that is not positive: as long as the other times allow.
    public var connectTimeout: TimeInterval? {
        get { self[\.pool.connectTimeout] }
        set { self[\.pool.connectTimeout] = newValue }
    }

    /// How long each address of a name may take to answer, in seconds. Then the session gives it up and tries the next
    /// one that it has not tried yet, if there is one. Nil, or a number that is not positive: as long as the other
    /// times allow.
    public var connectAttemptTimeout: TimeInterval? {
        get { self[\.pool.connectAttemptTimeout] }
        set { self[\.pool.connectAttemptTimeout] = newValue }
    }

    /// How long the TLS handshake may take, in seconds, with the time a delegate takes to decide about the server. Nil,
    /// or a number that is not positive: as long as the other times allow.
    public var tlsTimeout: TimeInterval? {
        get { self[\.pool.tlsTimeout] }
        set { self[\.pool.tlsTimeout] = newValue }
    }
}

// MARK: - Networks

extension URLSessionConfiguration {
    /// Whether tasks wait for a network, where without one they would fail. False by default.
    ///
    /// A task waits when this machine has no route to any of the addresses, or can reach no name service; it does not
    /// wait for a server that refuses the connection. It tries again when a link, an address or a route of the machine
    /// changes, and also by itself: after a second, then after twice as long each time, up to a minute. The session
    /// tells the delegate once (``URLSessionTaskDelegate/urlSession(_:taskIsWaitingForConnectivity:)``). During the
    /// wait ``timeoutIntervalForRequest`` stands still, ``timeoutIntervalForResource`` does not.
    public var waitsForConnectivity: Bool {
        get { self[\.waitsForConnectivity] }
        set { self[\.waitsForConnectivity] = newValue }
    }

    /// Whether the session may connect over a cellular network. True by default.
    ///
    /// If not, the session asks the kernel for the route to each address before it connects, and leaves out addresses
    /// whose route is by a modem (an interface of the type `wwan`). It uses an address whose route the kernel does not
    /// tell.
    public var allowsCellularAccess: Bool {
        get { self[\.link.allowsCellular] }
        set { self[\.link.allowsCellular] = newValue }
    }

    /// What the session's requests are for, unless they say so themselves. `.default`: ordinary traffic.
    public var networkServiceType: URLRequest.NetworkServiceType {
        get { self[\.link.serviceType] }
        set { self[\.link.serviceType] = newValue }
    }

    /// Decides which addresses the session may connect to. Nil, the default: all.
    public var addressFilter: AddressFilter? {
        get { self[\.pool.addressFilter] }
        set { self[\.pool.addressFilter] = newValue }
    }

    /// The address of this machine, or the name of its network interface, that the session makes its connections from. Nil, the
    /// default: the system chooses. A connection that cannot be made from there fails, as one to an address of the other
    /// family does. It does not hold for Unix-domain sockets, nor for what the system asks its name servers.
    public var connectionSource: String? {
        get { self[\.pool.connectionSource] }
        set { self[\.pool.connectionSource] = newValue }
    }

    /// After how many seconds without a byte the kernel asks the other end of a connection whether it is still there, and as
    /// many until it asks again; after six questions without an answer the connection is lost. Nil, the default: after a minute,
    /// where a connection waits, and then every ten seconds. Not positive: never.
    public var peerProbeInterval: TimeInterval? {
        get { self[\.pool.peerProbeInterval] }
        set { self[\.pool.peerProbeInterval] = newValue }
    }

    /// Finds the addresses of names in place of the system. Nil, the default: the system does.
    public var nameResolver: NameResolver? {
        get { self[\.pool.nameResolver] }
        set { self[\.pool.nameResolver] = newValue }
    }

    /// Hosts that the session reaches at another place, under their own names. The first override that fits counts.
    /// Empty unless set.
    ///
    /// They apply to connections to servers: a proxy gets the URL's host, and a Unix-domain socket takes precedence
    /// over them. The session asks ``addressFilter`` about the place that it connects to.
    public var hostOverrides: [HostOverride] {
        get { self[\.pool.hostOverrides] }
        set { self[\.pool.hostOverrides] = newValue }
    }
}

// MARK: - Shares

extension URLSessionConfiguration {
    /// How many connections a session may have at a time, to all hosts together, idle ones included. Nil, the default:
    /// only ``httpMaximumConnectionsPerHost`` counts. Less than 1 means 1.
    ///
    /// When a session at this limit needs one for a host that has none, it closes an idle connection, or else the next
    /// one that becomes free. So every host gets its turn. With fewer connections than hosts, each turn costs a new
    /// connection.
    public var maximumConnections: Int? {
        get { self[\.pool.maximumConnections] }
        set { self[\.pool.maximumConnections] = newValue }
    }

    /// How many bytes a session receives in a second, all its tasks together and each with its fair share. Nil, the
    /// default, or a number that is not positive: no limit.
    ///
    /// The session counts responses, heads and bodies, without what TLS adds to them. Bytes it has not read wait in the
    /// network and hold up their sender. Waiting for a share does not count against ``timeoutIntervalForRequest``.
    public var maximumBytesReceivedPerSecond: Int? {
        get { self[\.pool.receiveRate] }
        set { self[\.pool.receiveRate] = newValue }
    }

    /// How many bytes a session sends in a second: as ``maximumBytesReceivedPerSecond``, for requests. Heads count, but
    /// do not wait.
    public var maximumBytesSentPerSecond: Int? {
        get { self[\.pool.sendRate] }
        set { self[\.pool.sendRate] = newValue }
    }
}
