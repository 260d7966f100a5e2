import AFBase
import AFLoop
import AFWire

/// Has the program look up names, and keeps its answers for their time to live.
final class ProgramResolver: Resolver {
    private typealias Found = (addresses: [SocketAddress], life: Duration)
    private typealias Outcome = Result<Found, ResolutionFailure>

    /// A name that is being looked up.
    private final class Search: TimerTarget {
        var clients: [any ResolverClient]
        var outcomes: [Outcome?]
        var tasks: [Task<Void, Never>] = []
        var delay: TimerID?
        /// Its clients have the addresses of one family.
        var hasBegun = false

        init(for client: any ResolverClient, lookups: Int) {
            clients = [client]
            outcomes = Array(repeating: nil, count: lookups)
        }

        var found: [Found] { outcomes.compactMap { try? $0?.get() } }
        var addresses: [SocketAddress] { found.flatMap(\.addresses) }

        /// One family has an answer, and the other one has not.
        func timerFired(_ timer: TimerID) {
            (delay, hasBegun) = (nil, true)
            for client in clients { client.resolvedFirst(addresses) }
        }
    }

    private let source: NameResolver
    private let platform: Platform
    private var searches: [NameResolver.Question: Search] = [:]
    private var kept: [NameResolver.Question: (addresses: [SocketAddress], until: LoopInstant)] = [:]
    private var loop: EventLoop { platform.loop }

    init(_ source: NameResolver, on platform: Platform) {
        self.source = source
        self.platform = platform
    }

    func resolve(_ name: String, for client: any ResolverClient) { resolve(name, port: 0, for: client) }

    func resolve(_ name: String, port: UInt16, for client: any ResolverClient) {
        guard !LoopbackNames.contains(name) else { return platform.resolver.value.resolve(name, for: client) }
        let question = NameResolver.Question(host: name, port: Int(port))
        if let search = searches[question] {
            search.clients.append(client)
            // Those that have the first addresses take no notice.
            guard search.hasBegun, search.delay == nil else { return }
            return search.delay = loop.startTimer(at: loop.now, in: .all, for: search)
        }
        let search = Search(for: client, lookups: source.lookups.count)
        searches[question] = search
        if let answer = kept[question], answer.until > loop.now {
            search.outcomes = [.success((answer.addresses, .zero))]
            let bound = LoopBound(confined: (self, search), on: loop)
            return loop.enqueue(in: .all) { bound.value.0.finish(bound.value.1, of: question) }
        }
        ask(question, for: search)
    }

    private func ask(_ question: NameResolver.Question, for search: Search) {
        let bound = LoopBound(confined: (self, search), on: loop)
        search.tasks = source.lookups.enumerated().map { place, lookup in
            Task(executorPreference: source.executor) {
                var outcome: Outcome
                do { outcome = ProgramResolver.read(try await lookup(question)) } catch {
                    outcome = .failure(.ofProgram("failed (\(EscapedText("\(error)").text))"))
                }
                bound.loop.enqueue(in: .all) { [outcome] in
                    bound.value.0.answered(question, by: bound.value.1, at: place, outcome: outcome)
                }
            }
        }
    }

    private static func read(_ answer: NameResolver.Answer) -> Outcome {
        let found = answer.addresses.map { SocketAddress(ipv4: $0, port: 0) ?? SocketAddress(ipv6: $0, port: 0) }
        if let place = found.firstIndex(of: nil) {
            let text = EscapedText(answer.addresses[place]).text
            return .failure(.ofProgram("answered \"\(text)\", which is no IP address"))
        }
        return .success((found.compactMap(\.self), min(answer.timeToLive, .seconds(3600))))
    }

    private func answered(_ question: NameResolver.Question, by search: Search, at place: Int, outcome: Outcome) {
        guard searches[question] === search else { return }
        search.outcomes[place] = outcome
        if search.outcomes.allSatisfy({ $0 != nil }) { return finish(search, of: question) }
        // RFC 8305 §3: the recommended Resolution Delay.
        let wait = Duration.milliseconds(place == 0 ? 0 : 50)
        if !search.addresses.isEmpty { search.delay = loop.startTimer(at: loop.now + wait, in: .all, for: search) }
    }

    private func finish(_ search: Search, of question: NameResolver.Question) {
        guard searches[question] === search else { return }
        end(search, of: question)
        let (found, addresses) = (search.found, search.addresses)
        if found.count == search.outcomes.count, let life = found.map(\.life).min(), life > .zero {
            if kept.count >= 1024 { kept = kept.filter { $0.value.until > loop.now } }
            if kept.count < 1024, !addresses.isEmpty { kept[question] = (addresses, loop.now + life) }
        }
        var answer = Result<[SocketAddress], ResolutionFailure>.success(addresses)
        if addresses.isEmpty { answer = .failure(.ofProgram("knows no address of the host", kind: .notFound)) }
        for case .failure(let failure)? in search.outcomes where addresses.isEmpty { answer = .failure(failure) }
        for client in search.clients { client.resolved(answer) }
    }

    private func end(_ search: Search, of question: NameResolver.Question) {
        if let delay = search.delay.take() { loop.cancelTimer(delay) }
        searches[question] = nil
    }

    func cancel(_ client: any ResolverClient) {
        platform.resolver.value.cancel(client)
        for (question, search) in searches {
            search.clients.removeAll { $0 === client }
            // What has answered in part goes on: its answer is worth keeping.
            guard search.clients.isEmpty, !search.hasBegun else { continue }
            for task in search.tasks { task.cancel() }
            end(search, of: question)
        }
    }
}

extension ResolutionFailure {
    fileprivate static func ofProgram(_ message: String, kind: Kind = .unavailable) -> ResolutionFailure {
        var failure = ResolutionFailure(kind: kind, message: "the session's nameResolver \(message)")
        failure.isOfProgram = true
        return failure
    }
}
