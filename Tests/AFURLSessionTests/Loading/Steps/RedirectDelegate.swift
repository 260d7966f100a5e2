/// Answers questions about redirects, and writes down what it was asked.
final class RedirectDelegate: URLSessionDataDelegate {
    typealias Completion = @Sendable (URLRequest?) -> Void
    typealias Answer = @Sendable (URLSessionTask, URLRequest, @escaping Completion) -> Void

    struct Question: Sendable {
        let status: Int
        let request: URLRequest
    }

    let questions = Lock<[Question]>([])
    let log = EventLog()
    private let answer: Answer

    init(_ answer: @escaping Answer = { _, request, completion in completion(request) }) {
        self.answer = answer
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        questions.withLock { $0.append(Question(status: response.statusCode, request: request)) }
        answer(task, request, completionHandler)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.urlSession(session, task: task, didCompleteWithError: error)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        log.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        log.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        log.urlSession(session, dataTask: dataTask, didReceive: data)
    }
}
