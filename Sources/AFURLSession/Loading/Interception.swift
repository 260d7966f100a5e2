import AFLoop
import AFTransport
import AFWire
import Foundation

/// The questions to a task's interceptors, and their answers. Confined to the loop.
final class Interception: StopsWithLoad {
    /// The session sends no request more often, whatever the interceptors say.
    static let mostAttempts = 100

    /// A request that the session will send again.
    struct Repetition {
        /// Nil if a URL protocol class loads the task.
        var former: WireRequest?
        /// The body that went with it, if the request itself does not hold one.
        var body: (any BodySource)?
    }

    /// A request before the adapters change it.
    struct UnadaptedRequest {
        let request: URLRequest
        /// How many redirects the task had followed.
        let redirects: Int
        /// Whether these redirects had dropped the task's body.
        let hasDroppedBody: Bool
    }

    let interceptors: [any TaskInterceptor]
    /// The number of the present attempt.
    private(set) var attempt = 1
    private(set) var statuses: [Int] = []
    /// The fields that adapters have set, by name. They stay in their origin.
    private(set) var fields: Set<String> = []
    /// Why the session did not send the request again although an interceptor asked for it.
    var refusal: RetryRefusal?
    private var repetition: Repetition?
    /// How long the session waits before it sends the request again.
    private var wait: Duration?

    /// What the adapters got last.
    private var unadapted: UnadaptedRequest?
    /// Whether the adapters have unadapted the request another body.
    private(set) var hasOwnBody = false

    private var job: CallerContext.Job?
    private let context: CallerContext
    private var timer: DelayTimer?

    /// - Parameter context: That of the code that resumed the task.
    init(interceptors: [any TaskInterceptor], in context: CallerContext) {
        self.interceptors = interceptors
        self.context = context
    }

    // MARK: - Asking

    /// Does `work` away from the loop. Its result comes back to the loop.
    func ask<Answer: Sendable>(
        in world: World,
        work: @escaping @Sendable () async -> Answer,
        answered: @escaping (Answer) -> Void
    ) {
        stopAsking()
        let loop = world.loop
        let bound = LoopBound(confined: answered, on: loop)
        job = context.start {
            let answer = await work()
            loop.enqueue(in: .all) { bound.value(answer) }
        }
    }

    private func stopAsking() {
        job?.cancel()
        job = nil
    }

    // MARK: - Adapting

    /// What adapters get: the request as it was before them, or as a redirect has changed it since.
    func unadapted(in memory: LoadMemory) -> UnadaptedRequest {
        if let unadapted, unadapted.redirects == memory.redirects { return unadapted }
        let made = UnadaptedRequest(
            request: memory.request,
            redirects: memory.redirects,
            hasDroppedBody: memory.hasDroppedBody
        )
        unadapted = made
        hasOwnBody = false
        return made
    }

    /// Another request takes the place of all earlier ones.
    func beginAnew() {
        unadapted = nil
    }

    func note(_ adapted: AdaptedRequest) {
        fields.formUnion(adapted.fields)
        hasOwnBody = adapted.hasOwnBody
    }

    // MARK: - Sending again

    /// Prepares the next attempt. If it never begins, `stop` closes the body that was kept for it.
    func begin(_ repetition: Repetition, after status: Int?, waiting wait: Duration) {
        attempt += 1
        if let status { statuses.append(status) }
        self.repetition = repetition
        self.wait = wait
    }

    /// The wait before the next attempt, once.
    func takeWait() -> Duration? {
        defer { wait = nil }
        return wait
    }

    func takeRepetition() -> Repetition? {
        defer { repetition = nil }
        return repetition
    }

    func wait(for interval: Duration, on loop: EventLoop, afterwards: @escaping () -> Void) {
        timer = DelayTimer(after: LoopInterval(interval), on: loop, fire: afterwards)
    }

    /// Stops waiting for answers.
    func stop() {
        stopAsking()
        timer?.stop()
        timer = nil
        takeRepetition()?.body?.close()
    }
}

/// A request as the interceptors have changed it.
struct AdaptedRequest: Sendable {
    let request: URLRequest
    /// The request in bytes, if it is the first of its task.
    let frozen: Result<WireRequest, RequestRejection>
    /// Whether its body is another than the one the interceptors got.
    let hasOwnBody: Bool
    /// The fields that the interceptors have added or changed.
    let fields: Set<String>

    /// - Parameter body: Where the task's body comes from.
    static func result(
        of request: URLRequest,
        by interceptors: [any TaskInterceptor],
        for task: URLSessionTask,
        body: TaskBody
    ) async -> Result<AdaptedRequest, any Error> {
        do {
            return .success(try await make(of: request, by: interceptors, for: task, body: body))
        } catch {
            return .failure(error)
        }
    }

    private static func make(
        of request: URLRequest,
        by interceptors: [any TaskInterceptor],
        for task: URLSessionTask,
        body: TaskBody
    ) async throws -> AdaptedRequest {
        var adapted = request
        for interceptor in interceptors {
            try Task.checkCancellation()
            adapted = try await interceptor.adapt(adapted, for: task)
        }
        let hasOwnBody = !adapted.hasSameBody(as: request)
        let made = adapted.openingWebSocket(like: request)
        return AdaptedRequest(
            request: made,
            frozen: Result { () throws(RequestRejection) in
                try (hasOwnBody ? .request : body).freeze(
                    made,
                    with: task.session.headers,
                    settings: task.session.settings
                )
            },
            hasOwnBody: hasOwnBody,
            fields: made.fields(otherThanIn: request)
        )
    }
}

extension [any TaskInterceptor] {
    /// The first interceptor that does not give up decides.
    func decision(after attempt: FailedAttempt) async -> RetryDecision {
        for interceptor in self {
            let decision = await interceptor.retry(after: attempt)
            if case .giveUp = decision { continue }
            return decision
        }
        return .giveUp
    }
}

extension URLRequest {
    fileprivate func hasSameBody(as other: URLRequest) -> Bool {
        contents.bodyStream === other.contents.bodyStream && contents.body == other.contents.body
    }

    fileprivate func fields(otherThanIn other: URLRequest) -> Set<String> {
        Set(contents.fields.filter { other.contents.fields[$0.name] != $0.value }.map(\.name))
    }
}

/// Why the session did not send a request again although an interceptor asked for it.
enum RetryRefusal: Sendable, Equatable {
    /// The session has read its body, and has no other.
    case bodyIsGone
    /// The time of the task would be over before the wait is.
    case waitIsTooLong(Duration)
    case tooManyAttempts

    var words: String {
        switch self {
        case .bodyIsGone:
            "It was not sent again: a stream cannot be read twice. Answer urlSession(_:task:needNewBodyStream:), or "
                + "upload from a file or from memory."
        case .waitIsTooLong(let wait):
            "It was not sent again: the \(wait.inWords) to wait are more than the task has left. Raise "
                + "timeoutIntervalForResource if it may take that long."
        case .tooManyAttempts:
            "It was not sent again: no task sends more than \(Interception.mostAttempts) times. Let the interceptor "
                + "give up before that."
        }
    }
}

extension Interception {
    /// What the error says in addition to why the last attempt failed.
    var remark: String {
        let count = attempt > 1 ? "The request was sent \(attempt) times." : nil
        return [count, refusal?.words].compactMap(\.self).joined(separator: " ")
    }
}

extension LoadMemory {
    /// The questions to the interceptors.
    var interception: Interception? {
        get { self[Interception.self] }
        set { self[Interception.self] = newValue }
    }
}
