import AFBase
import AFNetworking
import Foundation

/// The delegate of an image task, in front of the manager: enforces the limit, puts the part that was kept in front of
/// its rest, and keeps what has arrived if the task fails. For all other methods the session calls the manager, which
/// is its own delegate.
final class ImageTaskDelegate: URLSessionDataDelegate {
    private struct State: Sendable {
        /// The part whose rest was requested, until the response arrives.
        var offered: PartialImage?
        /// Bytes that the manager receives before all others.
        var prefix: Data?
        /// The part that has arrived of a response that can be resumed.
        var gathered: PartialImage?
        var received: Int64 = 0
        /// Why the response is refused.
        var refusal: (any Error)?
        /// Whether the response to the request for the rest cannot be used.
        var mustBeginAgain = false
        /// Whether the request for the rest failed, and a stored response may have the whole.
        var mayBeStored = false
    }

    private let manager: URLSessionManager
    /// The request without the fields that ask for the rest.
    private let request: URLRequest
    private let limit: Int64
    /// How the manager judged servers when the download began.
    private let judgement: [UInt8]?
    /// Receives the part that has arrived, when the task has failed.
    private let keep: @Sendable (PartialImage, URLSessionTask) -> Void
    private let state: Lock<State>

    init(
        manager: URLSessionManager,
        request: URLRequest,
        goingOnWith part: PartialImage?,
        limit: Int64,
        judgement: [UInt8]?,
        keep: @escaping @Sendable (PartialImage, URLSessionTask) -> Void
    ) {
        self.manager = manager
        self.request = request
        self.limit = limit
        self.judgement = judgement
        self.keep = keep
        state = Lock(State(offered: part))
    }

    /// Why the response was refused, if it was.
    var refusal: (any Error)? { state.withLock { $0.refusal } }

    var mustBeginAgain: Bool { state.withLock { $0.mustBeginAgain } }

    var mayBeStored: Bool { state.withLock { $0.mayBeStored } }

    // MARK: - The response

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard state.withLock({ self.accept(response, state: &$0) }) else { return completionHandler(.cancel) }
        manager.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    private func accept(_ response: URLResponse, state: inout State) -> Bool {
        let offered = state.offered
        state.offered = nil
        let isJudgedAlike = manager.judgement == judgement
        let status = (response as? HTTPURLResponse)?.statusCode
        if let offered, let response = response as? HTTPURLResponse, status == 206 || status == 416 {
            guard status == 206, isJudgedAlike, offered.isCompleted(by: response) else {
                state.mustBeginAgain = true
                return false
            }
            state.prefix = offered.data
            state.received = Int64(offered.data.count)
            state.gathered = offered
        } else {
            state.gathered = isJudgedAlike ? PartialImage(response: response, to: request) : nil
        }
        let (expected, isTooLarge) = state.received.addingReportingOverflow(max(response.expectedContentLength, 0))
        guard isTooLarge || expected > limit else { return true }
        refuse(&state)
        return false
    }

    private func refuse(_ state: inout State) {
        state.refusal = ImageDownloadFailure.tooLong(request, limit: limit)
        state.gathered = nil
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let (prefix, isRefused) = state.withLock { state in
            guard state.refusal == nil else { return (Data?.none, true) }
            state.received += Int64(data.count)
            guard state.received <= limit else {
                refuse(&state)
                return (nil, true)
            }
            if state.gathered?.append(data) == false { state.gathered = nil }
            defer { state.prefix = nil }
            return (state.prefix, false)
        }
        if isRefused { return dataTask.cancel() }
        if let prefix { manager.urlSession(session, dataTask: dataTask, didReceive: prefix) }
        manager.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let part = state.withLock { state in
            defer { (state.gathered, state.prefix, state.offered) = (nil, nil, nil) }
            state.mayBeStored = error != nil && state.offered != nil && request.mayComeFromMemory
            // Without a response the offered part is still good.
            return state.gathered ?? state.offered
        }
        if error != nil, let part, part.isWorthKeeping { keep(part, task) }
        manager.urlSession(session, task: task, didCompleteWithError: error)
    }
}
