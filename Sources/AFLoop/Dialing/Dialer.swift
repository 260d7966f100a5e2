/// Told once how a dial ended.
package protocol DialClient: AnyObject {
    /// Told before, of the addresses that are going to be tried.
    func dialResolved(_ dial: Dialer, to addresses: [SocketAddress])
    func dialSucceeded(_ dial: Dialer, channel: any ByteChannel)
    func dialFailed(_ dial: Dialer, failure: DialFailure)
}

extension DialClient {
    package func dialResolved(_ dial: Dialer, to addresses: [SocketAddress]) {}
}

/// Turns a name into one connected channel: resolves, races the addresses, keeps
/// the winner and closes the rest before a byte is sent on any of them.
///
/// Confined to its loop. The client hears from it in a later turn, exactly once, unless the dial is cancelled first.
package final class Dialer: ResolverClient, TimerTarget {
    package private(set) var report = DialReport()

    private let loop: EventLoop
    private let opener: any ChannelOpener
    private let resolver: any Resolver
    private let target: DialTarget
    private let rules: DialRules
    private var client: (any DialClient)?
    private var machine = DialMachine([])
    /// Those under way, the first one first: no more than there are addresses.
    private var attempts: [Attempt] = []
    private var delay: TimerID?

    package init(
        to target: DialTarget,
        rules: DialRules = DialRules(),
        on loop: EventLoop,
        opener: any ChannelOpener,
        resolver: any Resolver,
        client: any DialClient
    ) {
        self.target = target
        self.rules = rules
        self.loop = loop
        self.opener = opener
        self.resolver = resolver
        self.client = client
    }

    /// How it went so far, with the addresses that have not answered yet.
    package var presentReport: DialReport {
        var present = report
        for attempt in attempts { present.attempts.append(self.attempt(attempt.number, outcome: .unanswered)) }
        return present
    }

    package var isResolving: Bool { report.resolveStarted != nil && report.resolveEnded == nil }

    package func start() {
        switch target {
        case .name(let name, let port):
            report.resolveStarted = loop.now
            resolver.resolve(name, port: port, for: self)
        case .addresses(let addresses):
            // In a later turn, as a resolver answers: no caller is called back from within `start`.
            let dial = LoopBound(confined: self, on: loop)
            loop.enqueue(in: .all) { dial.value.race(addresses) }
        }
    }

    /// Closes the sockets that still connect. The dial makes no callback any more.
    package func cancel() {
        end(noting: .abandoned)
    }

    /// As `cancel`, for a dial that has taken too long.
    package func giveUp() {
        end(noting: .unanswered)
    }

    private func end(noting outcome: DialAttempt.Outcome) {
        guard client != nil else { return }
        client = nil
        // The race begins with the resolver's answer: since then it does not know the dial.
        if report.connectStarted == nil { resolver.cancel(self) }
        closeAttempts(except: nil, noting: outcome)
    }

    package func resolvedFirst(_ addresses: [SocketAddress]) {
        guard case .name(_, let port) = target, report.connectStarted == nil else { return }
        report.resolveEnded = loop.now
        race(addresses.map { $0.withPort(port) }, awaitsMore: true)
    }

    package func resolved(_ result: Result<[SocketAddress], ResolutionFailure>) {
        if machine.awaitsMore, case .name(_, let port) = target { return raceOn((try? result.get()) ?? [], port: port) }
        report.resolveEnded = loop.now
        switch (result, target) {
        case (.success(let addresses), .name(_, let port)): race(addresses.map { $0.withPort(port) })
        case (.success(let addresses), .addresses): race(addresses)
        case (.failure(let failure), _): fail(.unresolved(failure))
        }
    }

    package func timerFired(_ timer: TimerID) {
        delay = nil
        perform(machine.delayElapsed())
    }

    // MARK: - The race

    private func race(_ addresses: [SocketAddress], awaitsMore: Bool = false) {
        // One lookup answers all dials that wait for the name, and a client that hears first may cancel another dial.
        guard client != nil else { return }
        report.connectStarted = loop.now
        // Before the first attempt, which may fail at once and end the dial.
        client?.dialResolved(self, to: addresses)
        machine = DialMachine(addresses, awaitsMore: awaitsMore)
        perform(machine.start())
    }

    private func raceOn(_ addresses: [SocketAddress], port: UInt16) {
        guard client != nil else { return }
        perform(machine.add(addresses.map { $0.withPort(port) }))
        if delay == nil { restartDelay() }
    }

    private func perform(_ action: DialMachine.Action) {
        switch action {
        case .wait: break
        case .attempt(let number): attempt(number)
        case .connected(let number): win(number)
        case .fail: fail(verdict)
        }
    }

    /// Why nothing came of any address.
    private var verdict: DialFailure {
        let outcomes = report.attempts.map(\.outcome)
        let tried = outcomes.filter { $0 != .forbidden }
        if tried.isEmpty, !outcomes.isEmpty { return .forbidden }
        if let limit = rules.attemptLimit, !tried.isEmpty, tried.allSatisfy({ $0 == .unanswered }) {
            return .unanswered(.nanoseconds(limit.nanoseconds))
        }
        return .unreachable
    }

    private func attempt(_ number: Int) {
        let address = machine.addresses[number]
        guard rules.allows?(address) ?? true else { return attemptEnded(number, outcome: .forbidden) }
        restartDelay()
        do {
            let channel = try opener.open(address, options: rules.options, on: loop)
            let attempt = Attempt(number: number, channel: channel, of: self)
            attempts.append(attempt)
            channel.handler = attempt
            if let limit = rules.attemptLimit {
                attempt.timer = loop.startTimer(at: loop.now + limit, in: .all, for: attempt)
            }
        } catch {
            attemptEnded(number, outcome: error.call == .route ? .cellular : .failed(error))
        }
    }

    fileprivate func attemptEnded(_ number: Int, outcome: DialAttempt.Outcome) {
        if let attempt = take(number) { drop(attempt) }
        // Before the machine is told: if no address is left, the verdict counts this one.
        note(number, outcome: outcome)
        // The next address may fail at once, and come back here: no deeper than there are addresses.
        perform(machine.attemptFailed(number))
    }

    private func take(_ number: Int) -> Attempt? {
        attempts.firstIndex { $0.number == number }.map { attempts.remove(at: $0) }
    }

    private func drop(_ attempt: Attempt) {
        stopTimer(of: attempt)
        attempt.channel.close()
    }

    private func stopTimer(of attempt: Attempt) {
        if let timer = attempt.timer { loop.cancelTimer(timer) }
        attempt.timer = nil
    }

    fileprivate func attemptConnected(_ number: Int) {
        perform(machine.attemptConnected(number))
    }

    private func win(_ number: Int) {
        guard let winner = take(number), let client else { return }
        stopTimer(of: winner)
        note(number, outcome: .connected)
        report.connectEnded = loop.now
        // Before the client is told: it may send at once, and no other connection of this dial may stand by then.
        closeAttempts(except: number)
        // The client may cancel from within the call. The dial is over then, and the channel is the client's to close.
        self.client = nil
        // The channel holds its attempt, and that this dial: they would last as long as the connection.
        winner.channel.handler = nil
        client.dialSucceeded(self, channel: winner.channel)
    }

    private func fail(_ failure: DialFailure) {
        guard let client else { return }
        closeAttempts(except: nil)
        self.client = nil
        client.dialFailed(self, failure: failure)
    }

    private func closeAttempts(except winner: Int?, noting outcome: DialAttempt.Outcome = .abandoned) {
        if machine.awaitsMore { resolver.cancel(self) }
        if let delay { loop.cancelTimer(delay) }
        delay = nil
        let ended = attempts
        attempts = []
        for attempt in ended where attempt.number != winner {
            note(attempt.number, outcome: outcome)
            drop(attempt)
        }
    }

    private func restartDelay() {
        if let delay { loop.cancelTimer(delay) }
        delay = machine.hasUntried ? loop.startTimer(at: loop.now + DialMachine.attemptDelay, in: .all, for: self) : nil
    }

    private func note(_ number: Int, outcome: DialAttempt.Outcome) {
        report.attempts.append(attempt(number, outcome: outcome))
    }

    private func attempt(_ number: Int, outcome: DialAttempt.Outcome) -> DialAttempt {
        DialAttempt(address: machine.addresses[number], outcome: outcome)
    }
}

/// One address being tried.
private final class Attempt: ChannelHandler, TimerTarget {
    let channel: any ByteChannel
    var timer: TimerID?
    let number: Int
    private let dialer: Dialer

    init(number: Int, channel: any ByteChannel, of dialer: Dialer) {
        self.number = number
        self.channel = channel
        self.dialer = dialer
    }

    func channelReady() {
        guard channel.isWritable else { return }
        do {
            try channel.finishConnecting()
            dialer.attemptConnected(number)
        } catch {
            dialer.attemptEnded(number, outcome: .failed(error))
        }
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        dialer.attemptEnded(number, outcome: .unanswered)
    }
}

/// What a dial has to keep to.
package struct DialRules: Sendable {
    /// Asked about each address right before it is tried, on the loop. Nil: each may be.
    package var allows: (@Sendable (SocketAddress) -> Bool)?
    /// How long one address may take to answer. Nil: as long as the dial goes on.
    package var attemptLimit: LoopInterval?
    package var options = SocketOptions()

    package init() {}
}
