import AFLoop
import AFTransport
import Foundation

/// What the delegate has not been told yet about bytes that were written.
struct WriteProgress: Sendable {
    private var unreported: Int64 = 0
    private var total: Int64 = 0
    /// A callback that will report is on its way.
    private var isAnnounced = false

    init(from offset: Int64 = 0) {
        total = offset
    }

    /// True if a callback is needed.
    mutating func add(_ count: Int64) -> Bool {
        unreported += count
        total += count
        defer { isAnnounced = true }
        return !isAnnounced
    }

    /// A callback that is on its way stays so, and has nothing to report.
    mutating func startOver() {
        unreported = 0
        total = 0
    }

    mutating func take() -> (written: Int64, total: Int64) {
        defer {
            unreported = 0
            isAnnounced = false
        }
        return (unreported, total)
    }
}

extension DownloadConsumer {
    /// Who hears how the download gets on: the delegate, or that of the one task if its
    /// caller awaits.
    private func progressDelegate(
        _ core: TaskCore
    ) -> (delegate: any URLSessionDownloadDelegate, task: URLSessionDownloadTask)? {
        switch receiver {
        case .delegate: core.downloadDelegate
        case .waiter: core.ownDownloadDelegate
        case .handler, nil: nil
        }
    }

    /// A delegate that is slow gets one report for several writes.
    func announce(_ count: Int64, of core: TaskCore) {
        guard let (delegate, task) = progressDelegate(core), progress.withLock({ $0.add(count) }) else { return }
        let expected = core.expectedTotal
        core.session.outbox.post(
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

    func announceResumption(at offset: Int64, of core: TaskCore) {
        guard let (delegate, task) = progressDelegate(core) else { return }
        let expected = core.expectedTotal
        core.session.outbox.post(
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

    /// Removes the file after its callback: where that has run, unless it was the network
    /// thread, which must not wait for a disk.
    private func remover(of core: TaskCore) -> @Sendable (PublishedFile) -> Void {
        guard core.session.settings.callsBackOnNetworkThread, let file else { return { $0.removeIfThere() } }
        return { file.remove($0) }
    }

    /// The file is the delegate's while it is called.
    func show(_ file: PublishedFile, to core: TaskCore) {
        guard let (delegate, task) = core.downloadDelegate else { return }
        let remove = remover(of: core)
        core.session.outbox.post(
            .block {
                delegate.urlSession(task.session, downloadTask: task, didFinishDownloadingTo: file.url)
                remove(file)
            }
        )
    }

    func deliver(_ file: PublishedFile?, _ error: (any Error)?, of core: TaskCore) {
        for receiver in resumeReceivers { receiver.give(resumeData, core.session) }
        resumeReceivers = []
        let response = core.response
        let remove = remover(of: core)
        switch receiver {
        case .handler(let handler):
            core.session.outbox.post(
                .block {
                    handler(file?.url, response, error)
                    if let file { remove(file) }
                }
            )
        case .waiter(let handler):
            core.resumptions.post(.block { handler(file?.url, response, error) })
        case .delegate:
            guard let (delegate, task) = core.taskDelegate else { return }
            core.session.outbox.post(
                .block { delegate.urlSession(task.session, task: task, didCompleteWithError: error) }
            )
        case nil: break
        }
    }
}

extension TaskCore {
    /// As `dataDelegate`, for downloads.
    var downloadDelegate: (delegate: any URLSessionDownloadDelegate, task: URLSessionDownloadTask)? {
        guard let task = handle as? URLSessionDownloadTask else { return nil }
        let own = listener(as: (any URLSessionDownloadDelegate).self)
        return (own ?? session.delegate as? any URLSessionDownloadDelegate).map { ($0, task) }
    }

    var ownDownloadDelegate: (delegate: any URLSessionDownloadDelegate, task: URLSessionDownloadTask)? {
        guard let task = handle as? URLSessionDownloadTask else { return nil }
        return (ownDelegate as? any URLSessionDownloadDelegate).map { ($0, task) }
    }

    /// Bytes the file will have, if that is known.
    var expectedTotal: Int64 {
        handle?.countOfBytesExpectedToReceive ?? NSURLSessionTransferSizeUnknown
    }
}

extension TaskCore {
    /// Whether what was sent asks for a part, whoever put that in: the caller, an interceptor, or the session.
    var asksForPart: Bool {
        guard let sent = transfer?.request else { return presentRequest?.value(forHTTPHeaderField: "Range") != nil }
        return HeadField("Range", []).line(in: sent.headBytes) != nil
    }
}

extension HTTPURLResponse {
    /// Whether this is about a part of what the URL names.
    var isPartial: Bool { statusCode == 206 || statusCode == 416 }
}
