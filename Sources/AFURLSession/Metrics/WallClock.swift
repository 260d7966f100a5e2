import AFLoop
import Foundation

/// Turns moments of the loop's clock into dates.
struct WallClock: Sendable {
    private let now: LoopInstant
    private let date = Date()

    init(now: LoopInstant) {
        self.now = now
    }

    func date(of instant: LoopInstant) -> Date {
        date.addingTimeInterval(-Double(instant.nanoseconds(to: now)) / 1e9)
    }

    func date(ofPhase instant: LoopInstant?) -> Date? {
        instant.map(date(of:))
    }
}
