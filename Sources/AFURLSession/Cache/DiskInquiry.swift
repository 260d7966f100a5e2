import AFBase
import AFLoop

/// A look-up on its way to the disk and back. Some disks never answer. Confined to the loop.
final class DiskInquiry: TimerTarget {
    /// A disk that was asleep is awake by then.
    private static let patience = LoopInterval(.seconds(5))

    private let loop: EventLoop
    private let question: Question<CacheFinding>
    private var limit: (timer: TimerID, otherwise: () -> CacheFinding)?

    init(on loop: EventLoop, done: @escaping (CacheFinding) -> Void) {
        self.loop = loop
        question = Question(done)
    }

    /// Answers without the disk when the disk takes too long.
    func doWithout(_ otherwise: @escaping () -> CacheFinding) {
        limit = (loop.startTimer(at: loop.now + DiskInquiry.patience, for: self), otherwise)
    }

    func timerFired(_ timer: TimerID) {
        guard let limit else { return }
        self.limit = nil
        question.answer(limit.otherwise())
    }

    func answer(_ finding: CacheFinding) {
        if let limit { loop.cancelTimer(limit.timer) }
        limit = nil
        question.answer(finding)
    }
}
