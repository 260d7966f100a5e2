import AFLoop
import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

@Suite("Calling back into the library")
struct ReentrancyTests {
    enum Moment: CaseIterable, Sendable {
        case sent, response, data, metrics, completion, invalid, handler, listing, reset
    }

    enum Call: CaseIterable, Sendable {
        case cancel, suspend, resume, suspendAndResume, priority, progress, look, start, startWithHandler
        case list, reset, flush, finishSession, cancelSession, configuration, describe, delegate

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
}
