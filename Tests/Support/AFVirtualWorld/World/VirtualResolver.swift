package import AFLoop

/// Answers lookups as told, when told.
package final class VirtualResolver: Resolver {
    package struct Answer: Sendable {
        package var result: Result<[SocketAddress], ResolutionFailure>
        package var delay: Duration

        package init(_ result: Result<[SocketAddress], ResolutionFailure>, after delay: Duration = .zero) {
            self.result = result
            self.delay = delay
        }
    }

    private final class Lookup {
        var client: (any ResolverClient)?

        init(_ client: any ResolverClient) {
            self.client = client
        }
    }

    private let clock: VirtualClock
    private var answers: [String: Answer] = [:]
    private var lookups: [Lookup] = []
    private let loop: () -> EventLoop?

    /// Lookups ever begun.
    package private(set) var names: [String] = []

    init(clock: VirtualClock, loop: @escaping () -> EventLoop?) {
        self.clock = clock
        self.loop = loop
    }

    package func set(_ answer: Answer, for name: String) {
        answers[name] = answer
    }

    /// Lookups somebody still waits for.
    package var waiting: Int { lookups.count { $0.client != nil } }

    package func resolve(_ name: String, for client: any ResolverClient) {
        names.append(name)
        let lookup = Lookup(client)
        lookups.append(lookup)
        let failure = ResolutionFailure(.notFound, message: "no such name in this world")
        let answer = answers[name] ?? Answer(.failure(failure))
        guard answer.delay > .zero else { return finish(lookup, answer) }
        clock.after(answer.delay) { [self] in finish(lookup, answer) }
    }

    /// The lookup goes on, as `getaddrinfo` would; its answer reaches nobody.
    package func cancel(_ client: any ResolverClient) {
        for lookup in lookups where lookup.client === client { lookup.client = nil }
    }

    private func finish(_ lookup: Lookup, _ answer: Answer) {
        guard let loop = loop() else { return }
        let bound = ThreadBound((self, lookup))
        loop.enqueue(in: .all) {
            let (resolver, lookup) = bound.value
            resolver.lookups.removeAll { $0 === lookup }
            let client = lookup.client
            lookup.client = nil
            client?.resolved(answer.result)
        }
    }
}
