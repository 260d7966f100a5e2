import AFLoop
import AFTLS
import AFWire

/// One connection that carries requests and their responses: what the pool and the clients know of it.
/// ``HTTP1Connection`` is the one implementation that is shipped.
///
/// The pool gives it requests, and is its owner. Each request is a client, which the connection tells of heads, body, end
/// or failure, on the loop and in wire order. Once it has no client any more, it tells its owner whether it is fit for
/// reuse.
protocol HTTPConnection: AnyObject {
    /// How its connection was made.
    var made: ConnectionReport { get }
    /// When its connection was made.
    var opened: LoopInstant { get }
    /// Which generation of connections of its pool it belongs to.
    var generation: Int { get }
    /// It has completed a request before, or was idle before its first: its age may explain its end.
    var isReused: Bool { get }
    /// How long the server said it will keep the connection.
    var keepAliveHint: Duration? { get }

    /// How many requests it takes at once, as things stand.
    var capacity: Int { get }
    /// How many requests it has.
    var load: Int { get }
    /// Whether the responses come in the order of the requests, so that each waits for those before it.
    var answersInOrder: Bool { get }

    // MARK: From the pool

    /// Sends a request. It has no other.
    func begin(_ client: any ExchangeClient)
    /// Takes a request beside those it has. It leaves with `sendAppended`, together with all that are appended in this
    /// turn.
    func append(_ client: any ExchangeClient)
    func sendAppended()
    /// Prepares for being idle.
    func rest()
    func close()

    // MARK: From a client

    /// Nothing holds up the client any more.
    func goOn(with client: any ExchangeClient)
    /// The client is held up, and no deadline of its own watches the peer: the kernel has to.
    func probePeer(for client: any ExchangeClient)
    /// A client wants nothing more. What is still on its way to it must reach no other.
    func abandon(_ client: any ExchangeClient)
    /// Gives its channel away: what comes from now on is not for the connection, and the new owner closes the channel. Nil
    /// if not all was sent, or other requests wait on it.
    func surrender() -> (any ByteChannel)?
}

/// One request, and the object that is told of its response.
protocol ExchangeClient: AnyObject {
    var request: WireRequest { get }
    var body: (any BodySource)? { get }
    /// Whether it may be sent before the requests in front of it are answered.
    var mayBePipelined: Bool { get }
    /// It waits so long for progress that the kernel has to find out whether the peer is still there.
    var outlastsPeers: Bool { get }
    /// What it waits for.
    var phase: TransferPhase { get }

    // MARK: What holds it up

    /// Nothing may be received for it now.
    var isHeldUp: Bool { get }
    /// Nothing of its body may be sent now.
    var holdsBodyBack: Bool { get }
    /// It may receive nothing before its share of the rate limit allows it, or may again.
    func shareIsSpent(_ isSpent: Bool)
    /// The body has nothing to send, or has something again.
    func bodyWaits(_ waits: Bool)

    // MARK: Sending

    /// The connection asks this right before the first byte of the request leaves.
    func depart() throws(Refusal) -> Permit
    /// The connection begins to send it.
    func exchangeBegins(on connection: any HTTPConnection)
    /// The connection sends it ahead. Until its turn comes, the requests before it are to blame for the wait.
    func follow(on connection: any HTTPConnection)
    /// All of a request that follows others is sent.
    func sentAhead(headBytes: Int)
    /// Its turn has come: the next response is its own.
    func leads(on connection: any HTTPConnection)
    func sent(headBytes: Int, bodyBytes: Int)
    func requestSent()

    // MARK: Receiving

    /// The first byte has come.
    func responseBegan()
    func receivedInterim(_ head: ResponseHead)
    func receivedHead(_ head: ResponseHead, headBytes: Int)
    /// The bytes are valid only during this call.
    func receivedBody(_ bytes: UnsafeRawBufferPointer)
    func receivedTrailers(_ trailers: HTTPHeaders)

    // MARK: Ending

    /// The connection is back in the pool, or closed, before either is called: the client may start another request at
    /// once, and should find it.
    func exchangeFinished()
    func exchangeFailed(_ error: TransferError)

    /// Whether the request may be sent once more.
    ///
    /// - Parameters:
    ///   - reused: The connection has completed a request before.
    ///   - unprocessed: The server cannot have acted on the request.
    func mayRetry(reused: Bool, unprocessed: Bool) -> Bool
    /// The connection is closed: the request needs a fresh connection, which takes the place of this one.
    func retry()
    /// Whether the request may be repeated without its `Expect` field.
    var mayDropExpectation: Bool { get }
    func dropExpectation()
    /// The connection is closed, and the turn of the request had not come: it waits again.
    func lostItsTurn()
}

/// What a connection tells the pool of its host, and asks it.
protocol ConnectionOwner: AnyObject {
    /// Whether the rules still hold under which the connection was made.
    func isCurrent(_ connection: any HTTPConnection) -> Bool
    /// Whether it may take another request beside those it has: its rules hold, and it is not too old.
    func mayTakeMore(_ connection: any HTTPConnection) -> Bool
    /// The server has failed at answering pipelined requests.
    var avoidsPipelining: Bool { get set }
    /// Whether a body that only the end of the connection ends may end without `close_notify`.
    var toleratesMissingCloseNotify: Bool { get }

    /// The connection has no request any more.
    func exchangeEnded(on connection: any HTTPConnection, mayReuse: Bool)
    /// The connection has room for another request beside those it has.
    func connectionHasRoom()
    /// The peer closed an idle connection, or spoke on it without being asked.
    func idleConnectionEnded(_ connection: any HTTPConnection)
    func connectionClosed(_ connection: any HTTPConnection)
    /// The connection has given its channel away.
    func connectionLeft(_ connection: any HTTPConnection)
}

/// What a connection is made of.
struct ConnectionParts {
    let channel: any ByteChannel
    let made: ConnectionReport
    let generation: Int
    let owner: any ConnectionOwner
    let platform: Platform
    let limits: ConnectionLimits

    /// The connection that speaks what ALPN has agreed on. `TLSAgreement` has refused what was not offered.
    func connection() -> any HTTPConnection {
        switch made.handshake?.agreedProtocol {
        // A server without TLS, and one that has not chosen, are spoken to in HTTP/1.1.
        case .http11, nil: HTTP1Connection(self)
        }
    }
}

/// What the connections of a pool have in common.
struct ConnectionLimits {
    /// How long a request waits for `100 Continue` before it sends its body without.
    let continuePatience: LoopInterval
    /// What all of them together may receive and send. Nil: all they can.
    let receiving: RateLimit?
    let sending: RateLimit?
}

/// Makes a connection of a channel.
typealias ConnectionMaker = (ConnectionParts) -> any HTTPConnection
