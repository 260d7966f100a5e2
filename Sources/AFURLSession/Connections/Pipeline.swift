/// Requests sent ahead of the answers before them, on one connection.
///
/// Their answers come in this order, and nothing else tells which is whose
/// (RFC 9112 §9.3.2). So none is ever taken out of the middle: a request nobody wants
/// any more keeps its place until the connection is given up there.
struct Pipeline {
    /// As many as may wait behind the one that is being answered. What a server does not
    /// answer has to be sent again, so there are not too many.
    static let depth = 15

    struct Follower {
        /// Nil when it was cancelled.
        fileprivate(set) var transfer: Transfer?
        /// All of it has left.
        fileprivate(set) var isSent = false
    }

    private var followers: ContiguousArray<Follower> = []
    /// The heads that have not left, one behind the other.
    private var bytes: [UInt8] = []
    private var sent = 0

    var isEmpty: Bool { followers.isEmpty }
    var hasRoom: Bool { followers.count < Pipeline.depth }
    var hasUnsent: Bool { sent < bytes.count }

    mutating func append(_ transfer: Transfer) {
        bytes += transfer.request.headBytes
        followers.append(Follower(transfer: transfer))
    }

    mutating func takeFirst() -> Follower? {
        followers.isEmpty ? nil : followers.removeFirst()
    }

    mutating func takeAll() -> [Transfer] {
        defer { self = Pipeline() }
        return followers.compactMap(\.transfer)
    }

    mutating func cancel(_ transfer: Transfer) {
        guard let index = followers.firstIndex(where: { $0.transfer === transfer }) else { return }
        followers[index].transfer = nil
    }

    // MARK: - Sending

    func withUnsent<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    }

    mutating func noteSent(_ count: Int) {
        sent += count
        guard sent == bytes.count else { return }
        bytes.removeAll(keepingCapacity: true)
        sent = 0
        for index in followers.indices where !followers[index].isSent {
            followers[index].isSent = true
            followers[index].transfer?.sentAhead()
        }
    }
}
