import AFLoop
import Foundation

/// A write that waits for room. Confined to the loop.
final class StreamWrite {
    typealias Handler = @Sendable ((any Error)?) -> Void

    let data: Data
    let interval: LoopInterval?
    let isAwaited: Bool
    let handler: Handler
    var sent = 0
    var clock: PausableTimer?

    init(_ data: Data, timeout: Double, isAwaited: Bool, handler: @escaping Handler) {
        self.data = data
        interval = LoopInterval.limit(timeout)
        self.isAwaited = isAwaited
        self.handler = handler
    }

    var isSent: Bool { sent == data.count }
}
