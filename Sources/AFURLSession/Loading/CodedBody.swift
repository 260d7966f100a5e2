import AFLoop
import AFTransport
import AFWire

/// A load whose body has a content coding.
protocol DecodedBodyTarget: AnyObject {
    /// Whether the load may decode: only the decoding itself pauses its transfer, if anything does.
    var mayDecode: Bool { get }
    /// Whether `body` is still the one that the load decodes.
    func isDecoding(_ body: CodedBody) -> Bool
    func deliver(decoded bytes: UnsafeRawBufferPointer)
    func pause(_ reason: Transfer.Pauses)
    func unpause(_ reason: Transfer.Pauses)
    func finishReceiving()
    func fail(_ error: LoadError)
}

/// A coded body on its way from the transfer to the consumer of its task.
///
/// A read of 256 KiB may decode to a thousand times as much. So this keeps encoded what the consumer has no room for
/// and pauses the transfer (`undecoded`), and never holds more than one read. It decodes at most 1 MiB in one turn of
/// the loop, and the rest in the next.
final class CodedBody: TurnEndTarget {
    private static let workPerTurn = 1 << 20

    private let load: any DecodedBodyTarget
    private let loop: EventLoop
    private let page: ContentPage
    private let decoder: Result<ContentDecoder, ContentFailure>
    /// Bytes that were received and not decoded yet, from `start` on.
    @exclusivity(unchecked) private var rest: [UInt8] = []
    @exclusivity(unchecked) private var start = 0
    /// The decoder has given everything that its input so far decodes to. If not, it may hold more output.
    @exclusivity(unchecked) private var isHungry = true
    @exclusivity(unchecked) private var work = CodedBody.workPerTurn
    /// The bytes decoded in this turn are counted; the count ends with the turn.
    @exclusivity(unchecked) private var isCounting = false
    @exclusivity(unchecked) private var isScheduled = false
    @exclusivity(unchecked) private var hasEnded = false
    @exclusivity(unchecked) private var hasReceived = false

    /// Nil if the body is delivered as it is received.
    ///
    /// - Parameter page: Where the decoder writes.
    init?(
        plan: ContentPlan,
        of load: any DecodedBodyTarget,
        within limits: ContentDecoder.Limits,
        page: ContentPage,
        on loop: EventLoop
    ) {
        switch plan {
        case .asItIs: return nil
        case .tooMany: decoder = .failure(.tooManyCodings)
        case .decode(let codings):
            decoder = Result { () throws(ContentFailure) in try ContentDecoder(codings: codings, limits: limits) }
        }
        self.load = load
        self.page = page
        self.loop = loop
    }

    // MARK: - From the task

    func receive(_ bytes: UnsafeRawBufferPointer) {
        hasReceived = true
        guard isHungry else { return rest.append(contentsOf: bytes) }
        guard let left = decode(bytes), !isHungry else { return }
        rest = Array(left)
        load.pause(.undecoded)
    }

    /// The transfer has delivered the last byte. The task goes on when all of the body is decoded.
    func inputEnded() {
        hasEnded = true
        if isHungry { finish() }
    }

    /// Goes on decoding in a later turn of the loop.
    func goOnSoon() {
        guard !isScheduled else { return }
        isScheduled = true
        let body = LoopBound(confined: self, on: loop)
        loop.enqueue { body.value.goOn() }
    }

    func turnEnded() {
        isCounting = false
        work = CodedBody.workPerTurn
    }

    // MARK: - Decoding

    private func goOn() {
        isScheduled = false
        guard load.isDecoding(self), load.mayDecode, !isHungry else { return }
        let waiting = rest
        let used = waiting.withUnsafeBytes { bytes -> Int? in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[start...])
            return decode(bytes).map { bytes.count - $0.count }
        }
        guard let used else { return }
        start += used
        guard isHungry else { return }
        rest = []
        start = 0
        load.unpause(.undecoded)
        if hasEnded { finish() }
    }

    /// Decodes until the consumer or the task pauses. Returns the rest of the input; nil if the task has ended.
    private func decode(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        countWork()
        let page = page.bytes
        var left = bytes
        isHungry = false
        do throws(ContentFailure) {
            let decoder = try decoder.get()
            while load.mayDecode {
                switch try decoder.step(&left, into: page, work: &work) {
                case .piece(let count):
                    load.deliver(decoded: UnsafeRawBufferPointer(rebasing: page[..<count]))
                    guard load.isDecoding(self) else { return nil }
                case .hungry:
                    isHungry = true
                    return left
                case .tired:
                    goOnSoon()
                    return left
                }
            }
            return left
        } catch {
            load.fail(.content(error))
            return nil
        }
    }

    private func countWork() {
        guard !isCounting else { return }
        isCounting = true
        loop.atTurnEnd(self)
    }

    private func finish() {
        do throws(ContentFailure) {
            // An empty body has no coding, whatever its fields say.
            if hasReceived { try decoder.get().finish() }
            load.finishReceiving()
        } catch {
            load.fail(.content(error))
        }
    }
}
