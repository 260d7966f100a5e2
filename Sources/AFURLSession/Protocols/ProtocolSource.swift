import AFBase
import AFLoop
import AFTransport
import Foundation

/// A class of the program at work for one load. Confined to the loop; the class itself runs on the worker.
final class ProtocolSource: LoadSource {
    private let client: ProtocolClient
    private let object = ProtocolObject()
    private let worker: any BlockingWorker

    /// - Parameter cache: Where the class may find a response to go by.
    init(
        _ choice: ProtocolDoor.Choice,
        for load: ForeignLoad,
        of task: URLSessionTask,
        cache: URLCache?,
        limit: Int,
        on worker: any BlockingWorker
    ) {
        let client = ProtocolClient(LoopBound(confined: load, on: task.session.world.loop), limit: limit)
        self.client = client
        self.worker = worker
        worker.run { [object] in object.start(choice, for: task, cache: cache, client) }
    }

    func take() -> [LoadEvent] { client.take() }

    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?
    ) {
        guard let sender = challenge.sender else { return }
        worker.run {
            switch (disposition, credential) {
            case (.useCredential, let credential?): sender.use(credential, for: challenge)
            case (.useCredential, nil): sender.continueWithoutCredential(for: challenge)
            case (.performDefaultHandling, _): sender.performDefaultHandling(for: challenge)
            case (.cancelAuthenticationChallenge, _): sender.cancel(challenge)
            case (.rejectProtectionSpace, _): sender.rejectProtectionSpaceAndContinue(with: challenge)
            }
        }
    }

    func stop() {
        client.close()
        object.abandon()
        worker.run { [object] in object.stop() }
    }
}

/// The object of a class that loads. Made, used and let go of by one worker.
private final class ProtocolObject: Sendable {
    private struct State {
        var object: URLProtocol?
        var isAbandoned = false
    }

    private let state = Lock(State())

    /// Its turn may not have come yet; then it is not started at all.
    func abandon() {
        state.withLock { $0.isAbandoned = true }
    }

    private var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    func start(
        _ choice: ProtocolDoor.Choice,
        for task: URLSessionTask,
        cache: URLCache?,
        _ client: ProtocolClient
    ) {
        guard !isAbandoned else { return }
        let cached = cache?.cachedResponse(for: choice.request.naming(hostOf: task.session.headers))
        let object = choice.type.init(task: task, cachedResponse: cached, client: client)
        guard !isAbandoned else { return }
        state.withLock { $0.object = object }
        object.startLoading()
    }

    func stop() {
        let object = state.withLock { state in
            defer { state.object = nil }
            return state.object
        }
        object?.stopLoading()
    }
}
