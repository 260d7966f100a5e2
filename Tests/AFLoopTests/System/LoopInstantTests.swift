import AFLoop
import Testing

struct LoopInstantTests {
    private static let longest = Duration.seconds(Int64.max)

    private static let longer = longest + longest / 4
    private static let rows: [(Duration, Int64)] = [
        (.zero, 0), (.nanoseconds(1), 1), (.nanoseconds(-1), -1), (.seconds(1), 1_000_000_000),
        (.nanoseconds(Int64.max), .max), (.nanoseconds(Int64.max - 1), .max - 1), (.nanoseconds(Int64.min), .min),
        (.nanoseconds(Int64.min + 1), .min + 1), (longest, .max), (longer, .max), (.zero - longer, .min),
    ]

    @Test(arguments: rows)
    func `a duration of any length has nanoseconds`(duration: Duration, nanoseconds: Int64) {
        #expect(duration.saturatingNanoseconds == nanoseconds)
    }

    @Test func `no sum of an instant and a duration traps`() {
        let instant = LoopInstant(nanoseconds: 5)
        #expect(instant + Self.longer == .distantFuture)
        #expect(instant + .nanoseconds(-6) == LoopInstant(nanoseconds: -1))
    }
}
