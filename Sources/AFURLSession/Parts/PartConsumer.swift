import AFLoop
import AFTransport
import Foundation

/// Takes the response to one request of a download in parts, and writes the bytes that its part waits for to where they
/// belong. Confined to the loop.
final class PartConsumer: TaskConsumer {
    /// Why the download lets go of a response that goes on.
    enum Farewell {
        /// Other requests load the rest.
        case satisfied
        /// The server does not give parts of the file, or not to so many requests.
        case unwilling
        /// The download begins anew, or cannot write the bytes.
        case dropped
    }

    /// How many bytes wait for one write, unless time or the part is over.
    private static let writeSize = 256 << 10
    /// How many bytes of one part may wait for the disk. Eight parts need as much memory as one download.
    private static let highWater = 2 * writeSize

    let number: Int
    /// The bytes that the request asks for; nil if it asks for the whole.
    let asked: Range<Int64>?
    private let owner: LoopBound<PartedDownload>
    private var load: Load?
    private var gatherer = DownloadGatherer()
    private var inFlight = 0
    /// Where in the file the next byte of the body belongs, and where the body ends.
    private var position: Int64 = 0
    private var end = Int64.max
    /// What the server says in place of the file.
    private var refused: RefusedBody?
    private(set) var farewell: Farewell?
    private(set) var failure: LoadError?
    private(set) var reported: (any Error)?
    private var isOver = false
    /// Whether bytes of the file have come.
    private(set) var hasArrived = false

    init(_ number: Int, asking asked: Range<Int64>?, for owner: LoopBound<PartedDownload>) {
        self.number = number
        self.asked = asked
        self.owner = owner
    }

    var isHolding: Bool { false }
    /// The response is in a file already.
    var caching: ResponseCaching { .never }

    func prepare(for load: Load) -> ConsumerPreparation {
        self.load = load
        owner.value.begins(self)
        return .nothing
    }

    // MARK: - The response

    func receivedResponse(_ response: URLResponse, of load: Load) {
        owner.value.received(response, of: self, load: load)
    }

    /// Takes the body, which has these bytes of the file.
    ///
    /// - Parameter offset: The first byte that the part waits for.
    func take(from first: Int64, to end: Int64, writingAt offset: Int64) {
        (position, self.end) = (first, end)
        gatherer = DownloadGatherer(at: offset)
    }

    /// Reports the response as an error, with what the server says in it.
    func refuse(_ response: HTTPURLResponse, of load: Load) {
        refused = RefusedBody(response: response, cause: .status, for: .file, of: load)
    }

    /// Lets go of the response.
    func leave(_ farewell: Farewell) {
        guard self.farewell == nil else { return }
        self.farewell = farewell
        if !isOver { load?.fail(.cancelled) }
    }

    // MARK: - The body

    func receivedBody(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        if let refused { return refused.receive(bytes) }
        var rest = bytes[...]
        while let wanted = owner.value.wanted(until: end, by: self), !rest.isEmpty {
            // A server that knows no ranges sends what is there already, too.
            let isWanted = position >= wanted.lowerBound
            let part = rest.prefix(Int(clamping: (isWanted ? wanted.upperBound : wanted.lowerBound) - position))
            if isWanted { add(UnsafeRawBufferPointer(rebasing: part), of: load) }
            position += Int64(part.count)
            rest = rest.dropFirst(part.count)
        }
        if position == end {
            if !rest.isEmpty { load.fail(.brokenRest) }
        } else if !rest.isEmpty || owner.value.wanted(until: end, by: self) == nil {
            leave(.satisfied)
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        hasArrived = true
        gatherer.add(bytes, from: load.session.world.readBuffer.value)
        owner.value.arrived(bytes.count, of: self)
        if gatherer.count >= PartConsumer.writeSize { write() }
        if gatherer.count + inFlight >= PartConsumer.highWater { load.pause(.backPressure) }
    }

    func receivedEnd(of load: Load) {
        if let refused { return load.fail(refused.error(isComplete: true)) }
        if end == .max { return owner.value.ended(at: position, by: self) }
        if position < end { load.fail(.brokenRest) }
    }

    // MARK: - Writing

    /// Writes what is gathered, unless a write is under way.
    func write() {
        guard inFlight == 0, gatherer.count > 0, farewell != .dropped else { return }
        let (count, offset) = (gatherer.count, gatherer.offset)
        inFlight = count
        let pieces = gatherer.takeAll(owner.value.session.world.readBuffer.value)
        let consumer = LoopBound(confined: self, on: owner.loop)
        owner.value.file.perform {
            (store: inout PartsStore) in
            Result { () throws(PartsFailure) in try store.write(pieces, at: offset) }
        } then: {
            consumer.value.wrote(count, result: $0)
        }
    }

    private func wrote(_ count: Int, result: Result<Void, PartsFailure>) {
        inFlight = 0
        guard farewell != .dropped else { return }
        switch result {
        case .success: owner.value.wrote(count, of: self)
        case .failure(let failure):
            // Bytes behind these would be counted as these.
            farewell = .dropped
            owner.value.fail(.parts(failure))
        }
        if isOver || gatherer.count >= PartConsumer.writeSize { write() }
        if gatherer.count + inFlight < PartConsumer.highWater { load?.unpause(.backPressure) }
        endIfWritten()
    }

    // MARK: - The end

    func settle(_ error: LoadError, reported: URLError, of load: Load) -> Bool {
        failure = error
        guard let refusal = refused?.replacing(error) else { return false }
        failure = refusal
        load.end(load.urlError(refusal))
        return true
    }

    func completed(_ error: (any Error)?, of load: Load) -> Bool {
        reported = error
        isOver = true
        refused?.stop(on: load.session.loop)
        self.load = nil
        write()
        endIfWritten()
        return false
    }

    private func endIfWritten() {
        if isOver, inFlight == 0, gatherer.count == 0 || farewell == .dropped { owner.value.ended(self) }
    }
}
