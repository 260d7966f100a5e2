/// Told once how a dial ended.
package protocol DialClient: AnyObject {
    func dialSucceeded(_ dial: Dialer, _ channel: any ByteChannel)
    func dialFailed(_ dial: Dialer, _ failure: DialFailure)
}

/// Turns a name into one connected channel: resolves, races the addresses, keeps
/// the winner and closes the rest before a byte is sent on any of them.
///
/// Confined to its loop. The client hears from it in a later turn, exactly once,
/// unless the dial is cancelled first.
package final class Dialer: ResolverClient, TimerTarget {
    package private(set) var report = DialReport()

    private let loop: EventLoop
    private let opener: any ChannelOpener
    private let resolver: any Resolver
    private let target: DialTarget
    private var client: (any DialClient)?
    private var machine = DialMachine([])
    private var attempts: [Int: Attempt] = [:]
    private var delay: TimerID?

    package init(
        _ target: DialTarget,
        on loop: EventLoop,
        opener: any ChannelOpener,
        resolver: any Resolver,
        client: any DialClient
    ) {
        self.target = target
        self.loop = loop
        self.opener = opener
        self.resolver = resolver
        self.client = client
    }

    package var isResolving: Bool { report.resolveStarted != nil && report.resolveEnded == nil }

    package func start() {
        switch target {
        case .name(let name, _):
            report.resolveStarted = loop.now
            resolver.resolve(name, for: self)
        case .address(let address):
            let dial = LoopBound(confined: self, on: loop)
            loop.enqueue(in: .all) { dial.value.race([address]) }
        }
    }

    /// Whoever still connects is closed. Nothing is heard from this dial any more.
    package func cancel() {
        guard client != nil else { return }
        client = nil
        if report.connectStarted == nil { resolver.cancel(self) }
        closeAttempts(except: nil)
    }

    package func resolved(_ result: Result<[SocketAddress], ResolutionFailure>) {
        report.resolveEnded = loop.now
        switch (result, target) {
        case (.success(let addresses), .name(_, let port)): race(addresses.map { $0.withPort(port) })
        case (.success(let addresses), .address): race(addresses)
        case (.failure(let failure), _): fail(.unresolved(failure))
        }
    }

    package func timerFired(_ timer: TimerID) {
        delay = nil
        perform(machine.delayElapsed())
    }

    // MARK: - The race

    private func race(_ addresses: [SocketAddress]) {
        guard client != nil else { return }
        report.connectStarted = loop.now
        machine = DialMachine(addresses)
        perform(machine.start())
    }

    private func perform(_ action: DialMachine.Action) {
        switch action {
        case .wait: break
        case .attempt(let number): attempt(number)
        case .connected(let number): win(number)
        case .fail: fail(.unreachable)
        }
    }

    private func attempt(_ number: Int) {
        let address = machine.addresses[number]
        restartDelay()
        do {
            let channel = try opener.open(address, on: loop)
            let attempt = Attempt(number, channel, of: self)
            attempts[number] = attempt
            channel.handler = attempt
        } catch {
            attemptFailed(number, error)
        }
    }

    fileprivate func attemptFailed(_ number: Int, _ error: SystemCallError) {
        attempts.removeValue(forKey: number)?.channel.close()
        note(number, .failed(error))
        perform(machine.attemptFailed(number))
    }

    fileprivate func attemptConnected(_ number: Int) {
        perform(machine.attemptConnected(number))
    }

    private func win(_ number: Int) {
        guard let winner = attempts.removeValue(forKey: number), let client else { return }
        note(number, .connected)
        report.connectEnded = loop.now
        closeAttempts(except: number)
        self.client = nil
        winner.channel.handler = nil
        client.dialSucceeded(self, winner.channel)
    }

    private func fail(_ failure: DialFailure) {
        guard let client else { return }
        closeAttempts(except: nil)
        self.client = nil
        client.dialFailed(self, failure)
    }

    private func closeAttempts(except winner: Int?) {
        if let delay { loop.cancelTimer(delay) }
        delay = nil
        for (number, attempt) in attempts.sorted(by: { $0.key < $1.key }) where number != winner {
            note(number, .abandoned)
            attempt.channel.close()
        }
        attempts.removeAll()
    }

    private func restartDelay() {
        if let delay { loop.cancelTimer(delay) }
        delay = machine.hasUntried ? loop.startTimer(at: loop.now + DialMachine.attemptDelay, in: .all, for: self) : nil
    }

    private func note(_ number: Int, _ outcome: DialAttempt.Outcome) {
        report.attempts.append(DialAttempt(address: machine.addresses[number], outcome: outcome))
    }
}

/// One address being tried.
private final class Attempt: ChannelHandler {
    let channel: any ByteChannel
    private let number: Int
    private let dialer: Dialer

    init(_ number: Int, _ channel: any ByteChannel, of dialer: Dialer) {
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
            dialer.attemptFailed(number, error)
        }
    }
}
