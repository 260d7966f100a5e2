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
        let headBytes: Int
        /// Where it ends in all that was ever appended.
        let end: Int
    }

    private var followers: ContiguousArray<Follower> = []
    /// The heads that have not left, one behind the other.
    private var bytes: [UInt8] = []
    /// Counted over the life of the pipeline, as `end` is.
    private var appended = 0
    private var sent = 0
    /// How much of `bytes` was sent.
    private var offset = 0

    var isEmpty: Bool { followers.isEmpty }
    var count: Int { followers.count }
    var hasUnsent: Bool { sent < appended }

    mutating func append(_ client: any ExchangeClient) {
        let request = client.request
        let start = bytes.count
        HeadWriter.append(request.head, request.body.framing, to: &bytes)
        appended += bytes.count - start
        followers.append(Follower(client: client, headBytes: bytes.count - start, end: appended))
    }

    /// The request whose turn it is. Nil if it has left, or is not sent: then what is there to be read cannot be its
    /// answer.
    mutating func takeFirst() -> (any ExchangeClient)? {
        guard let first = followers.first, first.end <= sent, let client = first.client else { return nil }
        followers.removeFirst()
        return client
    }

    mutating func takeAll() -> [any ExchangeClient] {
        defer { self = Pipeline() }
        return followers.compactMap(\.client)
    }

    mutating func remove(_ client: any ExchangeClient) {
        guard let index = followers.firstIndex(where: { $0.client === client }) else { return }
        followers[index].client = nil
    }

    // MARK: - Sending

    func withUnsent<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
    }

    mutating func noteSent(_ count: Int) {
        let before = sent
        sent += count
        offset += count
        if sent == appended {
            bytes.removeAll(keepingCapacity: true)
            offset = 0
        }
        for follower in followers where follower.end > before && follower.end <= sent {
            follower.client?.sentAhead(headBytes: follower.headBytes)
        }
    }
}
