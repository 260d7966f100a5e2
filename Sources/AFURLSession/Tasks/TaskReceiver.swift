import AFBase
import AFLoop
package import Foundation

// How the owner of a task takes its response: see `TaskReceiver`.

extension URLSession {
    package func dataTask(with request: URLRequest, for receiver: any TaskReceiver) -> URLSessionDataTask {
        make(for: receiver) {
            URLSessionDataTask(request, identifier: $0, in: self, consumer: DelegateConsumer(), completion: nil)
        }
    }

    package func uploadTask(
        with request: URLRequest,
        body: UploadBody,
        for receiver: any TaskReceiver
    ) -> URLSessionUploadTask {
        make(for: receiver) {
            URLSessionUploadTask(
                request,
                identifier: $0,
                in: self,
                body: body.taskBody,
                consumer: DelegateConsumer(),
                completion: nil
            )
        }
    }

    package func downloadTask(with request: URLRequest, for receiver: any TaskReceiver) -> URLSessionDownloadTask {
        makeDownloadTask(request, fileReceiver: .delegate, for: receiver)
    }

    package func downloadTask(
        withResumeData resumeData: Data,
        for receiver: any TaskReceiver
    ) -> URLSessionDownloadTask {
        resumingTask(resumeData, fileReceiver: .delegate, for: receiver)
    }

    /// The body of an upload task.
    package enum UploadBody {
        case data(Data)
        case file(URL)
        /// The stream that the delegate supplies.
        case streamed

        fileprivate var taskBody: TaskBody {
            switch self {
            case .data(let data): .data(data)
            case .file(let url): .file(url)
            case .streamed: .streamed
            }
        }
    }

    /// Whether the session gives the bodies and ends of tasks to their receivers and not to its delegate, which must
    /// have no methods of its own for them. You may change it at any time; it is sure to hold for tasks that you resume
    /// after that.
    package var receiversTakeResponses: Bool {
        get { state.withLock { $0.receiversTakeResponses } }
        set {
            state.withLock { $0.receiversTakeResponses = newValue }
            // The job reads it again: if two threads set it, the loop ends with the value that stays.
            world.enqueue { [self] in core.value.receiversTakeResponses = receiversTakeResponses }
        }
    }

    /// Whether the session takes no new tasks.
    package var isInvalidated: Bool { state.withLock { $0.isInvalidated } }
}

extension Load {
    /// Tells the task's delegate that the task has ended, and its receiver if the session's delegate may not hear of it.
    ///
    /// - Returns: Whether a delegate or receiver hears of it.
    func reportEnd() -> Bool {
        guard let handle else { return false }
        let hasDelegate = tellEnd()
        guard let receiver = handle.receiver, listener != nil || session.taskDelegate == nil else { return hasDelegate }
        session.outbox.post(
            .block { receiver.ended(handle, body: Data(), error: handle.delivered(), on: .delegateQueue) }
        )
        return true
    }

    /// Tells the task's delegate that the task has ended.
    ///
    /// - Returns: Whether there is one.
    func tellEnd() -> Bool {
        guard let (delegate, task) = taskDelegate else { return false }
        session.outbox.post(
            .block { delegate.urlSession(task.session, task: task, didCompleteWithError: task.delivered()) }
        )
        return true
    }

    /// Tells the receiver of the task that it has ended.
    func reportEnd(_ body: Data, to receiver: any TaskReceiver, of task: URLSessionTask) {
        let wanted = receiver.prepareEnd(bodyLength: body.count)
        // The end must not overtake what the delegate queue has still to do.
        let place = session.outbox.isIdle ? wanted : .delegateQueue
        let end: @Sendable () -> Void = { receiver.ended(task, body: body, error: task.delivered(), on: place) }
        switch place {
        case .delegateQueue: session.outbox.post(.block(end))
        case .mainQueue: session.mainOutbox.post(.block(end))
        case .queue(let queue): session.queuesOutbox.post(.onQueue(queue, end))
        case .networkThread: session.resumptions.post(.block(end))
        }
    }

    /// Takes the response of the task in place of the session's delegate; nil if the delegate takes it.
    var responseReceiver: (any TaskReceiver)? {
        guard session.receiversTakeResponses, listener == nil else { return nil }
        return handle?.receiver
    }
}
