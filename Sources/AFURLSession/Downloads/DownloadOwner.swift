import AFLoop
import AFTransport
import AFWire
import Foundation

/// What a download sees of its load.
protocol DownloadOwner: AnyObject {
    var session: SessionCore { get }
    /// Nil if the task has completed.
    var downloadQuestion: DownloadQuestion? { get }
    /// The delegate that is told of the progress, and gets the file: the session's, or the task's own if the caller
    /// awaits.
    func downloadDelegate(for receiver: DownloadConsumer.Receiver) -> DownloadDelegate?

    func askForWhole()
    /// Asks for the rest of the part. False, and nothing is asked, if that request cannot be sent.
    func ask(forRestOf part: EarlierPart) -> Bool
    /// The response continues the bytes of an earlier task.
    ///
    /// - Parameter whole: What the owner of the task is shown in place of the response, whose body is not decoded.
    func downloadContinues(from offset: Int64, of total: Int64?, showing whole: URLResponse?)
    /// Whether the peer has to wait for the disk.
    func downloadWaits(_ waits: Bool)
    /// No exchange watches the task's time from now on.
    func watchTime()
    /// Fails the load, or ends it if it had failed before and waited for the disk.
    func downloadFails(with error: LoadError)
    /// The file is there, or what has arrived is saved.
    func downloadEnds(with error: URLError?)
    /// Gives the receiver what it waits for. `remove` removes the file after its callback.
    func deliver(
        _ file: PublishedFile?,
        error: (any Error)?,
        to receiver: DownloadConsumer.Receiver,
        remove: @escaping @Sendable (PublishedFile) -> Void
    )
}

/// A delegate of downloads, and the task to call it with.
typealias DownloadDelegate = (delegate: any URLSessionDownloadDelegate, task: URLSessionDownloadTask)

extension Load: DownloadOwner {
    var downloadQuestion: DownloadQuestion? {
        ownRequest.map { DownloadQuestion(request: $0, scope: presentScope, asksForPart: asksForPart) }
    }

    private var asksForPart: Bool {
        guard let sent = transfer?.request else { return presentRequest?.value(forHTTPHeaderField: "Range") != nil }
        return sent.head.fields.contains("Range")
    }

    func downloadDelegate(for receiver: DownloadConsumer.Receiver) -> DownloadDelegate? {
        guard let task = handle as? URLSessionDownloadTask else { return nil }
        let delegate: (any URLSessionDownloadDelegate)? =
            switch receiver {
            case .delegate:
                listener(as: (any URLSessionDownloadDelegate).self)
                    ?? session.delegate as? any URLSessionDownloadDelegate
            case .waiter: ownDelegate as? any URLSessionDownloadDelegate
            case .handler: nil
            }
        return delegate.map { ($0, task) }
    }

    // MARK: - The request

    func askForWhole() {
        restart()
    }

    func ask(forRestOf part: EarlierPart) -> Bool {
        guard let rest = rest(of: part) else { return false }
        restart(with: rest.wire, madeFrom: rest.request)
        return true
    }

    /// The request for the rest. Nil if it cannot be sent.
    private func rest(of part: EarlierPart) -> (wire: WireRequest, request: URLRequest)? {
        guard let replacement = memory?.replacement, let handle else {
            return (try? part.rest.get()).map { ($0, part.restRequest) }
        }
        let request = part.record.restRequest(of: replacement)
        return (try? RequestFreezer.freeze(request, defaults: handle.session.headers)).map { ($0, request) }
    }

    // MARK: - The body

    func downloadContinues(from offset: Int64, of total: Int64?, showing whole: URLResponse?) {
        if let whole {
            content = nil
            present(whole)
        }
        count(from: offset, total: total)
    }

    func downloadWaits(_ waits: Bool) {
        if waits { pause(.backPressure) } else { unpause(.backPressure) }
    }

    // MARK: - The end

    func downloadFails(with error: LoadError) {
        if state == .saving { end(urlError(error)) } else { fail(error) }
    }

    func downloadEnds(with error: URLError?) {
        if state == .saving { end(error) } else { completeIfHeld() }
    }

    func deliver(
        _ file: PublishedFile?,
        error: (any Error)?,
        to receiver: DownloadConsumer.Receiver,
        remove: @escaping @Sendable (PublishedFile) -> Void
    ) {
        let response = response
        switch receiver {
        case .handler(let handler):
            session.outbox.post(
                .block {
                    handler(file?.url, response, error)
                    if let file { remove(file) }
                }
            )
        case .waiter(let handler): resumptions.post(.block { handler(file?.url, response, error) })
        case .delegate: _ = reportEnd()
        }
    }
}

// MARK: - Cancelling

extension Load {
    /// - Parameter task: The task, whose state is already `canceling` unless it had ended.
    func cancel(_ task: URLSessionTask, keepingFor receiver: ResumeReceiver) {
        guard !isCompleted, let download = consumer as? DownloadConsumer else {
            return receiver.give(nil, in: task.session.core.value)
        }
        download.resumeReceivers.append(receiver)
        reconcile(task)
    }
}
