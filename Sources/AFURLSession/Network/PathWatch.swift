import AFLoop

/// One subscriber, and the path it got last. Confined to the loop.
final class PathWatch {
    let subscriber: PathSubscriber
    /// Looks the name up, if the target is one.
    let lookup: HostLookup?
    private let since: Int
    private var latest: NetworkPath?

    /// - Parameter since: The first reading that is new enough for this subscriber.
    init(subscriber: PathSubscriber, lookup: HostLookup?, since: Int) {
        self.subscriber = subscriber
        self.lookup = lookup
        self.since = since
    }

    var addresses: [SocketAddress] { subscriber.target.knownAddresses + (lookup?.finding.addresses ?? []) }

    func take(_ result: NetworkPath.Reading, number: Int) {
        guard number >= since else { return }
        let finding = lookup?.finding ?? .pending
        // The lookup has no answer yet: report nothing.
        if lookup != nil, finding == .pending { return }
        // The kernel's tables changed during the reading: keep the former path, which is better than none.
        if case .failure(.unsettled) = result, latest != nil { return }
        // The lookup has ended since this reading began: the next reading has the routes to its addresses.
        if case .success(let reading) = result, !addresses.allSatisfy({ reading.routes[$0] != nil }) { return }
        let path = NetworkPath(to: subscriber.target, finding: finding, in: result)
        guard path != latest else { return }
        latest = path
        subscriber.deliver(path)
    }
}
