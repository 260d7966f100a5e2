import AFBase
import AFLoop
import AFNetworking
import Foundation

/// Waits for the one completion of a task; a second one is a trap. Cancelling the Swift task cancels it.
func ended(_ make: (@escaping @Sendable (End) -> Void) -> URLSessionTask) async -> End {
    let task = Lock<URLSessionTask?>(nil)
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            let made = make { continuation.resume(returning: $0) }
            task.withLock { $0 = made }
            made.resume()
            if Task.isCancelled { made.cancel() }
        }
    } onCancel: {
        task.withLock { $0 }?.cancel()
    }
}

extension URLSession {
    func end(of request: URLRequest) async -> End {
        await ended { done in dataTask(with: request) { done(End($0, $1, $2)) } }
    }

    func end(of url: URL, timeout: TimeInterval = 60) async -> End {
        var request = URLRequest(url: url)
        request.timeoutInterval = timeout
        return await end(of: request)
    }

    /// Of a download; its contents are read while the file is there.
    func end(ofDownload make: (@escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask) async
        -> End
    {
        await ended { done in
            make { url, response, error in done(End(url.flatMap { try? Data(contentsOf: $0) }, response, error)) }
        }
    }

    /// When nothing of it is left but what is being finished.
    func invalidated() async {
        finishTasksAndInvalidate()
        await withCheckedContinuation { done in NetworkThread.loop.enqueue { done.resume() } }
    }
}

/// The delegate of tasks that are waited for one by one.
final class Desk: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    private struct Entry: Sendable {
        var data = Data()
        var status: Int?
        let done: @Sendable (End) -> Void
    }

    private let entries = Lock<[Int: Entry]>([:])
    private let onData: @Sendable (URLSessionTask) -> Void
    private let onChallenge: @Sendable (URLAuthenticationChallenge) -> URLCredential?

    /// - Parameters:
    ///   - onData: Called for each part of a body.
    ///   - onChallenge: What to answer a challenge; nothing, unless given.
    init(
        onData: @escaping @Sendable (URLSessionTask) -> Void = { _ in },
        onChallenge: @escaping @Sendable (URLAuthenticationChallenge) -> URLCredential? = { _ in nil }
    ) {
        (self.onData, self.onChallenge) = (onData, onChallenge)
    }

    func end(of task: URLSessionTask) async -> End {
        await ended { done in
            entries.withLock { $0[task.taskIdentifier] = Entry(done: done) }
            return task
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        entries.withLock { $0[dataTask.taskIdentifier]?.data += data }
        onData(dataTask)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        onData(downloadTask)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let contents = (try? Data(contentsOf: location)) ?? Data()
        entries.withLock { $0[downloadTask.taskIdentifier]?.data = contents }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let credential = onChallenge(challenge)
        completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let entry = entries.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        entry.done(End(entry.data, task.response, error))
    }
}

/// The delegate of a `URLConnection` that is waited for.
final class ConnectionEnd: NSObject, URLConnectionDataDelegate, Sendable {
    private let state = Lock((data: Data(), response: URLResponse?.none))
    private let done: @Sendable (End) -> Void

    init(_ done: @escaping @Sendable (End) -> Void) {
        self.done = done
    }

    func connection(_ connection: URLConnection, didReceive response: URLResponse) {
        state.withLock { $0.response = response }
    }

    func connection(_ connection: URLConnection, didReceive data: Data) {
        state.withLock { $0.data += data }
    }

    func connectionDidFinishLoading(_ connection: URLConnection) {
        let (data, response) = state.withLock { $0 }
        done(End(data, response))
    }

    func connection(_ connection: URLConnection, didFailWithError error: any Error) {
        done(End(nil, nil, error))
    }
}

/// A thread that runs a run loop of Foundation's as long as something is to be done on it.
final class LoopThread: Sendable {
    /// Starts something on the thread, which says when it is done.
    typealias Job = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

    private let jobs = Lock<[Job]>([])
    private let bell = DispatchSemaphore(value: 0)

    init() {
        Thread.detachNewThread { [jobs, bell] in
            while true {
                bell.wait()
                guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
                let isDone = Lock(false)
                job { isDone.withLock { $0 = true } }
                while !isDone.withLock({ $0 }) {
                    _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.5))
                }
            }
        }
    }

    func enqueue(_ job: @escaping Job) {
        jobs.withLock { $0.append(job) }
        bell.signal()
    }

    /// The thread ends when it has done what it was asked to do.
    func stop() { bell.signal() }
}
