@Suite("Calling back into the library")
struct ReentrancyTests {
    enum Moment: CaseIterable, Sendable {
        case sent, response, data, metrics, completion, invalid, handler, listing, reset
    }

    enum Call: CaseIterable, Sendable {
        case cancel, suspend, resume, suspendAndResume, priority, progress, look, start, startWithHandler
        case list, reset, flush, finishSession, cancelSession, configuration, describe, delegate
        case upload, policy, storeCookie, removeCookies, clearCache

        func perform(_ session: URLSession, _ task: URLSessionTask?) {
            guard let url = URL(string: "http://api.test/more") else { return }
            switch self {
            case .cancel: task?.cancel()
            case .suspend: task?.suspend()
            case .resume: task?.resume()
            case .suspendAndResume:
                task?.suspend()
                task?.resume()
            case .priority: task?.priority = 1
            case .progress: task?.progress.cancel()
            case .look: _ = (task?.state, task?.response, task?.error, task?.countOfBytesReceived, task?.description)
            case .start: session.dataTask(with: url).resume()
            case .startWithHandler: session.dataTask(with: url) { _, _, _ in }.resume()
            case .list: session.getAllTasks { _ in }
            case .reset: session.reset {}
            case .flush: session.flush {}
            case .finishSession: session.finishTasksAndInvalidate()
            case .cancelSession: session.invalidateAndCancel()
            case .configuration: session.configuration.timeoutIntervalForRequest = 1
            case .describe: session.sessionDescription = "\(task?.taskDescription ?? "")"
            case .delegate: task?.delegate = session.delegate as? any URLSessionTaskDelegate
            case .upload: session.uploadTask(with: URLRequest("PUT", url), from: Data(count: 10)).resume()
            case .policy: session.tls.anchors = .certificates([])
            case .storeCookie:
                let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "a=1"], for: url)
                session.configuration.httpCookieStorage?.setCookies(cookies, for: url, mainDocumentURL: nil)
            case .removeCookies: session.configuration.httpCookieStorage?.removeCookies(since: .distantPast)
            case .clearCache: session.configuration.urlCache?.removeAllCachedResponses()
            }
        }
    }

    @Test(arguments: Moment.allCases, Call.allCases)
    func `T-API-12 every call is allowed in every callback`(moment: Moment, call: Call) throws {
        let world = VirtualWorld()
        world.serveEcho("api.test")
        let calls = Lock(0)
        let act: @Sendable (URLSession, URLSessionTask?) -> Void = { session, task in
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            if isFirst { call.perform(session, task) }
        }
        world.recorder.onEvent { session, task, event in
            if ReentrancyTests.isMoment(moment, event) { act(session, task) }
        }
        let session = world.session
        let events = world.send("POST", "http://api.test/", body: Data(count: 10))
        let url = try #require(URL(string: "http://api.test/handled"))
        let handled = session.dataTask(with: url) { [weak session] _, _, _ in
            if moment == .handler, let session { act(session, nil) }
        }
        handled.resume()
        if moment == .listing { session.getAllTasks { tasks in act(session, tasks.first) } }
        if moment == .reset { session.reset { act(session, events.task) } }
        world.run(limit: .seconds(1))

        if moment == .invalid { session.invalidateAndCancel() }
        world.run(limit: .seconds(1))
        let recorder = world.recorder
        let leftovers = world.finish()

        #expect(calls.withLock { $0 } >= 1)
        #expect(leftovers == [])
        #expect(events.record.completions == 1)
        #expect(handled.state == .completed)
        #expect(recorder.invalidations == 1)
        #expect(recorder.eventsAfterInvalidation == 0)
    }

    private static func isMoment(_ moment: Moment, _ event: TaskEvent?) -> Bool {
        switch (moment, event) {
        case (.sent, .sent?), (.response, .response?), (.data, .data?), (.metrics, .metrics?): true
        case (.completion, .finished?), (.completion, .failed?), (.invalid, nil): true
        default: false
        }
    }

    // MARK: - Questions

    enum Question: CaseIterable, Sendable {
        case redirect, challenge, response
    }

    /// Answers after it has called the library, once.
    private final class Asked: URLSessionDataDelegate {
        struct Seen: Sendable {
            var calls = 0
            var ends: [Int: Int] = [:]
            var invalidations = 0
        }

        let seen = Lock(Seen())
        private let question: Question
        private let call: Call

        init(_ question: Question, _ call: Call) {
            self.question = question
            self.call = call
        }

        private func isAsked(_ question: Question, _ session: URLSession, _ task: URLSessionTask) {
            guard question == self.question else { return }
            let isFirst = seen.withLock { seen in
                seen.calls += 1
                return seen.calls == 1
            }
            if isFirst { call.perform(session, task) }
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            isAsked(.redirect, session, task)
            completionHandler(request)
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            isAsked(.challenge, session, task)
            completionHandler(.performDefaultHandling, nil)
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            isAsked(.response, session, dataTask)
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            seen.withLock { $0.ends[task.taskIdentifier, default: 0] += 1 }
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            seen.withLock { $0.invalidations += 1 }
        }
    }

    @Test(arguments: Question.allCases, Call.allCases)
    func `T-API-12 every call is allowed where a delegate is asked`(question: Question, call: Call) throws {
        let world = VirtualWorld()
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            switch request.target {
            case "/redirect": client.send("HTTP/1.1 302 Found\r\nLocation: /secret\r\nContent-Length: 0\r\n\r\n")
            case "/secret":
                client.send(
                    "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 2\r\n\r\nno"
                )
            default: client.send(VirtualWorld.echo(request.target))
            }
        }
        let asked = Asked(question, call)
        let session = world.makeSession(delegate: asked).session
        let task = session.dataTask(with: try #require(URL(string: "http://api.test/redirect")))
        task.resume()
        world.run(limit: .seconds(1))

        let leftovers = world.finish()

        let seen = asked.seen.withLock { $0 }
        #expect(seen.calls >= 1 && seen.invalidations == 1)
        #expect(leftovers == [])
        #expect(task.state == .completed && seen.ends[task.taskIdentifier] == 1)
        #expect(seen.ends.values.allSatisfy { $0 == 1 })
    }
}
