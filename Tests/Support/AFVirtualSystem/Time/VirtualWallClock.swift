package import AFLoop

/// The time of day: it goes with the virtual clock, and a test may set it.
package final class VirtualWallClock {
    private let clock: VirtualClock
    private let faults: Faults
    /// In seconds: 14 November 2023, and by how much it was set since then.
    private var offset: Int64 = 1_700_000_000

    init(clock: VirtualClock, faults: Faults) {
        self.clock = clock
        self.faults = faults
    }

    /// Sets the clock, as a user or NTP would.
    package func set(by seconds: Int64) {
        offset += seconds
    }

    /// It may have been set just now.
    package func now() -> WallTime {
        if faults.strikes(.wallForward) { offset += Int64(faults.draw(.wallForward, 1...90_000)) }
        if faults.strikes(.wallBackward) { offset -= Int64(faults.draw(.wallBackward, 1...90_000)) }
        if faults.strikes(.wallFarFuture) { offset = 4_000_000_000 }
        if faults.strikes(.wallReset) { offset = 0 }
        let (seconds, nanoseconds) = clock.now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return WallTime(seconds: offset + seconds, nanoseconds: nanoseconds)
    }
}
