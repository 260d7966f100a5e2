import AFLoop
import AFTransport
import AFWire
import Foundation

/// What those who have a say in a task's requests are asked, and what they have said. Confined to the loop.
final class Interception: TimerTarget {
    /// Whatever they say, no request is sent more often.
    static let mostAttempts = 100

    /// A request that will be sent again.
    struct Repetition {
        /// Nil if somebody else loads.
        var former: WireRequest?
        /// What it was sent with, if the request itself does not hold that.
        var body: (any BodySource)?
    }

    /// A request without what adapters make of it.
    struct Given {
        let request: URLRequest
        /// How many redirects had been followed.
        let redirects: Int
        /// They had left the body of the task behind.
        let hasDroppedBody: Bool
    }

    let interceptors: [any TaskInterceptor]
    /// Which attempt is under way.
    private(set) var attempt = 1
    private(set) var statuses: [Int] = []
    /// The fields they have set, by name. They stay in their origin.
    private(set) var fields: Set<String> = []
    /// Why nothing was sent again although somebody wanted it.
    var refusal: RetryRefusal?
    private var repetition: Repetition?

    /// What adapters were given last.
    private var given: Given?
    /// What they made of it has another body.
    private(set) var hasOwnBody = false

    private var job: Task<Void, Never>?
    /// Who waits for its answer. An interceptor that never answers keeps nobody alive.
    private var reply: AnyObject?
    private var timer: (id: TimerID, loop: EventLoop)?
    private var afterwards: (() -> Void)?

    init(_ interceptors: [any TaskInterceptor]) {
        self.interceptors = interceptors
    }

    // MARK: - Asking

    /// Does `work` away from the loop. What came of it comes back to it, unless something else is asked before, or
    /// nothing any more.
    func ask<Answer: Sendable>(
        in world: World,
        _ work: @escaping @Sendable () async -> Answer,
        _ answered: @escaping (Answer) -> Void
    ) {
        stopAsking()
        let loop = world.loop
        let reply = Reply(answered)
        self.reply = reply
        let door = LoopBound(
            confined: { [weak self, weak reply] (answer: Answer) in
                guard let self, let reply else { return }
                stopAsking()
                reply.answered(answer)
            },
            on: loop
        )
        job = Task.detached(executorPreference: world.interceptorExecutor) {
            let answer = await work()
            loop.enqueue(in: .all) { door.value(answer) }
        }
    }

    private func stopAsking() {
        job?.cancel()
        job = nil
        reply = nil
    }

    private final class Reply<Answer> {
        let answered: (Answer) -> Void

        init(_ answered: @escaping (Answer) -> Void) {
            self.answered = answered
        }
    }

    // MARK: - Adapting

    /// What adapters are given: the request as it was before them, or what a redirect has made of it since.
    func given(in course: Course) -> Given {
        if let given, given.redirects == course.redirects { return given }
        let made = Given(request: course.request, redirects: course.redirects, hasDroppedBody: course.hasDroppedBody)
        given = made
        hasOwnBody = false
        return made
    }

    /// Another request takes the place of all there were.
    func beginsAnew() {
        given = nil
    }

    func note(_ adapted: AdaptedRequest) {
        fields.formUnion(adapted.fields)
        hasOwnBody = adapted.hasOwnBody
    }

    // MARK: - Sending again

    /// A body that is kept to be sent again is closed if it comes to nothing.
    func begins(_ repetition: Repetition, after status: Int?) {
        attempt += 1
        if let status { statuses.append(status) }
        self.repetition = repetition
    }

    func takeRepetition() -> Repetition? {
        defer { repetition = nil }
        return repetition
    }

    func wait(until time: LoopInstant, on loop: EventLoop, _ afterwards: @escaping () -> Void) {
        self.afterwards = afterwards
        timer = (loop.startTimer(at: time, in: .all, for: self), loop)
    }

    func timerFired(_ timer: TimerID) {
        self.timer = nil
        let work = afterwards
        afterwards = nil
        work?()
    }

    /// Nobody is waited for any more.
    func stop() {
        stopAsking()
        if let timer { timer.loop.cancelTimer(timer.id) }
        timer = nil
        afterwards = nil
        takeRepetition()?.body?.close()
    }
}

/// What interceptors have made of a request.
struct AdaptedRequest: Sendable {
    let request: URLRequest
    /// In bytes, if it is the first of its task.
    let frozen: Result<WireRequest, RequestRejection>
    /// It has another body than the one they were given.
    let hasOwnBody: Bool
    /// The fields they have added or changed.
    let fields: Set<String>

    /// - Parameter body: Where the task's body comes from.
    static func result(
        of request: URLRequest,
        by interceptors: [any TaskInterceptor],
        for task: URLSessionTask,
        _ body: TaskBody
    ) async -> Result<AdaptedRequest, any Error> {
        do {
            return .success(try await make(of: request, by: interceptors, for: task, body))
        } catch {
            return .failure(error)
        }
    }

    private static func make(
        of request: URLRequest,
        by interceptors: [any TaskInterceptor],
        for task: URLSessionTask,
        _ body: TaskBody
    ) async throws -> AdaptedRequest {
        var adapted = request
        for interceptor in interceptors {
            try Task.checkCancellation()
            adapted = try await interceptor.adapt(adapted, for: task)
        }
        let hasOwnBody = !adapted.hasSameBody(as: request)
        let made = adapted
        return AdaptedRequest(
            request: made,
            frozen: Result { () throws(RequestRejection) in
                try (hasOwnBody ? .request : body).freeze(made, in: task.session)
            },
            hasOwnBody: hasOwnBody,
            fields: made.fields(otherThanIn: request)
        )
    }
}

extension [any TaskInterceptor] {
    /// The first that does not give up decides.
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
