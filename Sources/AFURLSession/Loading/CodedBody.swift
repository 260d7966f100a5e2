import AFLoop
import AFTransport

/// A coded body on its way from the transfer to the consumer of its task.
///
/// A read of 256 KiB may decode to a thousand times as much. So this keeps encoded what the consumer has no room for
/// and pauses the transfer (`undecoded`), and never holds more than one read. It decodes at most 1 MiB in one turn of
/// the loop, and the rest in the next.
final class CodedBody: TurnEndTarget {
    private static let workPerTurn = 1 << 20

    private let core: Load
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
    init?(_ plan: ContentPlan, of core: Load) {
        switch plan {
        case .asItIs: return nil
        case .tooMany: decoder = .failure(.tooManyCodings)
        case .decode(let codings):
            let limits = core.session.settings.content.limits
            decoder = Result { () throws(ContentFailure) in try ContentDecoder(codings, limits: limits) }
        }
        self.core = core
    }

    // MARK: - From the task

    func receive(_ bytes: UnsafeRawBufferPointer) {
        hasReceived = true
        guard isHungry else { return rest.append(contentsOf: bytes) }
        guard let left = decode(bytes), !isHungry else { return }
        rest = Array(left)
        core.pause(.undecoded)
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
        let loop = core.session.loop
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
        guard core.isDecoding(self), core.mayDecode, !isHungry else { return }
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
        core.unpause(.undecoded)
        if hasEnded { finish() }
    }

    /// Decodes until the consumer or the task pauses. Returns the rest of the input; nil if the task has ended.
    private func decode(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        countWork()
        let page = core.session.world.platform.contentPage.value.bytes
        var left = bytes
        isHungry = false
        do throws(ContentFailure) {
            let decoder = try decoder.get()
            while core.mayDecode {
                switch try decoder.step(&left, into: page, work: &work) {
                case .piece(let count):
                    core.deliver(decoded: UnsafeRawBufferPointer(rebasing: page[..<count]))
                    guard core.isDecoding(self) else { return nil }
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
            core.fail(.content(error))
            return nil
        }
    }

    private func countWork() {
        guard !isCounting else { return }
        isCounting = true
        core.session.loop.atTurnEnd(self)
    }

    private func finish() {
        do throws(ContentFailure) {
            // An empty body has no coding, whatever its fields say.
            if hasReceived { try decoder.get().finish() }
            core.finishReceiving()
        } catch {
            core.fail(.content(error))
        }
    }
}
