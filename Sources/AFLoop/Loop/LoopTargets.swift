import Glibc

/// Told what its channel has become ready for.
package protocol ChannelTarget: AnyObject {
    func channelReady(_ readiness: Readiness)
}

/// Called once at the end of the turn in which it asked.
package protocol TurnEndTarget: AnyObject {
    func turnEnded()
}

/// Releases its descriptor when the turn is over.
package protocol DeferredClosing: AnyObject {
    func closeNow()
}

func currentThread() -> UInt { UInt(pthread_self()) }
