import AFLoop

/// Keeps a body back until the server answers `100 Continue`, or for a while, since many servers never do (RFC 9110
/// §10.1.1).
final class ContinueGate: BodySource, TimerTarget {
    @exclusivity(unchecked) var client: (any BodyClient)? {
        didSet { if isOpen { body.client = client } }
    }
    private let body: any BodySource
    private let patience: LoopInterval
    private let loop: EventLoop
    @exclusivity(unchecked) private var timer: TimerID?
    @exclusivity(unchecked) private var isOpen = false

    init(body: any BodySource, patience: LoopInterval, on loop: EventLoop) {
        self.body = body
        self.patience = patience
        self.loop = loop
    }

    var isClosed: Bool { !isOpen }

    /// The server wants the body.
    func open() {
        isOpen = true
        body.client = client
        stopTimer()
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        open()
        client?.bodyReady()
    }

    private func stopTimer() {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
    }

    func next() -> BodyStep {
        if isOpen { return body.next() }
        if timer == nil { timer = loop.startTimer(at: loop.now + patience, for: self) }
        return .waiting
    }

    func withReady(_ take: (UnsafeRawBufferPointer) -> ChannelWrite) -> ChannelWrite { body.withReady(take) }

    func consume(_ count: Int) {
        body.consume(count)
    }

    var mayReplay: Bool { body.mayReplay }

    func rewind(_ done: @escaping (BodyFailure?) -> Void) { body.rewind(done) }

    /// Closes the gate, not the body behind it: that may serve another exchange.
    func close() {
        stopTimer()
        client = nil
    }
}
