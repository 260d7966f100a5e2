import Dispatch
import Glibc

/// Handles SIGINT and SIGTERM.
@MainActor final class Interruption {
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter handler: Called on the main queue.
    func onArrival(_ handler: @escaping @MainActor @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM] {
            // The dispatch source still gets the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { MainActor.assumeIsolated { handler() } }
            source.resume()
            sources.append(source)
        }
    }

    /// Ends with the first signal from now on.
    func arrivals() -> AsyncStream<Void> {
        let (arrivals, continuation) = AsyncStream<Void>.makeStream()
        onArrival { continuation.finish() }
        return arrivals
    }

    func stop() {
        for source in sources { source.cancel() }
        sources = []
    }
}
