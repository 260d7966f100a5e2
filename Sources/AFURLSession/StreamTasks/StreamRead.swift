import AFLoop
import Foundation

/// A read that waits for bytes. Confined to the loop.
final class StreamRead {
    typealias Handler = @Sendable (Data?, Bool, (any Error)?) -> Void

    let minimum: Int
    let maximum: Int
    let interval: LoopInterval?
    let isAwaited: Bool
    let handler: Handler
    var data = Data()
    var clock: PausableTimer?

    init(minimum: Int, maximum: Int, timeout: Double, isAwaited: Bool, handler: @escaping Handler) {
        self.maximum = max(0, maximum)
        self.minimum = min(max(0, minimum), self.maximum)
        interval = LoopInterval.limit(timeout)
        self.isAwaited = isAwaited
        self.handler = handler
    }

    var isFull: Bool { data.count >= maximum }
    var isEnough: Bool { data.count >= minimum }
}
