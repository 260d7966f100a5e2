import AFLoop
import AFWire
public import Foundation

typealias DownloadCompletion = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

// Unchecked as its superclass.
/// A task whose response body goes to a file.
///
/// The file is made in the session's folder for temporary files, for your user alone, and is yours until the
/// callback that names it has returned; move it to keep it. A file that is not moved, that is not complete, or that
/// nobody asked for is removed. Whatever the status of the response, its body is what is stored.
///
/// When a download fails whose response had a strong entity tag or a reliable date, what had arrived is kept for
/// seven days, and the error's `userInfo` holds resume data under ``NSURLSessionDownloadTaskResumeData``. Resume data
/// holds the request, its fields included: keep it like those. What cannot be written down is not in it:
/// ``URLRequest/requestInterceptors`` of the request itself, and what a ``URLProtocol`` has noted.
public final class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// A task that loads `request` as a whole.
    convenience init(
        _ request: URLRequest,
        _ identifier: Int,
        in session: URLSession,
        _ receiver: DownloadConsumer.Receiver
    ) {
        self.init(request, identifier, in: session, receiver, after: .nothing)
    }

    /// A task that goes on with a part.
    convenience init(
        resuming data: Data,
        _ identifier: Int,
        in session: URLSession,
        _ receiver: DownloadConsumer.Receiver
    ) {
        do throws(ResumeRecord.Flaw) {
            let record = try ResumeRecord(data)
            guard let request = record.request else { throw .damaged }
            let restRequest = record.restRequest(of: request)
            let rest = Result { () throws(RequestRejection) in
                try RequestFreezer.freeze(restRequest, defaults: session.headers)
            }
            let part = EarlierPart(record: record, data: data, rest: rest, restRequest: restRequest)
            self.init(request, identifier, in: session, receiver, after: .part(part))
        } catch {
            self.init(.unknown, identifier, in: session, receiver, after: .flawed(error))
        }
    }

    private init(
        _ request: URLRequest,
        _ identifier: Int,
        in session: URLSession,
        _ receiver: DownloadConsumer.Receiver,
        after origin: DownloadConsumer.Origin
    ) {
        super.init(
            request,
            identifier,
            in: session,
            consumer: DownloadConsumer(receiver, after: origin),
            receiver.completionWithoutFile
        )
    }

    /// A task that takes the place of a data task.
    override init(continuing other: URLSessionTask, _ identifier: Int) {
        super.init(continuing: other, identifier)
    }

    /// Cancels the task and keeps what has arrived, to go on with it some day.
    ///
    /// The task completes with `URLError.cancelled`, whose `userInfo` holds the same resume data. If all had arrived
    /// already, it completes with its file instead.
    ///
    /// - Parameter completionHandler: Called once, on the delegate queue, before the completion of the task: with
    ///   resume data for ``URLSession/downloadTask(withResumeData:)``, or with nil if nothing can be gone on with:
    ///   nothing has arrived, the task has ended, the request was no plain GET, the response had neither a strong
    ///   entity tag nor a reliable date, or the disk has not saved it within a minute.
    @preconcurrency
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        cancel(for: ResumeReceiver(handler: completionHandler, isAwaited: false))
    }

    /// As ``cancel(byProducingResumeData:)``, independent of the delegate queue.
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
        session.world.loop.enqueue { [self] in core.value.cancel(self, keepingFor: receiver) }
    }

    private func fail() {
        if let reason = session.world.unavailability() { failHere(reason) }
    }
}

extension DownloadConsumer.Receiver {
    /// For errors that are reported where there is no loop.
    var completionWithoutFile: DataCompletion? {
        switch self {
        case .delegate: nil
        case .handler(let handler), .waiter(let handler): { _, response, error in handler(nil, response, error) }
        }
    }
}
