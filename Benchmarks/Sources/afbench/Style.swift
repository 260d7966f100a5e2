import Harness

/// Which of the public ways of loading is measured, and whether with the configuration that a program gets.
struct Style: Sendable {
    enum Way: String, CaseIterable {
        case completion
        case async
        case delegate
        /// A delegate that has no use for bodies: what receiving costs, without handing over.
        case discard
        /// Completion handlers, called on the network thread.
        case network
        /// The same for a delegate.
        case networkDelegate = "network-delegate"
        /// Swift tasks that run on the network thread.
        case executor
        /// The verbs of a session manager.
        case manager
        /// The same, with a completion queue that is not the main queue.
        case managerQueue = "manager-queue"
        /// The same, in a script whose main thread waits for all of it.
        case managerBlocked = "manager-blocked"
        /// The `async` verb of a session manager, which decodes a small JSON.
        case managerAsync = "manager-async"
        /// The operations of AFNetworking 2.
        case operation
        /// Completion handlers, with a new URL and a new request for each task.
        case url
        /// Completion handlers, with another resource for each task.
        case other
        /// Completion handlers, over the six connections that a session makes to a host.
        case six
        /// Delegates of connections on the network thread.
        case connection
        /// Callers that wait for their answer.
        case blocking
    }

    let way: Way
    /// Whether sessions are made with the default configuration, its cache among the rest. The servers of the benchmarks say
    /// nothing to caches, so the cache answers no request.
    let isCached: Bool

    private static let uncached = "-uncached"

    /// That of `--style`, or completion handlers. Ends the program if there is none of that name.
    init(_ arguments: Arguments) {
        let name = arguments.style ?? Way.completion.rawValue
        isCached = !name.hasSuffix(Self.uncached)
        guard let way = Way(rawValue: isCached ? name : String(name.dropLast(Self.uncached.count))) else {
            let names = Way.allCases.map(\.rawValue).joined(separator: ", ")
            arguments.refuse("--style is one of \(names), each also with \(Self.uncached), not \(name)")
        }
        self.way = way
    }

    var name: String { "afbench-\(way.rawValue)\(isCached ? "" : Self.uncached)" }

    var callsBackOnNetworkThread: Bool { way == .network || way == .networkDelegate }

    var keepsSixConnections: Bool { way == .six }

    /// Whether the main thread belongs to the program, and the requests are made by another.
    var needsMainThread: Bool { servesMainQueue || way == .managerBlocked }

    /// Whether the main queue is served: the managers call back there.
    var servesMainQueue: Bool {
        switch way {
        case .manager, .managerQueue, .managerAsync, .operation: true
        case .completion, .async, .delegate, .discard, .network, .networkDelegate, .executor, .managerBlocked, .url,
            .other, .six, .connection, .blocking:
            false
        }
    }
}
