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

    /// Waits for one of the signals.
    static func wait() async {
        let interruption = Interruption()
        let (arrivals, continuation) = AsyncStream<Void>.makeStream()
        interruption.onArrival { continuation.finish() }
        for await _ in arrivals {}
        interruption.stop()
    }

    func stop() {
        for source in sources { source.cancel() }
        sources = []
    }
}
