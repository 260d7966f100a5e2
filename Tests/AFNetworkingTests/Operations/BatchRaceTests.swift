import AFBase
import Dispatch

@testable import AFNetworking

/// Batches of operations that end while the batch is made.
@Suite struct BatchRaceTests {
    private let own = Heard<Int>()
    private let batches = Heard<Int>()

    private let progress = Heard<[UInt]>()

    /// Ends, and has its completion block called, when it is asked for the first time whether it has.
    private final class EndingMeanwhile: URLConnectionOperation, @unchecked Sendable {
        private let isAsked = Lock(false)

        override var isFinished: Bool {
            let hasEnded = super.isFinished
            let isFirst = isAsked.withLock { isAsked in
                defer { isAsked = true }
                return !isAsked
            }
            guard isFirst else { return hasEnded }
            cancel()
            start()
            let deadline = Date(timeIntervalSinceNow: 60)
            while super.completionBlock != nil, deadline.timeIntervalSinceNow > 0 { usleep(1_000) }
            return hasEnded
        }
    }

    @Test func `an operation that ends right after its batch has looked completes once, and its batch too`()
        async throws
    {
        let operation = EndingMeanwhile(request: URLRequest(url: URL(filePath: "/")))
        operation.completionQueue = DispatchQueue(label: "BatchRaceTests")
        operation.completionBlock = { [own] in own.add(7) }

        let batch = URLConnectionOperation.batchOfRequestOperations([operation]) { [progress] finished, total in
            progress.add([finished, total])
        } completionBlock: { [batches] all in
            batches.add(all.count)
        }
        OperationQueue().add(Array(batch.dropFirst()))

        #expect(try await batches.wait(for: 1) == [1])
        #expect(own.all == [7] && progress.all == [[1, 1]])
        await mainQueueSettled()
        #expect(own.all == [7] && batches.all == [1] && operation.completionBlock == nil)
    }
}
