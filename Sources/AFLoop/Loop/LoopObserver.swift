import Glibc

/// Watches the loop go round.
package final class LoopObserver {
    package struct Activities: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        package static let entry = Activities(rawValue: 1)
        package static let beforeTimers = Activities(rawValue: 2)
        package static let beforeWaiting = Activities(rawValue: 4)
        package static let afterWaiting = Activities(rawValue: 8)
        package static let exit = Activities(rawValue: 16)
        package static let all = Activities(rawValue: .max)
    }

    let activities: Activities
    let body: (Activities) -> Void

    package init(activities: Activities, body: @escaping (Activities) -> Void) {
        self.activities = activities
        self.body = body
    }
}
