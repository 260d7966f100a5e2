import AFLoop
import AFURLTypes
import AFWire
import Foundation

/// Collects what a server says in the body of a response that a stream does not take, and ends the task with it.
/// Confined to the loop.
final class RefusedBody: TimerTarget {
    /// A response that does not end must not hide for long that it is refused.
    private static let patience = Duration.seconds(2)

    private let response: HTTPURLResponse
    private let cause: ResponseRefusal.Cause
    private let content: ResponseRefusal.Content
    private weak var load: Load?
    private var body = Data()
    private var timer: TimerID?

    init(
        response: HTTPURLResponse,
        cause: ResponseRefusal.Cause,
        for content: ResponseRefusal.Content,
        of load: Load
    ) {
        self.response = response
        self.cause = cause
        self.content = content
        self.load = load
        timer = load.session.loop.startTimer(at: load.session.loop.now + Self.patience, for: self)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        let room = RefusedResponse.bodyLimit - body.count
        body.append(contentsOf: bytes.prefix(room))
        if bytes.count > room { load?.fail(error(isComplete: false)) }
    }

    func error(isComplete: Bool) -> LoadError {
        let refused = RefusedResponse(response: response, body: body, isComplete: isComplete)
        return .refused(ResponseRefusal(refused, cause: cause, for: content))
    }

    /// The refusal, where something else has ended the response early: that hides nothing of it. Nil if the caller has
    /// cancelled, or the refusal itself has ended it.
    func replacing(_ error: LoadError) -> LoadError? {
        error.isCancelled || error.isRefusal ? nil : self.error(isComplete: false)
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        load?.fail(error(isComplete: false))
    }

    func stop(on loop: EventLoop) {
        if let timer { loop.cancelTimer(timer) }
        timer = nil
    }
}

extension ResponseRefusal.Content {
    /// Why a stream of this content does not take the response; nil if it does.
    func objection(to response: HTTPURLResponse) -> ResponseRefusal.Cause? {
        let status = response.statusCode
        switch self {
        case .events:
            // The server has no events any more.
            if status == 204 { return nil }
            guard status == 200 else { return .status }
            let type = response.value(forHTTPHeaderField: "Content-Type") ?? ""
            return MediaType(type)?.essence == "text/event-stream" ? nil : .contentType(type)
        case .jsonLines, .file: return 200..<300 ~= status ? nil : .status
        }
    }
}
