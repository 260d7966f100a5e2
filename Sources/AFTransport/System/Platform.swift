package import AFLoop
import Dispatch
import Foundation

/// What the transport touches outside itself: the loop with its clock and poller, a way to open channels, a resolver,
/// and threads for what may block. Sessions in one platform share its buffers.
package final class Platform: Sendable {
    package let loop: EventLoop
    package let opener: any ChannelOpener
    package let resolver: LoopBound<any Resolver>
    /// Where files are read and written, and streams are read.
    package let workers: any BlockingWorkers
    /// The time of day, at which certificates must be valid.
    package let wallClock: @Sendable () -> WallTime
    package let readBuffer: LoopBound<ReadBuffer>
    package let contentPage: LoopBound<ContentPage>
    package let trustStores = TrustStoreLoader()
    let tlsBuffers: LoopBound<TLSBuffers>
    let handshakeBudget: LoopBound<HandshakeBudget>

    package init(
        loop: EventLoop,
        opener: any ChannelOpener,
        resolver: LoopBound<any Resolver>,
        workers: any BlockingWorkers = DispatchWorkers(),
        wallClock: @escaping @Sendable () -> WallTime = WallTime.now
    ) {
        self.loop = loop
        self.opener = opener
        self.resolver = resolver
        self.workers = workers
        self.wallClock = wallClock
        readBuffer = LoopBound(ReadBuffer(), on: loop)
        contentPage = LoopBound(ContentPage(), on: loop)
        tlsBuffers = LoopBound(TLSBuffers(), on: loop)
        handshakeBudget = LoopBound(HandshakeBudget(), on: loop)
    }
}
