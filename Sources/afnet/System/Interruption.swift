import Dispatch
import Glibc

/// Hears of ctrl-C, and of the wish of others that we end.
@MainActor final class Interruption {
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter handler: called on the main queue.
    func onArrival(_ handler: @escaping @MainActor @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM] {
            // The source hears of it all the same.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { MainActor.assumeIsolated { handler() } }
            source.resume()
            sources.append(source)
        }
    }

    /// Returns when it has arrived.
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
