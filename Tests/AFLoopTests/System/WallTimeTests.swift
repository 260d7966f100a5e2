import AFLoop
import Foundation
import Testing

@Suite("The time of day")
struct WallTimeTests {
    @Test(arguments: [
        (0, 100), (1, 100), (400_000_000, 100), (400_000_001, 99), (1_000_000_000, 99), (1_400_000_000, 99),
        (1_400_000_001, 98), (3_400_000_001, 96),
    ])
    func `what happened a while ago was in the second that the clock said then`(elapsed: Int64, second: Int64) {
        #expect(WallTime(seconds: 100, nanoseconds: 400_000_000).second(before: elapsed) == second)
    }

    @Test func `the system's time is that of Foundation`() {
        let before = Date().timeIntervalSince1970
        let now = WallTime.now()
        let after = Date().timeIntervalSince1970
        #expect((Int64(before)...Int64(after)).contains(now.seconds))
    }
}
