import AFBase
import AFLoop
package import AFURLSession
package import Foundation

/// A delegate that looks whether the events of each task come in order, and its end exactly once.
package typealias EventDelegate = EventBook & URLSessionDataDelegate & URLSessionDownloadDelegate

/// What all of these delegates have.
///
/// No delegate itself: what a class that is one does not answer, no class below it can.
package class EventBook: @unchecked Sendable {
    package typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    let entries = EventEntries()
    let progress = ProgressEntries()

    private let disposition: URLSession.ResponseDisposition

    /// - Parameter disposition: What is to become of each response.
    init(_ disposition: URLSession.ResponseDisposition = .allow) {
        self.disposition = disposition
    }

    package func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        entries.end()
    }

    package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        entries.enter(.completed, task, error)
    }

    package func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        entries.enter(.metrics, task)
    }

    package func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        entries.enter(.response, dataTask)
        completionHandler(disposition)
    }

    package func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        entries.enter(.data(data), dataTask)
    }

    package func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        entries.enter(.file((try? Data(contentsOf: location)) ?? Data()), downloadTask)
    }

    package func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        entries.enter(.progress, task)
        progress.tell(.up, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }

    package func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        entries.enter(.progress, downloadTask)
        progress.tell(.down, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }

    package func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        entries.enter(.progress, downloadTask)
        progress.goOn(downloadTask, at: fileOffset)
    }

    /// Starts a task without a completion handler, and waits for its end.
    ///
    /// - Returns: The body, of the events or of the file.
    /// - Throws: What it ended with.
    package func outcome(of task: URLSessionTask, on stage: Stage) async throws -> Data {
        let completion = stage.completion(of: "task \(task.taskIdentifier)", as: (any Error)?.self)
        entries.expect(task, completion)
        task.resume()
        if let error = await completion.value() { throw error }
        return entries.body(of: task)
    }
}

/// One that is never asked anything.
final class SilentBook: EventBook, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {}

/// One for bodies that go up and files that come down: it brings streams, and follows a task that becomes a download.
package final class TransferBook: EventBook, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    private let stream: (@Sendable () -> InputStream?)?
    private let became = Lock<[Int: (completion: Completion<(any Error)?>, task: URLSessionTask)]>([:])

    /// - Parameter stream: Makes a body for a task that asks for one.
    init(_ disposition: URLSession.ResponseDisposition, stream: (@Sendable () -> InputStream?)?) {
        self.stream = stream
        super.init(disposition)
    }

    package override func outcome(of task: URLSessionTask, on stage: Stage) async throws -> Data {
        let completion = stage.completion(of: "task \(task.taskIdentifier)", as: (any Error)?.self)
        let number = task.taskIdentifier
        became.withLock { $0[number] = (completion, task) }
        entries.expect(task, completion)
        task.resume()
        if let error = await completion.value() { throw error }
        return entries.body(of: became.withLock { $0[number]?.task } ?? task)
    }

    package func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(stream?())
    }

    package func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didBecome downloadTask: URLSessionDownloadTask
    ) {
        let completion = became.withLock { became in
            became[dataTask.taskIdentifier]?.task = downloadTask
            return became[dataTask.taskIdentifier]?.completion
        }
        if let completion { entries.expect(downloadTask, completion) }
    }
}

/// One that answers as well.
final class AnsweringBook: EventBook, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    private let redirect: (@Sendable (HTTPURLResponse, URLRequest) -> URLRequest?)?
    private let challenge: (@Sendable (URLAuthenticationChallenge) -> Answer)?

    init(
        redirect: (@Sendable (HTTPURLResponse, URLRequest) -> URLRequest?)?,
        challenge: (@Sendable (URLAuthenticationChallenge) -> Answer)?
    ) {
        self.redirect = redirect
        self.challenge = challenge
        super.init()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        entries.enter(.redirect, task)
        completionHandler(redirect.map { $0(response, request) } ?? request)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        entries.enter(.challenge, task)
        answer(challenge, completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        answer(challenge, completionHandler)
    }

    private func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let own = self.challenge else { return completionHandler(.performDefaultHandling, nil) }
        let (disposition, credential) = own(challenge)
        completionHandler(disposition, credential)
    }
}

/// What the tasks of a session have been through.
package final class EventEntries: Book {
    package enum Event {
        case challenge
        case redirect
        case progress
        case response
        case data(Data)
        case file(Data)
        case metrics
        case completed
    }

    private struct Course {
        var hasResponse = false
        var hasMetrics = false
        var completions = 0
        var body = Data()
        var completion: Completion<(any Error)?>?
    }

    private struct State {
        var courses: [Int: Course] = [:]
        var complaints: [String] = []
        var isOver = false
    }

    private let state = Lock(State())

    package init() {}

    package func expect(_ task: URLSessionTask, _ completion: Completion<(any Error)?>) {
        state.withLock { $0.courses[task.taskIdentifier, default: Course()].completion = completion }
    }

    package func body(of task: URLSessionTask) -> Data {
        state.withLock { $0.courses[task.taskIdentifier]?.body ?? Data() }
    }

    package func end() {
        state.withLock { state in
            if state.isOver { state.complaints.append("the session became invalid twice") }
            state.isOver = true
        }
    }

    package func enter(_ event: Event, _ task: URLSessionTask, _ error: (any Error)? = nil) {
        let (isEarly, isOnLoop) = (task.state == .suspended, StageWorld.isOnLoop)
        let completion = state.withLock { state -> Completion<(any Error)?>? in
            let number = task.taskIdentifier
            var course = state.courses[number, default: Course()]
            defer { state.courses[number] = course }
            if isEarly { state.complaints.append("\(event.name) of task \(number), which was not resumed") }
            if isOnLoop { state.complaints.append("\(event.name) of task \(number) on the thread of the network") }
            if state.isOver { state.complaints.append("\(event.name) of task \(number) after the end of its session") }
            if course.completions > 0 { state.complaints.append("\(event.name) of task \(number) after its end") }
            switch event {
            case .challenge, .redirect, .progress: break
            case .response: course.hasResponse = true
            case .data(let data):
                if !course.hasResponse { state.complaints.append("data of task \(number) before its response") }
                course.body.append(data)
            case .file(let data): course.body = data
            case .metrics:
                if course.hasMetrics { state.complaints.append("task \(number) has metrics twice") }
                course.hasMetrics = true
            case .completed:
                course.completions += 1
                return course.completion
            }
            return nil
        }
        completion?.call(error)
    }

    package var complaint: String? {
        let complaints = state.withLock { $0.complaints }
        return complaints.isEmpty ? nil : complaints.joined(separator: ", ")
    }

    package var openEntry: String? { nil }
}

extension EventEntries.Event {
    fileprivate var name: String {
        switch self {
        case .challenge: "a challenge"
        case .redirect: "a redirect"
        case .progress: "progress"
        case .response: "a response"
        case .data: "data"
        case .file: "a file"
        case .metrics: "metrics"
        case .completed: "the end"
        }
    }
}
