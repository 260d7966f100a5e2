import AFBase
import AFLoop
import AFTransport
import Foundation

/// A URL protocol class as the source of one load. Confined to the loop; the class itself runs on the worker.
final class ProtocolSource: LoadSource {
    private let client: ProtocolClient
    private let object = ProtocolObject()
    private let worker: any BlockingWorker

    /// - Parameter cache: Where to look for a stored response for the class.
    init(
        choice: ProtocolClasses.Choice,
        for load: ForeignLoad,
        of task: URLSessionTask,
        cache: URLCache?,
        limit: Int,
        on worker: any BlockingWorker
    ) {
        let client = ProtocolClient(load: LoopBound(confined: load, on: task.session.world.loop), limit: limit)
        self.client = client
        self.worker = worker
        worker.run { [object] in object.start(choice, for: task, cache: cache, client: client) }
    }

    func take() -> [LoadEvent] { client.take() }

    func answer(
        _ challenge: URLAuthenticationChallenge,
        disposition: URLSession.AuthChallengeDisposition,
        credential: URLCredential?
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

/// The `URLProtocol` object of one load. One worker makes, uses and releases it.
private final class ProtocolObject: Sendable {
    private struct State {
        var object: URLProtocol?
        var isAbandoned = false
    }

    private let state = Lock(State())

    /// Stops the object. If its turn has not come yet, the worker does not start it at all.
    func abandon() {
        state.withLock { $0.isAbandoned = true }
    }

    private var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    func start(
        _ choice: ProtocolClasses.Choice,
        for task: URLSessionTask,
        cache: URLCache?,
        client: ProtocolClient
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
