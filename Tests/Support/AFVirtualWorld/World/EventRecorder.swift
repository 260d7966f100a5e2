import AFBase
import AFLoop
package import AFURLSession
package import Foundation

/// Everything that was heard about one task.
package struct TaskRecord: Sendable {
    package var events: [TaskEvent] = []
    package var body = Data()
    package var error: URLError?
    package var metrics: URLSessionTaskMetrics?

    package fileprivate(set) var completions = 0

    /// - Parameter joined: Data that follows data is one event with it.
    fileprivate mutating func add(_ event: TaskEvent, joined: Bool) {
        guard joined, case .data(let more) = event, case .data(let count)? = events.last else {
            return events.append(event)
        }
        events[events.count - 1] = .data(count + more)
    }

    /// Without upload progress and metrics, neighbouring data joined.
    package var summary: [TaskEvent] {
        var summary: [TaskEvent] = []
        for event in events {
            switch (event, summary.last) {
            case (.sent, _), (.metrics, _): break
            case (.data(let more), .data(let count)): summary[summary.count - 1] = .data(count + more)
            default: summary.append(event)
            }
        }
        return summary
    }
}

/// A delegate that writes down what it hears.
package final class EventRecorder: URLSessionDataDelegate {
    /// What to do in a callback, after it was recorded.
    package typealias Hook = @Sendable (URLSession, URLSessionTask?, TaskEvent?) -> Void
    package typealias Disposition =
        @Sendable (
            URLSessionDataTask, @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) -> Void

    private struct State {
        var records: [Int: TaskRecord] = [:]
        var invalidations = 0
        var eventsAfterInvalidation = 0
        var handlersAfterInvalidation = 0
        var hook: Hook?
        var disposition: Disposition?
        var keepsBodies = true
    }

    private let state = Lock(State())

    package init(keepsBodies: Bool = true) {
        state.withLock { $0.keepsBodies = keepsBodies }
    }

    package func onEvent(_ hook: Hook?) {
        state.withLock { $0.hook = hook }
    }

    /// Who answers for the delegate when a response has come. `.allow` at once unless set.
    package func onResponse(_ disposition: @escaping Disposition) {
        state.withLock { $0.disposition = disposition }
    }

    package func record(of identifier: Int) -> TaskRecord {
        state.withLock { $0.records[identifier] ?? TaskRecord() }
    }

    package var invalidations: Int { state.withLock { $0.invalidations } }
    /// Must stay 0.
    package var eventsAfterInvalidation: Int { state.withLock { $0.eventsAfterInvalidation } }

    /// Completion handlers of tasks that were resumed too late.
    package var handlersAfterInvalidation: Int { state.withLock { $0.handlersAfterInvalidation } }

    /// For a completion handler, whose result is one event or two.
    package func complete(
        _ session: URLSession,
        _ task: URLSessionTask?,
        _ identifier: Int,
        _ data: Data?,
        _ response: URLResponse?,
        _ error: (any Error)?
    ) {
        state.withLock { state in
            if state.invalidations > 0 { state.handlersAfterInvalidation += 1 }
            if let response = response as? HTTPURLResponse {
                state.records[identifier, default: TaskRecord()].events.append(.response(response.statusCode))
            }
            if let data, !data.isEmpty {
                state.records[identifier, default: TaskRecord()].events.append(.data(data.count))
                state.records[identifier, default: TaskRecord()].body = data
            }
        }
        ended(session, task, identifier, error)
    }

    private func add(_ event: TaskEvent, _ session: URLSession, _ task: URLSessionTask) {
        let hook = state.withLock { state in
            if state.invalidations > 0 { state.eventsAfterInvalidation += 1 }
            state.records[task.taskIdentifier, default: TaskRecord()].add(event, joined: !state.keepsBodies)
            return state.hook
        }
        hook?(session, task, event)
    }

    private func ended(_ session: URLSession, _ task: URLSessionTask?, _ identifier: Int, _ error: (any Error)?) {
        let code = (error as? URLError)?.code
        let event = error == nil ? TaskEvent.finished : .failed(code ?? .unknown)
        let hook = state.withLock { state in
            state.records[identifier, default: TaskRecord()].events.append(event)
            state.records[identifier, default: TaskRecord()].completions += 1
            state.records[identifier, default: TaskRecord()].error = error as? URLError
            return state.hook
        }
        hook?(session, task, event)
    }

    // MARK: - URLSessionDataDelegate

    package func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        let hook = state.withLock { state in
            state.invalidations += 1
            return state.hook
        }
        hook?(session, nil, nil)
    }

    package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        state.withLock { if $0.invalidations > 0 { $0.eventsAfterInvalidation += 1 } }
        ended(session, task, task.taskIdentifier, error)
    }

    package func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        add(.sent(totalBytesSent), session, task)
    }

    package func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        state.withLock { $0.records[task.taskIdentifier, default: TaskRecord()].metrics = metrics }
        add(.metrics, session, task)
    }

    package func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        add(.waiting, session, task)
    }

    package func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        add(.response((response as? HTTPURLResponse)?.statusCode ?? 0), session, dataTask)
        guard let disposition = state.withLock({ $0.disposition }) else { return completionHandler(.allow) }
        disposition(dataTask, completionHandler)
    }

    package func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { state in
            if state.keepsBodies { state.records[dataTask.taskIdentifier, default: TaskRecord()].body.append(data) }
        }
        add(.data(data.count), session, dataTask)
    }
}
