/// Writes down what the tasks of a walk tell, and answers as planned, when planned.
final class SiteDelegate: URLSessionDataDelegate, URLSessionDownloadDelegate {
    enum Event: Equatable {
        case sent, stream, challenge, redirect(Int), response(Int), data, caching, file, metrics, end
    }

    struct Record {
        var events: [Event] = []
        var body = Data()
        var response: HTTPURLResponse?
        var error: URLError?
        var ends = 0
    }

    private let plans: [String: SitePlan]
    private let places: [String]
    private let clock: ThreadBound<VirtualClock>
    private let records = Lock<[String: Record]>([:])

    init(_ plans: [SitePlan], _ map: SiteMap, _ clock: VirtualClock) {
        self.plans = Dictionary(plans.map { ($0.name, $0) }) { first, _ in first }
        places = map.places.map(\.url)
        self.clock = ThreadBound(clock)
    }

    func record(_ name: String) -> Record { records.withLock { $0[name] ?? Record() } }

    var isOver: Bool { records.withLock { records in plans.keys.allSatisfy { records[$0]?.ends ?? 0 > 0 } } }

    func end(_ name: String, _ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        records.withLock { records in
            records[name, default: Record()].events.append(.end)
            records[name, default: Record()].ends += 1
            records[name, default: Record()].error = error as? URLError
            if let response = response as? HTTPURLResponse { records[name, default: Record()].response = response }
            if let data { records[name, default: Record()].body = data }
        }
    }

    private func plan(_ task: URLSessionTask, _ event: Event) -> SitePlan? {
        guard let name = task.originalRequest?.value(forHTTPHeaderField: "X-Task") else { return nil }
        records.withLock { $0[name, default: Record()].events.append(event) }
        return plans[name]
    }

    private func later(_ delay: Int, _ body: @escaping @Sendable () -> Void) {
        guard delay > 0 else { return body() }
        clock.value.after(.milliseconds(delay)) { body() }
    }

    // MARK: - Asked

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let plan = plan(task, .redirect(response.statusCode)) else { return completionHandler(nil) }
        var answer: URLRequest? = request
        switch plan.redirectAnswer {
        case .follow: break
        case .stay: answer = nil
        case .elsewhere(let place):
            answer?.url = URL(string: places[place])
            // The key must not go to another host.
            if answer?.url?.host() != request.url?.host() {
                answer?.setValue(nil, forHTTPHeaderField: "X-Api-Key")
            }
        }
        later(plan.patience[0]) { [answer] in completionHandler(answer) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let plan = plan(task, .challenge) else { return completionHandler(.performDefaultHandling, nil) }
        let space = challenge.protectionSpace
        let number = space.host.dropFirst(4).prefix { $0.isNumber }
        let password = SiteMap.password(Int(number) ?? -1)
        let credential = URLCredential(user: "me", password: password, persistence: .forSession)
        later(plan.patience[1]) {
            switch plan.challengeAnswer {
            case 0: completionHandler(.useCredential, credential)
            case 1: completionHandler(.useCredential, nil)
            case 2: completionHandler(.performDefaultHandling, nil)
            case 3: completionHandler(.rejectProtectionSpace, nil)
            default: completionHandler(.cancelAuthenticationChallenge, nil)
            }
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let plan = plan(task, .stream), plan.hasStreams else { return completionHandler(nil) }
        let content = Data(plan.content)
        later(plan.patience[2]) { completionHandler(InputStream(data: content)) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard let plan = plan(dataTask, .response(status)) else { return completionHandler(.cancel) }
        records.withLock { $0[plan.name]?.response = response as? HTTPURLResponse }
        later(plan.patience[3]) { completionHandler(plan.refusesResponse ? .cancel : .allow) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let plan = plan(dataTask, .caching) else { return completionHandler(nil) }
        later(plan.patience[0]) { completionHandler(plan.keeps ? proposedResponse : nil) }
    }

    // MARK: - Told

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let plan = plan(dataTask, .data) else { return }
        records.withLock { $0[plan.name]?.body.append(data) }
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        guard let plan = plan(downloadTask, .file) else { return }
        let content = (try? Data(contentsOf: location)) ?? Data("no file".utf8)
        records.withLock { records in
            records[plan.name]?.body = content
            records[plan.name]?.response = downloadTask.response as? HTTPURLResponse
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        _ = plan(task, .sent)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        _ = plan(task, .metrics)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let name = task.originalRequest?.value(forHTTPHeaderField: "X-Task") else { return }
        end(name, nil, nil, error)
    }
}
