package import AFLoop
package import AFTLS
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
    /// Seconds since 1970: the moment for which certificates must be valid.
    package let wallClock: @Sendable () -> Int64
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
        wallClock: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
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

/// How many handshakes go on in one turn of the loop.
///
/// A step of one takes up to half a millisecond of arithmetic. A burst of new
/// connections must leave room for those that already carry data.
package final class HandshakeBudget {
    private static let stepsPerTurn = 8

    private var turn: UInt64 = 0
    private var taken = 0

    /// False if the step has to wait for the next turn.
    package func take(in turn: UInt64) -> Bool {
        if self.turn != turn {
            self.turn = turn
            taken = 0
        }
        taken += 1
        return taken <= HandshakeBudget.stepsPerTurn
    }
}

/// The ciphertext of the secured connection that is at work. A connection copies what it cannot finish, so one pair
/// serves all connections of a loop.
package final class TLSBuffers {
    /// Four records for one `send`: one by one they cost a fifth more.
    static let sealedRecords = 4
    private static let inputSize = 128 << 10

    package let input = UnsafeMutableRawBufferPointer.allocate(byteCount: TLSBuffers.inputSize, alignment: 64)
    package let output = UnsafeMutableRawBufferPointer.allocate(
        byteCount: (TLSBuffers.sealedRecords + 1) * TLSEngine.outputReserve,
        alignment: 64
    )
    /// The buffers of connections to proxies: such a connection and the one within it are at work at the same time.
    private(set) lazy var ofProxies: TLSBuffers = TLSBuffers()
    /// Where the end of a head and the beginning of its body become one record.
    package let record = UnsafeMutableRawBufferPointer.allocate(byteCount: TLSEngine.recordSize, alignment: 64)

    package init() {}

    deinit {
        input.deallocate()
        output.deallocate()
        record.deallocate()
    }
}

/// Loads the anchors away from the loop: those of the system are in files, and a disk may take any time.
package final class TrustStoreLoader: Sendable {
    private let queue = DispatchQueue(label: "AFURLSession.anchors", attributes: .concurrent)

    /// Begins to load the anchors, so that they are ready when the connection is.
    package func prefetch(_ anchors: TrustAnchors) {
        guard !anchors.isLoaded else { return }
        queue.async { _ = try? anchors.store() }
    }

    /// Calls back on the loop: at once if nothing has to be loaded.
    package func prepare(
        _ anchors: TrustAnchors,
        for loop: EventLoop,
        ready: @escaping @Sendable (TrustAnchorsError?) -> Void
    ) {
        guard !anchors.isLoaded else { return ready(TrustStoreLoader.load(anchors)) }
        queue.async {
            let problem = TrustStoreLoader.load(anchors)
            loop.enqueue(in: .all) { ready(problem) }
        }
    }

    private static func load(_ anchors: TrustAnchors) -> TrustAnchorsError? {
        do throws(TrustAnchorsError) {
            _ = try anchors.store()
            return nil
        } catch {
            return error
        }
    }
}
