import AFLoop
import AFTransport
import Foundation

extension DownloadConsumer {
    /// The delegate that is told of the progress: the session's, or the task's own if the caller awaits.
    private func progressDelegate(
        _ load: Load
    ) -> (delegate: any URLSessionDownloadDelegate, task: URLSessionDownloadTask)? {
        switch receiver {
        case .delegate: load.downloadDelegate
        case .waiter: load.ownDownloadDelegate
        case .handler, nil: nil
        }
    }

    /// A slow delegate gets one report for several writes.
    func announce(_ count: Int64, of load: Load) {
        guard let (delegate, task) = progressDelegate(load), progress.withLock({ $0.add(count) }) else { return }
        let expected = load.expectedTotal
        load.session.outbox.post(
            .block { [progress] in
                let (written, total) = progress.withLock { $0.take() }
                guard written > 0 else { return }
                delegate.urlSession(
                    task.session,
                    downloadTask: task,
                    didWriteData: written,
                    totalBytesWritten: total,
                    totalBytesExpectedToWrite: expected
                )
            }
        )
    }

    func announceResumption(at offset: Int64, of load: Load) {
        guard let (delegate, task) = progressDelegate(load) else { return }
        let expected = load.expectedTotal
        load.session.outbox.post(
            .block {
                delegate.urlSession(
                    task.session,
                    downloadTask: task,
                    didResumeAtOffset: offset,
                    expectedTotalBytes: expected
                )
            }
        )
    }

    /// Removes the file after its callback, on the queue of the callback. If that is the network thread, the file's
    /// worker removes it, because the network thread must not wait for a disk.
    private func remover(of load: Load) -> @Sendable (PublishedFile) -> Void {
        guard load.session.settings.callsBackOnNetworkThread, let file else { return { $0.removeIfThere() } }
        return { file.remove($0) }
    }

    /// The delegate may use the file while it is called.
    func show(_ file: PublishedFile, to load: Load) {
        guard let (delegate, task) = load.downloadDelegate else { return }
        let remove = remover(of: load)
        load.session.outbox.post(
            .block {
                delegate.urlSession(task.session, downloadTask: task, didFinishDownloadingTo: file.url)
                remove(file)
            }
        )
    }

    func deliver(_ file: PublishedFile?, _ error: (any Error)?, of load: Load) {
        for receiver in resumeReceivers { receiver.give(resumeData, load.session) }
        resumeReceivers = []
        let response = load.response
        let remove = remover(of: load)
        switch receiver {
        case .handler(let handler):
            load.session.outbox.post(
                .block {
                    handler(file?.url, response, error)
                    if let file { remove(file) }
                }
            )
        case .waiter(let handler):
            load.resumptions.post(.block { handler(file?.url, response, error) })
        case .delegate: _ = load.reportEnd()
        case nil: break
        }
    }
}

extension Load {
    /// The same as `dataDelegate`, for downloads.
    var downloadDelegate: (delegate: any URLSessionDownloadDelegate, task: URLSessionDownloadTask)? {
        guard let task = handle as? URLSessionDownloadTask else { return nil }
        let own = listener(as: (any URLSessionDownloadDelegate).self)
        return (own ?? session.delegate as? any URLSessionDownloadDelegate).map { ($0, task) }
    }

    var ownDownloadDelegate: (delegate: any URLSessionDownloadDelegate, task: URLSessionDownloadTask)? {
        guard let task = handle as? URLSessionDownloadTask else { return nil }
        return (ownDelegate as? any URLSessionDownloadDelegate).map { ($0, task) }
    }

    /// How many bytes the file will have, if that is known.
    var expectedTotal: Int64 {
        handle?.countOfBytesExpectedToReceive ?? NSURLSessionTransferSizeUnknown
    }
}

extension Load {
    /// Whether the request that was sent asks for a part. The caller, an interceptor or the session may have added the
    /// field.
    var asksForPart: Bool {
        guard let sent = transfer?.request else { return presentRequest?.value(forHTTPHeaderField: "Range") != nil }
        return sent.head.fields.contains("Range")
    }
}

extension HTTPURLResponse {
    /// Whether the response concerns a part of the resource.
    var isPartial: Bool { statusCode == 206 || statusCode == 416 }
}

/// A caller that has cancelled a download and wants its resume data.
struct ResumeReceiver: Sendable {
    let handler: @Sendable (Data?) -> Void
    /// The caller awaits, and does not depend on the delegate queue.
    let isAwaited: Bool

    func give(_ data: Data?, _ session: SessionCore) {
        let outbox = isAwaited ? session.resumptions : session.outbox
        outbox.post(.block { [handler] in handler(data) })
    }
}

extension Load {
    /// - Parameter task: The task, whose state is already `canceling` unless it had ended.
    func cancel(_ task: URLSessionTask, keepingFor receiver: ResumeReceiver) {
        guard !isCompleted, let download = consumer as? DownloadConsumer else {
            return receiver.give(nil, task.session.core.value)
        }
        download.resumeReceivers.append(receiver)
        reconcile(task)
    }
}
