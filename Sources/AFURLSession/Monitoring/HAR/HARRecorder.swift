import AFBase
import AFLoop
public import Foundation

/// Records the traffic of sessions as an HTTP archive (HAR 1.2), for the tools that show these: those of browsers, and
/// others.
///
/// ```swift
/// let recorder = HARRecorder()
/// configuration.eventMonitors = [recorder]
/// …
/// try recorder.archive().write(to: file)
/// ```
///
/// There is an entry for each time a session sent a request, or was about to: redirects, answers to challenges and
/// attempts on another connection included. There is one for each response of the cache, too. Entries are added when
/// their task ends.
///
/// ``archive(masksSecrets:sensitiveFields:)`` hides secrets unless you say otherwise: the values of `Authorization`,
/// `Cookie` and their like, passwords in URLs, the values of query and form items and of members of JSON like
/// `access_token`. **It does not look into other bodies**; set `maximumBodyBytes` to 0 if they may hold what no reader
/// of the archive should see.
///
/// Memory is limited in three ways: the number of entries, where the oldest are dropped first; the length of a body;
/// and the length of all bodies together, where those of the oldest entries are dropped first.
///
/// Safe to use from any thread, and by several sessions.
public final class HARRecorder: SessionEventMonitor {
    /// How much a recorder keeps.
    public struct Limits: Hashable, Sendable {
        /// The longest body that the recorder keeps, in bytes. 64 KiB.
        public var maximumBodyBytes = 64 << 10
        /// All bodies together, in bytes. 16 MiB.
        public var maximumTotalBodyBytes = 16 << 20
        /// How many entries the recorder keeps: the latest ones. 1000.
        public var maximumEntries = 1000

        /// The standard limits.
        public init() {}
    }

    fileprivate struct Tape {
        var exchanges: [RecordedExchange] = []
        /// The entries in front of it have no bodies.
        var firstWithBody = 0
        var bodyBytes = 0
        var lost = 0
    }

    let limits: Limits
    private let tape = Lock(Tape())

    /// Makes an empty recorder. Limits below 0 count as 0.
    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// How many entries there are.
    public var count: Int { tape.withLock { min($0.exchanges.count, capacity) } }

    /// Forgets everything.
    public func removeAll() {
        // Release the entries after the lock.
        _ = tape.withLock { tape in
            defer { tape = Tape() }
            return tape
        }
    }

    /// All entries as JSON, in the order in which their requests began.
    ///
    /// - Parameters:
    ///   - masksSecrets: Whether `***` stands where a secret would.
    ///   - sensitiveFields: Further header fields whose values are secrets, by name.
    public func archive(masksSecrets: Bool = true, sensitiveFields: Set<String> = []) throws -> Data {
        let (all, gone) = tape.withLock { ($0.exchanges, $0.lost) }
        let exchanges = Array(all.suffix(capacity))
        let lost = gone + all.count - exchanges.count
        let mask = masksSecrets ? SecretMask(sensitiveFields: sensitiveFields) : nil
        let order = exchanges.indices.sorted {
            (exchanges[$0].dates.fetchStart, $0) < (exchanges[$1].dates.fetchStart, $1)
        }
        let archive = HARArchive(entries: order.map { HAREntry(exchanges[$0], mask: mask) }, lost: lost)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(archive)
    }

    /// Does nothing: the recorder gets its entries when a task has ended.
    public func observe(_ event: SessionEvent) {}

    // MARK: - From the network thread

    private var capacity: Int { max(0, limits.maximumEntries) }

    var longestBody: Int { max(0, min(limits.maximumBodyBytes, limits.maximumTotalBodyBytes)) }

    func record(_ exchanges: [RecordedExchange], of task: Int) {
        let kept = exchanges.map { exchange in
            var exchange = exchange
            exchange.requestBody = exchange.requestBody.limited(to: longestBody)
            exchange.responseBody = exchange.responseBody.limited(to: longestBody)
            if exchange.messages.reduce(0, { $0 + $1.byteCount }) > longestBody { exchange.dropMessages() }
            return exchange
        }
        tape.withLock { $0.add(kept, capacity: capacity, bodies: limits.maximumTotalBodyBytes) }
    }
}

extension HARRecorder.Tape {
    fileprivate mutating func add(_ more: [RecordedExchange], capacity: Int, bodies: Int) {
        exchanges += more
        bodyBytes += more.reduce(0) { $0 + $1.bodyBytes }
        // Drop many at once, since the rest have to move up. Until then `count` and the archive leave the surplus out.
        if exchanges.count - capacity > capacity / 4 { drop(exchanges.count - capacity) }
        while bodyBytes > bodies, firstWithBody < exchanges.count {
            bodyBytes -= exchanges[firstWithBody].dropBodies()
            firstWithBody += 1
        }
    }

    private mutating func drop(_ count: Int) {
        bodyBytes -= exchanges[..<count].reduce(0) { $0 + $1.bodyBytes }
        exchanges.removeFirst(count)
        firstWithBody = max(0, firstWithBody - count)
        lost += count
    }
}

extension RecordedExchange {
    fileprivate var bodyBytes: Int {
        requestBody.count + responseBody.count + messages.reduce(0) { $0 + $1.byteCount }
    }

    fileprivate mutating func dropMessages() {
        omittedMessages += messages.count
        messages = []
    }

    /// Returns how many bytes it dropped.
    fileprivate mutating func dropBodies() -> Int {
        let former = bodyBytes
        let reason = "The body was left out, since all bodies together are more than is kept."
        if requestBody.count > 0 { requestBody = .omitted(reason) }
        if responseBody.count > 0 { responseBody = .omitted(reason) }
        dropMessages()
        return former
    }
}
