import AFLoop
import AFTransport
import AFWire
import Foundation

/// One attempt, as the recorder keeps it. It refers neither to the task nor to a body longer than the limit.
struct RecordedExchange: Sendable {
    enum Body: Sendable {
        case none
        case whole(Data)
        case omitted(String)
    }

    let dates: TransactionDates
    /// When it ended, or when the next attempt took its place.
    let end: Date
    let method: String
    let location: URL?
    /// The fields of the request, all that were sent.
    let fields: HTTPHeaders
    let response: HTTPURLResponse?
    let fetchType: URLSessionTaskMetrics.ResourceFetchType
    let connection: Int?
    let remote: String?
    let sentHeadBytes: Int64
    let sentBodyBytes: Int64
    let receivedHeadBytes: Int64
    let receivedBodyBytes: Int64
    let decodedBodyBytes: Int64
    let failure: String?
    var requestBody = Body.none
    var responseBody = Body.none
    /// If it opened a WebSocket.
    var messages: [HARMessage] = []
    /// How many of its messages were not kept.
    var omittedMessages = 0

    private init(attempt: ExchangeAttempt, dates: TransactionDates, end: Date, failure: String?) {
        let times = attempt.times
        self.dates = dates
        self.end = dates.responseEnd ?? end
        self.failure = failure
        method = attempt.sent?.method ?? attempt.request.httpMethod ?? "GET"
        location = attempt.sent?.location ?? attempt.request.url
        fields = attempt.sent?.sentFields ?? HTTPHeaders()
        response = attempt.response as? HTTPURLResponse
        fetchType = attempt.fetchType
        connection = times.connection?.number
        remote = times.remote?.host
        sentHeadBytes = times.requestHeadBytes
        sentBodyBytes = times.requestBodyBytes
        receivedHeadBytes = times.responseHeadBytes
        receivedBodyBytes = times.responseBodyBytes
        decodedBodyBytes = times.bodyBytesAfterDecoding
        requestBody = attempt.sent.map(Body.init(sentWith:)) ?? .none
    }

    /// All attempts of a task that has ended.
    ///
    /// - Parameters:
    ///   - body: The delivered body of the last response.
    ///   - messages: Those of the WebSocket that it opened.
    ///   - error: Why the task failed.
    static func list(
        _ attempts: [ExchangeAttempt],
        body: BodyExcerpt?,
        messages: RecordedMessages?,
        error: (any Error)?,
        now: LoopInstant
    ) -> [RecordedExchange] {
        let clock = WallClock(now: now)
        var end = clock.date(of: now)
        var failure = (error as? URLError).map { $0.loadFailure?.message ?? $0.localizedDescription }
        var isLast = true
        var list: [RecordedExchange] = []
        for attempt in attempts.reversed() {
            let dates = TransactionDates(times: attempt.times, clock: clock)
            var exchange = RecordedExchange(attempt: attempt, dates: dates, end: end, failure: failure)
            exchange.responseBody = Body(receivedWith: exchange, body: isLast ? body : nil)
            if isLast, let messages {
                exchange.messages = messages.messages.map { HARMessage($0, clock: clock) }
                exchange.omittedMessages = messages.omitted
            }
            list.append(exchange)
            // The end of the attempt before it, which was over when this one began.
            end = dates.fetchStart
            failure = nil
            isLast = false
        }
        return list.reversed()
    }
}

extension RecordedExchange.Body {
    var count: Int {
        guard case .whole(let data) = self else { return 0 }
        return data.count
    }

    /// The body itself if it is not longer than `limit`.
    func limited(to limit: Int) -> RecordedExchange.Body {
        guard count > limit else { return self }
        return .omitted("\(count) bytes are more than are kept of a body.")
    }

    fileprivate init(sentWith request: WireRequest) {
        if let body = request.body.data {
            self = .whole(body)
        } else if request.body.isStreamed || request.body.length ?? 0 > 0 {
            self = .omitted("The body came from a file or a stream.")
        } else {
            self = .none
        }
    }

    /// - Parameter body: Nil if the task's owner did not get the body.
    fileprivate init(receivedWith exchange: RecordedExchange, body: BodyExcerpt?) {
        guard let body else {
            self = exchange.receivedBodyBytes == 0 ? .none : .omitted("The body was not delivered.")
            return
        }
        self = body.isWhole ? .whole(body.bytes) : .omitted("The body is longer than is kept of one.")
    }
}

/// The body of a response, if it is not too long.
struct BodyExcerpt {
    private let limit: Int
    private(set) var bytes = Data()
    private(set) var isWhole = true

    init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        guard isWhole else { return }
        guard bytes.count + more.count <= limit else {
            bytes = Data()
            return isWhole = false
        }
        bytes.append(contentsOf: more)
    }

    mutating func removeAll() { self = BodyExcerpt(limit: limit) }
}
