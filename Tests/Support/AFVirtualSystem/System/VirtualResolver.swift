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
    private let faults: Faults
    private var answers: [String: Answer] = [:]
    private var lookups: [Lookup] = []
    private let loop: () -> EventLoop?

    /// Lookups ever begun.
    package private(set) var names: [String] = []

    init(clock: VirtualClock, faults: Faults, loop: @escaping () -> EventLoop?) {
        self.clock = clock
        self.faults = faults
        self.loop = loop
    }

    package func set(_ answer: Answer, for name: String) {
        answers[name] = answer
    }

    /// Lookups that a client still waits for.
    package var waiting: Int { lookups.count { $0.client != nil } }

    package func resolve(_ name: String, for client: any ResolverClient) {
        names.append(name)
        let lookup = Lookup(client)
        lookups.append(lookup)
        let failure = ResolutionFailure(kind: .notFound, message: "no such name in this world")
        let answer = struck(answers[name] ?? Answer(.failure(failure)))
        guard answer.delay > .zero else { return finish(lookup, answer) }
        clock.after(answer.delay) { [self] in finish(lookup, answer) }
    }

    /// Takes every connection, and never says a word.
    static let deadAddresses = ["198.51.100.1", "198.51.100.2"]

    /// What becomes of an answer on its way.
    private func struck(_ answer: Answer) -> Answer {
        var answer = answer
        if faults.strikes(.nameSlow) { answer.delay += late(.nameSlow, 1...2000) }
        if faults.strikes(.nameVerySlow) { answer.delay += late(.nameVerySlow, 5000...100_000) }
        if faults.strikes(.nameUnknown) { answer.result = .failure(failure(.notFound)) }
        if faults.strikes(.nameUnavailable) { answer.result = .failure(failure(.unavailable)) }
        if faults.strikes(.nameOverloaded) { answer.result = .failure(failure(.overloaded)) }
        guard case .success(var found) = answer.result else { return answer }
        if faults.strikes(.nameWithoutAddress) { found = [] }
        if found.count > 1, faults.strikes(.nameReordered) {
            found.swapAt(0, faults.draw(.nameReordered, 1...(found.count - 1)))
        }
        if faults.strikes(.nameDeadAddress) {
            let dead = VirtualResolver.deadAddresses[faults.draw(.nameDeadAddress, 0...1)]
            found = [VirtualSystem.address(dead, port: 0)].compactMap { $0 } + found
        }
        if faults.strikes(.nameRepeated) { found += found }
        answer.result = .success(found)
        return answer
    }

    private func late(_ point: FaultPoint, _ milliseconds: ClosedRange<Int>) -> Duration {
        .nanoseconds(faults.delay(point, milliseconds: milliseconds))
    }

    private func failure(_ kind: ResolutionFailure.Kind) -> ResolutionFailure {
        ResolutionFailure(kind: kind, message: "the seed wants it so")
    }

    /// The lookup goes on, as `getaddrinfo` would; its answer reaches no client.
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
