import AFBase
import AFLoop
import Foundation

/// Takes what a URL protocol class reports, from any thread, to the load.
///
/// The events wait here until the load takes all of them at once, when it has delivered those it took before.
final class ProtocolClient: NSObject, URLProtocolClient {
    private struct State {
        var load: LoopBound<ForeignLoad>?
        var events: [LoadEvent] = []
        /// How many bytes these events hold.
        var count = 0
        /// Whether the load knows of the events, or will look by itself.
        var isAnnounced = false
        var isClosed = false
    }

    private let state: Lock<State>
    private let limit: Int

    /// - Parameter limit: How many bytes may wait here.
    init(load: LoopBound<ForeignLoad>, limit: Int) {
        state = Lock(State(load: load))
        self.limit = limit
    }

    // MARK: - From the load

    func take() -> [LoadEvent] {
        state.withLock { state in
            defer {
                state.isAnnounced = !state.events.isEmpty
                state.events = []
                state.count = 0
            }
            return state.events
        }
    }

    func close() {
        // Release the events after the lock: that may run code of the program.
        _ = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state
        }
    }

    // MARK: - From the class

    private func post(_ event: LoadEvent) {
        let load = state.withLock { state -> LoopBound<ForeignLoad>? in
            guard !state.isClosed else { return nil }
            let taken = admit(event, with: state.count)
            if case .data(let data) = taken { state.count += data.count }
            state.events.append(taken)
            state.isClosed = taken.isLast
            defer { state.isAnnounced = true }
            return state.isAnnounced ? nil : state.load
        }
        guard let load else { return }
        load.loop.enqueue { load.value.goOn() }
    }

    private func admit(_ event: LoadEvent, with waiting: Int) -> LoadEvent {
        guard case .data(let data) = event, data.count > limit - waiting else { return event }
        return .failed(.bodyTooLong(limit: limit))
    }

    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        post(.redirect(request, redirectResponse))
    }

    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        post(.cachedResponse(cachedResponse))
    }

    func urlProtocol(
        _ protocol: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        post(.response(response, policy))
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {
        if !data.isEmpty { post(.data(data)) }
    }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) {
        post(.finished)
    }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
        post(.failed(.foreign(error)))
    }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        post(.challenge(challenge))
    }

    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        post(.challengeWithdrawn(challenge))
    }
}
