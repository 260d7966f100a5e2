import AFBase
import Foundation

// What the receiver of a download hears.

extension DownloadConsumer {
    private func progressDelegate(_ owner: any DownloadOwner) -> DownloadDelegate? {
        receiver.flatMap { owner.downloadDelegate(for: $0) }
    }

    /// A slow delegate gets one report for several writes.
    func announce(_ count: Int64, of owner: any DownloadOwner) {
        guard let (delegate, task) = progressDelegate(owner), progress.withLock({ $0.add(count) }) else { return }
        let expected = task.countOfBytesExpectedToReceive
        owner.session.outbox.post(
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

    func announceResumption(at offset: Int64, of owner: any DownloadOwner) {
        guard let (delegate, task) = progressDelegate(owner) else { return }
        let expected = task.countOfBytesExpectedToReceive
        owner.session.outbox.post(
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
    private func remover(of owner: any DownloadOwner) -> @Sendable (PublishedFile) -> Void {
        guard owner.session.settings.callsBackOnNetworkThread, let file else { return { $0.removeIfThere() } }
        return { file.remove($0) }
    }

    /// The delegate may use the file while it is called.
    func show(_ file: PublishedFile, to owner: any DownloadOwner) {
        guard let (delegate, task) = owner.downloadDelegate(for: .delegate) else { return }
        let remove = remover(of: owner)
        owner.session.outbox.post(
            .block {
                delegate.urlSession(task.session, downloadTask: task, didFinishDownloadingTo: file.url)
                remove(file)
            }
        )
    }

    func deliver(_ error: (any Error)?, of owner: any DownloadOwner) {
        let data = if case .resumeData(let data) = outcome { data } else { Data?.none }
        for receiver in resumeReceivers { receiver.give(data, in: owner.session) }
        resumeReceivers = []
        guard let receiver else { return }
        let file = if case .file(let file) = outcome { file } else { PublishedFile?.none }
        owner.deliver(file, error: error, to: receiver, remove: remover(of: owner))
    }
}

/// A caller that has cancelled a download and wants its resume data.
struct ResumeReceiver: Sendable {
    let handler: @Sendable (Data?) -> Void
    /// The caller awaits, and does not depend on the delegate queue.
    let isAwaited: Bool

    func give(_ data: Data?, in session: SessionCore) {
        let outbox = isAwaited ? session.resumptions : session.outbox
        outbox.post(.block { [handler] in handler(data) })
    }
}
