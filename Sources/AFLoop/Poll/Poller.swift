/// What a descriptor has become ready for since it was last reported.
package struct Readiness: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let readable = Readiness(rawValue: 1)
    package static let writable = Readiness(rawValue: 2)
    /// The peer closed or the connection broke: reading will reach the end.
    package static let hangup = Readiness(rawValue: 4)
}

/// The number under which a descriptor is known to the poller. It carries the registration's generation, so an event
/// meant for an earlier owner of the same slot is recognised and dropped.
package typealias PollToken = UInt64

package struct ReadyEvent: Sendable {
    package let token: PollToken
    package let readiness: Readiness

    package init(token: PollToken, readiness: Readiness) {
        self.token = token
        self.readiness = readiness
    }
}

/// Time and readiness: the first of the three seams through which the world enters.
///
/// Readiness is edge-triggered: the poller reports it once, when it comes about, and the channel that is told keeps
/// working until the descriptor says "would block".
package protocol Poller: AnyObject {
    /// The monotonic clock.
    var now: LoopInstant { get }

    /// Wakes `poll` from any thread.
    var waker: any Waker { get }

    func add(_ descriptor: Int32, token: PollToken) throws(SystemCallError)
    func remove(_ descriptor: Int32)

    /// Waits until something is ready, the waker is used, or `deadline` passes (`nil`: for ever), and appends what is
    /// ready. A deadline in the past means "look, do not wait".
    func poll(until deadline: LoopInstant?, into events: inout [ReadyEvent])
}

package protocol Waker: Sendable {
    func wake()
}
