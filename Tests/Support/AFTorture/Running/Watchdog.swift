import AFBase
import AFLoop
import AFTestSupport
import Foundation
import Glibc

/// Ends the process when a playing does not end, after saying where it stood.
final class Watchdog: Sendable {
    /// The exit code of a process that hung.
    static let code: Int32 = 75
    /// Nothing that is played waits for a clock, and the machine may have other work.
    private static let patience = Duration.seconds(30)

    private struct Watched {
        let point: String
        let stage: Stage
        let since: ContinuousClock.Instant
    }

    private let watched = Lock<Watched?>(nil)

    func watch(_ point: String, _ stage: Stage) {
        watched.withLock { $0 = Watched(point: point, stage: stage, since: .now) }
    }

    func rest() {
        watched.withLock { $0 = nil }
    }

    func start(_ report: @escaping @Sendable (String, String) -> Void) {
        Thread.detachNewThread { [watched] in
            while true {
                usleep(100_000)
                guard let now = watched.withLock({ $0 }), .now - now.since > Self.patience else { continue }
                report(now.point, "hangs \(now.stage.whereabouts)")
                _exit(Self.code)
            }
        }
    }
}
