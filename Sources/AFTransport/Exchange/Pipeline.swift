import AFWire

/// Pipelined requests: sent on one connection ahead of the answers before them.
///
/// Their answers come in this order, and nothing else tells which request they belong to (RFC 9112 §9.3.2). So no
/// request is ever taken out of the middle: one that the task has given up keeps its place until its turn, when the
/// connection is closed.
struct Pipeline {
    /// How many may wait behind the one that is being answered: not too many, since what a server does not answer has
    /// to be sent again.
    static let depth = 15

    private struct Follower {
        /// Nil when it has left.
        var client: (any ExchangeClient)?
        var headBytes = 0
        /// Where it ends in all that was ever written. Nil: it has no leave to be sent.
        var end: Int?
    }

    private var followers: ContiguousArray<Follower> = []
    /// The heads that have not left, one behind the other.
    private var bytes: [UInt8] = []
    /// Counted over the life of the pipeline, as `end` is.
    private var written = 0
    private var sent = 0
    /// How much of `bytes` was sent.
    private var offset = 0

    var isEmpty: Bool { followers.isEmpty }
    var count: Int { followers.count }
    var hasUnsent: Bool { sent < written || hasOneWithoutLeave }

    // Those without leave stand behind all others.
    private var hasOneWithoutLeave: Bool { followers.last.map { $0.end == nil } ?? false }

    mutating func append(_ client: any ExchangeClient) {
        followers.append(Follower(client: client))
    }

    /// The next one that has to ask whether it may leave.
    var firstWithoutLeave: (any ExchangeClient)? {
        hasOneWithoutLeave ? followers.first { $0.end == nil }?.client : nil
    }

    /// The request may leave: its head goes behind the others.
    mutating func take(_ permit: consuming Permit, for client: any ExchangeClient) {
        guard let index = followers.firstIndex(where: { $0.client === client }) else { return }
        let request = client.request
        let start = bytes.count
        HeadWriter.append(request.head, framing: request.body.framing, to: &bytes)
        written += bytes.count - start
        followers[index].headBytes = bytes.count - start
        followers[index].end = written
    }

    /// The request whose turn it is. Nil if it has left, or is not sent: then what is there to be read cannot be its
    /// answer.
    mutating func takeFirst() -> (any ExchangeClient)? {
        guard let first = followers.first, let end = first.end, end <= sent, let client = first.client else {
            return nil
        }
        followers.removeFirst()
        return client
    }

    mutating func takeAll() -> [any ExchangeClient] {
        defer { self = Pipeline() }
        return followers.compactMap(\.client)
    }

    mutating func remove(_ client: any ExchangeClient) {
        guard let index = followers.firstIndex(where: { $0.client === client }) else { return }
        if followers[index].end == nil { followers.remove(at: index) } else { followers[index].client = nil }
    }

    // MARK: - Sending

    func withUnsent<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
    }

    mutating func noteSent(_ count: Int) {
        let before = sent
        sent += count
        offset += count
        if sent == written {
            bytes.removeAll(keepingCapacity: true)
            offset = 0
        }
        for follower in followers {
            guard let end = follower.end, end > before, end <= sent else { continue }
            follower.client?.sentAhead(headBytes: follower.headBytes)
        }
    }
}
