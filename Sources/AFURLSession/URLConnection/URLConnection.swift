import AFLoop
public import Foundation

// Not final, so the compiler cannot check it: constants of Sendable types only.
/// One request and what comes of it, told to a delegate: the loader of AFNetworking 2.x.
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
/// **Where the delegate is called.** Where the connection is scheduled when it starts: in modes of a run loop
/// (``schedule(in:forMode:)``), on a queue (``setDelegateQueue(_:)``), or on the network thread itself
/// (``schedule(onNetworkThreadIn:)``). One that is scheduled nowhere takes the run loop of the thread that starts it, in
/// its default mode; nothing arrives if that loop does not run. Callbacks come one at a time and in order. While one of
/// them runs, at most 256 KiB of the body are read ahead.
///
/// **How it ends.** The delegate hears ``URLConnectionDataDelegate/connectionDidFinishLoading(_:)`` or
/// ``URLConnectionDelegate/connection(_:didFailWithError:)``, once, and nothing after it. A connection that is cancelled
/// says nothing more: where it is scheduled, from the moment ``cancel()`` returns. The delegate is held until then.
///
/// All connections of a process share one pool, the shared cache, and the shared stores of cookies and credentials. A
/// delegate that decides about servers itself shares secured connections with nobody who may decide otherwise.
///
/// All methods may be called from any thread.
open class URLConnection: NSObject, @unchecked Sendable {
    let core: ConnectionCore

    /// The request it was made with.
    public var originalRequest: URLRequest { core.originalRequest }

    /// The request that was made first: the original one, or what the delegate put in its place.
    package var firstRequest: URLRequest { core.firstRequest }

    /// The request being made: after redirects, the last one.
    public var currentRequest: URLRequest { core.currentRequest }

    /// Makes a connection. Nil if the request has no URL.
    ///
    /// - Parameters:
    ///   - request: Copied; later changes to it have no effect.
    ///   - delegate: Held until the connection has ended.
    ///   - startImmediately: Whether it starts at once. Otherwise it may be scheduled first.
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

    /// One in a world of its own.
    package init?(request: URLRequest, delegate: (any URLConnectionDelegate)?, in sessions: ConnectionSessions) {
        guard request.url != nil else { return nil }
        core = ConnectionCore(request, delegate, in: sessions)
        super.init()
    }

    // MARK: - Running it

    /// Starts the connection. Does nothing if it was started or cancelled before.
    open func start() {
        core.start(self)
    }

    /// Ends the connection without a word to the delegate, which is let go of. Does nothing if it has ended.
    ///
    /// Called where the connection is scheduled, nothing follows. Called elsewhere, a callback may be running just now.
    open func cancel() {
        core.cancel()
    }

    // MARK: - Where the delegate is called

    /// Has the delegate called by a run loop, while that runs in `mode`. May be called for several modes of one loop;
    /// another loop takes the place of the first, and of a queue.
    ///
    /// The loop is woken, and `run(mode:before:)` returns after callbacks, as for any input.
    open func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        core.schedule(in: runLoop, mode)
    }

    /// Takes it out of a mode. In none at all nothing is called; what there is to tell waits.
    open func unschedule(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        core.unschedule(from: runLoop, mode)
    }

    /// Has the delegate called on a queue, one call at a time even if the queue could do more. Nil takes it off the
    /// queue.
    open func setDelegateQueue(_ queue: OperationQueue?) {
        core.schedule(on: queue)
    }

    /// Has the delegate called on the network thread itself, as AFNetworking 2.x did.
    ///
    /// This saves handing each event to another thread. In return every callback must be short and must never block:
    /// meanwhile no session of the process makes progress, and waiting for one in a callback is waiting for ever. The
    /// thread runs its loop in the default mode, which the common modes include; in others nothing is called.
    open func schedule(onNetworkThreadIn modes: [RunLoop.Mode]) {
        core.schedule(onNetworkThreadIn: modes)
    }

    // MARK: - The network thread

    /// Runs `block` on the network thread, after everything that was asked of it before, and does not wait for it. It
    /// must be short and must never block: meanwhile no session of the process makes progress.
    ///
    /// A process that has no such thread, the child of a `fork`, runs it at once on the calling thread.
    ///
    /// - Parameters:
    ///   - modes: Those of the loop in which it may run: see ``schedule(onNetworkThreadIn:)``.
    ///   - block: What to do.
    public class func perform(onNetworkThreadIn modes: [RunLoop.Mode], _ block: @escaping @Sendable () -> Void) {
        ConnectionSessions.system.perform(in: LoopModes(modes), block)
    }
}

extension LoopModes {
    init(_ modes: [RunLoop.Mode]) {
        self = modes.reduce(into: []) { result, mode in
            switch mode {
            case .default: result.formUnion(.default)
            case .common: result.formUnion(.common)
            default: result.formUnion(.tracking)
            }
        }
    }
}
