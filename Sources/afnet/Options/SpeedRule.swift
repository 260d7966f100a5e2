import AFURLSession
import Foundation

/// How many bytes a second there must be, on average over so many seconds.
struct SpeedRule: Sendable {
    let bytes: Int64
    let seconds: Double

    var message: String {
        "fewer than \(bytes) bytes in a second came and went for \(String(format: "%g", seconds)) s"
    }

    /// Waits until there are fewer; false if the task is cancelled before.
    ///
    /// - Parameter moved: How many bytes there were so far.
    @MainActor func isBroken(by moved: () -> Int64) async -> Bool {
        var former = (bytes: moved(), time: ContinuousClock.now)
        while (try? await Task.sleep(for: .seconds(seconds))) != nil {
            let now = (bytes: moved(), time: ContinuousClock.now)
            if Double(now.bytes - former.bytes) < Double(bytes) * ((now.time - former.time) / .seconds(1)) {
                return true
            }
            former = now
        }
        return false
    }
}
