import AFBase
import AFLoop
import AFTransport
import Dispatch
import Foundation

/// Carries the events of one session to its monitors.
///
/// Any thread puts events into a mailbox of limited size; a queue of its own empties it.
final class EventDispatcher: ConnectionObserver, Sendable {
    static let capacity = 4096
    /// The rest of the mailbox is for events of tasks themselves.
    static let detailCapacity = 3072

    fileprivate struct Mailbox {
        var waiting: [SessionEvent] = []
        /// The place of the latest event of each task.
        var latest: [Int: Int] = [:]
        /// How many events found no room since the last that did.
        var missed = 0
        /// Whether a call that empties the mailbox is on its way.
        var isAnnounced = false
    }

    let recorders: [HARRecorder]
    private let monitors: [any SessionEventMonitor]
    private let mailbox = Lock(Mailbox())
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Nil if the session has no monitors.
    init?(monitors: [any SessionEventMonitor], in world: World) {
        guard !monitors.isEmpty else { return nil }
        recorders = monitors.compactMap { $0 as? HARRecorder }
        self.monitors = monitors.filter { !($0 is HARRecorder) }
        if let executor = world.callbackExecutor {
            run = { executor.run([.block($0)]) }
        } else {
            let queue = DispatchQueue(label: "AFURLSession.events")
            run = { queue.async(execute: $0) }
        }
    }

    func post(_ kind: SessionEvent.Kind, task: Int? = nil, exchange: Int? = nil, connection: Int? = nil) {
        guard !monitors.isEmpty else { return }
        let event = SessionEvent(kind: kind, date: Date(), task: task, exchange: exchange, connection: connection)
        let isNew = mailbox.withLock { mailbox in
            mailbox.add(event)
            defer { mailbox.isAnnounced = true }
            return !mailbox.isAnnounced
        }
        if isNew { run { [self] in deliver() } }
    }

    private func deliver() {
        while let events = take() {
            for event in events {
                for monitor in monitors { monitor.observe(event) }
            }
        }
    }

    private func take() -> [SessionEvent]? {
        mailbox.withLock { mailbox in
            mailbox.noteMissed()
            let waiting = mailbox.waiting
            mailbox = Mailbox()
            mailbox.isAnnounced = !waiting.isEmpty
            return waiting.isEmpty ? nil : waiting
        }
    }
}

extension EventDispatcher {
    func connection(_ number: Int, reported event: TransportEvent) {
        post(SessionEvent.Kind(event), connection: number)
        guard case .tlsEnded(let report) = event else { return }
        for flaw in report.toleratedFlaws { post(.authorityFlawTolerated(message: flaw.message), connection: number) }
    }
}

extension SessionEvent.Kind {
    fileprivate init(_ event: TransportEvent) {
        switch event {
        case .lookupStarted(let host): self = .lookupStarted(host: host)
        case .lookupEnded(let count): self = .lookupEnded(addresses: count)
        case .connectStarted(let addresses): self = .connectStarted(addresses: addresses)
        case .connectEnded(let address): self = .connectEnded(address: address)
        case .proxyStarted(let proxy): self = .proxyStarted(proxy: proxy)
        case .proxyEnded: self = .proxyEnded
        case .tlsStarted(let host): self = .tlsStarted(host: host)
        case .tlsEnded(let report):
            self = .tlsEnded(
                version: report.version.map { "\($0)" } ?? "",
                cipherSuite: report.cipherSuite,
                isResumed: report.isResumed
            )
        case .failed(let error, let endpoint):
            let failure = LoadError.transfer(error).urlError(for: nil, peer: endpoint).loadFailure
            self = .connectionFailed(message: failure?.message ?? "")
        case .closed: self = .connectionClosed
        }
    }
}

extension EventDispatcher.Mailbox {
    fileprivate mutating func add(_ event: SessionEvent) {
        if let task = event.task, let place = latest[task], waiting[place].kind.isSuperseded(by: event.kind),
            waiting[place].exchange == event.exchange
        {
            return waiting[place] = event
        }
        let limit = event.kind.concernsTask ? EventDispatcher.capacity : EventDispatcher.detailCapacity
        // The last place is for the event that says how many are missing.
        guard waiting.count < limit - 1 else { return missed += 1 }
        noteMissed()
        if let task = event.task { latest[task] = waiting.count }
        waiting.append(event)
    }

    fileprivate mutating func noteMissed() {
        guard missed > 0 else { return }
        waiting.append(SessionEvent(kind: .missed(count: missed), date: Date()))
        missed = 0
    }
}
