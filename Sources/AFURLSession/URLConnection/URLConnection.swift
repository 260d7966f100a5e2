import AFLoop
public import AFTransport
public import Foundation

// Unchecked, because the compiler cannot check an open class. It has only constants of Sendable types.
/// Loads one request and tells a delegate about it: the loader of AFNetworking 2.x.
///
/// ```swift
/// final class Page: URLConnectionDataDelegate {
///     func connection(_ connection: URLConnection, didReceive data: Data) { show(data) }
///     func connectionDidFinishLoading(_ connection: URLConnection) { finish() }
/// }
///
/// let connection = URLConnection(request: URLRequest(url: url), delegate: Page())
/// ```
///
/// **Where the delegate is called.** Where you schedule the connection before it starts: in modes of a run loop
/// (``schedule(in:forMode:)``), on a queue (``setDelegateQueue(_:)``), or on the network thread itself
/// (``schedule(onNetworkThreadIn:)``). Otherwise it takes the run loop of the thread that starts it, in its default
/// mode; then the delegate hears nothing if that loop does not run. Callbacks come one at a time and in order. While
/// one of them runs, the connection reads at most 256 KiB of the body ahead.
///
/// **How it ends.** The delegate hears ``URLConnectionDataDelegate/connectionDidFinishLoading(_:)`` or
/// ``URLConnectionDelegate/connection(_:didFailWithError:)``, once, and nothing after it. A connection that you cancel
/// makes no more calls; if you cancel it where it is scheduled, none after ``cancel()`` has returned. It holds the
/// delegate until it ends.
///
/// All connections of a process share one pool, the shared cache, and the shared stores of cookies and credentials. A
/// delegate that decides about servers itself shares TLS connections only with delegates that decide in the same way.
///
/// You may call all methods from any thread.
open class URLConnection: NSObject, @unchecked Sendable {
    let core: ConnectionCore

    /// The request that the connection was made with.
    public var originalRequest: URLRequest { core.originalRequest }

    /// The request that was sent first: the original one, or the one the delegate put in its place.
    package var firstRequest: URLRequest { core.firstRequest }

    /// The present request: after redirects, the last one.
    public var currentRequest: URLRequest { core.currentRequest }

    /// Makes a connection. Nil if the request has no URL.
    ///
    /// - Parameters:
    ///   - request: The connection copies it; later changes to it have no effect.
    ///   - delegate: The connection holds it until it has ended.
    ///   - startImmediately: Whether it starts at once. With false you can schedule it first.
    public convenience init?(
        request: URLRequest,
        delegate: (any URLConnectionDelegate)?,
        startImmediately: Bool
    ) {
        self.init(request: request, delegate: delegate, in: .system)
        if startImmediately { start() }
    }

    /// Makes a connection and starts it. Nil if the request has no URL.
    public convenience init?(request: URLRequest, delegate: (any URLConnectionDelegate)?) {
        self.init(request: request, delegate: delegate, startImmediately: true)
    }

    /// Makes a connection in a world of its own.
    package init?(request: URLRequest, delegate: (any URLConnectionDelegate)?, in sessions: ConnectionSessions) {
        guard request.url != nil else { return nil }
        core = ConnectionCore(request: request, delegate: delegate, in: sessions)
        super.init()
    }

    /// How the connection is secured: which authorities it trusts, and how it identifies itself. Nil, as it is at first, is
    /// the standard configuration. Set it before you start the connection.
    ///
    /// ```swift
    /// var tls = TLSConfiguration()
    /// tls.anchors = try .file("/etc/my-company/root.pem")
    /// connection.tls = tls
    /// ```
    ///
    /// Connections with the same configuration share their TLS connections; an evaluator that is an object must be the same
    /// object for that.
    open var tls: TLSConfiguration? {
        get { core.tls }
        set { core.tls = newValue }
    }

    // MARK: - Running

    /// Starts the connection. Does nothing if you have started or cancelled it before.
    open func start() {
        core.start(self)
    }

    /// Starts the connection. If that is done where the delegate is called, the delegate hears at once what it is asked
    /// first.
    package func startHere() {
        core.start(self, asksAtOnce: true)
    }

    /// Ends the connection without a call to the delegate, and releases the delegate. Does nothing if the connection
    /// has ended.
    ///
    /// If you call it where the connection is scheduled, no callback follows. If you call it elsewhere, one may be
    /// running just now.
    open func cancel() {
        core.cancel()
    }

    // MARK: - Where the delegate is called

    /// Makes a run loop call the delegate, while that runs in `mode`. You may call this for several modes of one loop;
    /// another loop takes the place of the first, and of a queue.
    ///
    /// The connection wakes the loop, and `run(mode:before:)` returns after callbacks, as after any input.
    open func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        core.schedule(in: runLoop, mode: mode)
    }

    /// Removes the connection from a mode. With no mode left it makes no calls, and its events wait.
    open func unschedule(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        core.unschedule(from: runLoop, mode: mode)
    }

    /// Makes a queue call the delegate, one call at a time even if the queue is concurrent. Nil removes the connection
    /// from its queue.
    open func setDelegateQueue(_ queue: OperationQueue?) {
        core.schedule(on: queue)
    }

    /// Makes the network thread itself call the delegate, as AFNetworking 2.x did.
    ///
    /// This saves handing each event to another thread. In return every callback must be short and must never block:
    /// meanwhile no session of the process makes progress, and waiting for one in a callback is waiting for ever. The
    /// thread runs its loop in the default mode, which the common modes include; in other modes it makes no calls.
    open func schedule(onNetworkThreadIn modes: [RunLoop.Mode]) {
        core.schedule(onNetworkThreadIn: modes)
    }

    // MARK: - The network thread

    /// Runs `block` on the network thread, after all blocks passed before, and does not wait for it. The block must be
    /// short and must never block: meanwhile no session of the process makes progress.
    ///
    /// A process without a network thread, the child of a `fork`, runs it at once on the calling thread.
    ///
    /// - Parameters:
    ///   - modes: The modes of the loop in which it may run: see ``schedule(onNetworkThreadIn:)``.
    ///   - block: The code to run.
    public class func perform(onNetworkThreadIn modes: [RunLoop.Mode], _ block: @escaping @Sendable () -> Void) {
        ConnectionSessions.system.perform(in: LoopModes(modes), block: block)
    }
}

extension LoopModes {
    init(_ modes: [RunLoop.Mode]) {
        // Not `[]`, which the library for sets makes one element after the other.
        self.init(rawValue: 0)
        for mode in modes {
            switch mode {
            case .common: formUnion(.common)
            case .default: formUnion(.default)
            default: formUnion(.tracking)
            }
        }
    }
}

// Swift never dropped the prefix of these names: code for Apple's platforms spells them as they are here.

/// ``URLConnection`` under the name it has on Apple's platforms.
public typealias NSURLConnection = URLConnection

/// ``URLConnectionDelegate`` under the name it has on Apple's platforms.
public typealias NSURLConnectionDelegate = URLConnectionDelegate

/// ``URLConnectionDataDelegate`` under the name it has on Apple's platforms.
public typealias NSURLConnectionDataDelegate = URLConnectionDataDelegate

/// ``URLConnectionDownloadDelegate`` under the name it has on Apple's platforms.
public typealias NSURLConnectionDownloadDelegate = URLConnectionDownloadDelegate
