import AFBase
import AFLoop
import AFTransport
import AFWire
public import Foundation

typealias DownloadCompletion = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

// MARK: - Making

extension URLSessionDownloadTask {
    /// A task that loads `request` as a whole.
    convenience init(
        _ request: URLRequest,
        identifier: Int,
        in session: URLSession,
        receiver: DownloadConsumer.Receiver
    ) {
        self.init(request, identifier: identifier, in: session, receiver: receiver, after: .nothing)
    }

    /// A task that resumes a part.
    convenience init(
        resuming data: Data,
        identifier: Int,
        in session: URLSession,
        receiver: DownloadConsumer.Receiver
    ) {
        do throws(ResumeFlaw) {
            let record = try ResumeRecord(data)
            guard let request = record.request else { throw .damaged }
            let restRequest = record.restRequest(of: request)
            let rest = Result { () throws(RequestRejection) in
                try RequestFreezer.freeze(restRequest, defaults: session.headers)
            }
            let part = EarlierPart(record: record, data: data, rest: rest, restRequest: restRequest)
            self.init(request, identifier: identifier, in: session, receiver: receiver, after: .part(part))
        } catch {
            self.init(.unknown, identifier: identifier, in: session, receiver: receiver, after: .flawed(error))
        }
    }

    private convenience init(
        _ request: URLRequest,
        identifier: Int,
        in session: URLSession,
        receiver: DownloadConsumer.Receiver,
        after origin: DownloadResumption.Origin
    ) {
        self.init(
            request,
            identifier: identifier,
            in: session,
            consumer: DownloadConsumer(receiver: receiver, after: origin),
            completion: receiver.completionWithoutFile
        )
    }
}

// MARK: - Cancelling

extension URLSessionDownloadTask {
    /// Cancels the task and keeps the bytes that have arrived, to be resumed later.
    ///
    /// The task completes with `URLError.cancelled`, whose `userInfo` has the same resume data. If the whole body had
    /// arrived already, it completes with its file instead.
    ///
    /// - Parameter completionHandler: Called once, on the delegate queue, before the completion of the task: with
    ///   resume data for ``URLSession/downloadTask(withResumeData:)``, or with nil if the download cannot be resumed:
    ///   nothing has arrived, the task has ended, the request was no plain GET, the response had neither a strong
    ///   entity tag nor a reliable date, or the disk has not saved the part within a minute.
    @preconcurrency
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        cancel(for: ResumeReceiver(handler: completionHandler, isAwaited: false))
    }

    /// As ``cancel(byProducingResumeData:)``, but independent of the delegate queue.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(for: ResumeReceiver(handler: { continuation.resume(returning: $0) }, isAwaited: true))
        }
    }

    private func cancel(for receiver: ResumeReceiver) {
        let wasAlive = snapshot.withLock { $0.life.cancel() }
        guard session.world.unavailability() == nil else {
            if wasAlive { fail() }
            return receiver.handler(nil)
        }
        session.world.loop.enqueue { [self] in load.value.cancel(self, keepingFor: receiver) }
    }

    private func fail() {
        if let reason = session.world.unavailability() { failHere(reason) }
    }
}

extension DownloadConsumer.Receiver {
    /// Reports an error in processes that have no loop.
    var completionWithoutFile: DataCompletion? {
        switch self {
        case .delegate: nil
        case .handler(let handler), .waiter(let handler): { _, response, error in handler(nil, response, error) }
        }
    }
}
