/// A delegate with every method, which writes down in words what it hears, and answers as told.
final class Witness: URLSessionDataDelegate, URLSessionDownloadDelegate {
    typealias ChallengeDone = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    struct Answers: Sendable {
        var redirect: @Sendable (URLSessionTask, URLRequest, @escaping @Sendable (URLRequest?) -> Void) -> Void = {
            $2($1)
        }
        var challenge: @Sendable (URLSessionTask, URLAuthenticationChallenge, @escaping ChallengeDone) -> Void = {
            _,
            _,
            done in
            done(.performDefaultHandling, nil)
        }
        var response:
            @Sendable (URLSessionDataTask, @escaping @Sendable (URLSession.ResponseDisposition) -> Void) -> Void =
                { $1(.allow) }
        var caching: @Sendable (CachedURLResponse) -> CachedURLResponse? = { $0 }
        var stream: @Sendable () -> InputStream? = { nil }
    }

    let words = Watched<[String]>([])
    let body = Lock(Data())
    let metrics = Lock<URLSessionTaskMetrics?>(nil)
    let error = Lock<URLError?>(nil)
    let challenges = Lock<[URLAuthenticationChallenge]>([])
    private let answers: Answers

    init(_ change: (inout Answers) -> Void = { _ in }) {
        var answers = Answers()
        change(&answers)
        self.answers = answers
    }

    /// Everything heard by the end of so many tasks.
    @discardableResult
    func ended(_ count: Int = 1) async throws -> [String] {
        try await words.wait("\(count) completions") { words in
            words.count { $0.hasPrefix("completed") } >= count
        }
    }

    private func note(_ word: String) {
        words.change { words in
            if words.last != word || !["data", "sent", "written"].contains(word) { words.append(word) }
        }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("invalid")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.error.withLock { $0 = error as? URLError }
        note("completed" + ((error as? URLError).map { " \($0.code.rawValue)" } ?? ""))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        challenges.withLock { $0.append(challenge) }
        let method = challenge.protectionSpace.authenticationMethod.replacing("NSURLAuthenticationMethod", with: "")
        note("challenge \(method)")
        answers.challenge(task, challenge, completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("redirect \(response.statusCode)")
        answers.redirect(task, request, completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        note("sent")
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        note("stream")
        completionHandler(answers.stream())
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        self.metrics.withLock { $0 = metrics }
        note("metrics")
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        answers.response(dataTask, completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        body.withLock { $0.append(data) }
        note("data")
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note("caching")
        completionHandler(answers.caching(proposedResponse))
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        body.withLock { $0 = (try? Data(contentsOf: location)) ?? Data("no file".utf8) }
        note("file")
    }
}

extension URLSession.AuthChallengeDisposition {
    /// What a delegate says that knows the password.
    static func password(_ user: String, _ password: String)
        -> @Sendable (
            URLSessionTask, URLAuthenticationChallenge, @escaping Witness.ChallengeDone
        ) -> Void
    {
        { _, challenge, done in
            guard challenge.protectionSpace.serverTrust == nil else { return done(.performDefaultHandling, nil) }
            let isNew = challenge.previousFailureCount == 0
            let credential = URLCredential(user: user, password: password, persistence: .forSession)
            done(isNew ? .useCredential : .performDefaultHandling, isNew ? credential : nil)
        }
    }
}
