import AFLoop
import AFTransport
import AFWire
import Foundation

/// A delegate of downloads, and the task to call it with.
typealias DownloadDelegate = (delegate: any URLSessionDownloadDelegate, task: URLSessionDownloadTask)

// What a download sees of its load, and asks of it.

extension Load {
    var downloadQuestion: DownloadQuestion? {
        ownRequest.map { DownloadQuestion(request: $0, scope: presentScope?.digest, asksForPart: asksForPart) }
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

    func ask(forRestOf part: EarlierPart?) -> Bool {
        guard let part else {
            restart()
            return true
        }
        guard let rest = rest(of: part) else { return false }
        restart(with: rest.wire, madeFrom: rest.request)
        return true
    }

    /// The request for the rest. Nil if it cannot be sent.
    private func rest(of part: EarlierPart) -> (wire: WireRequest, request: URLRequest)? {
        guard let replacement = memory?.replacement?.request, let handle else {
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
            return receiver.give(nil, task.session.core.value)
        }
        download.resumeReceivers.append(receiver)
        reconcile(task)
    }
}
