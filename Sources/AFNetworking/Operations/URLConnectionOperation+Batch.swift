import Dispatch
public import Foundation
import Synchronization

extension URLConnectionOperation {
    /// Operations to enqueue together: those given, and one that depends on all of them.
    ///
    /// ```swift
    /// let batch = URLConnectionOperation.batchOfRequestOperations(operations) { finished, total in
    ///     print("\(finished) of \(total)")
    /// } completionBlock: { operations in
    ///     print("all done")
    /// }
    /// queue.addOperations(batch, waitUntilFinished: false)
    /// ```
    ///
    /// Their ``completionGroup`` becomes the batch's.
    ///
    /// - Parameters:
    ///   - operations: None may have begun.
    ///   - progressBlock: Receives after each operation how many have finished, and how many there are, on that
    ///     operation's completion queue. Each number comes once.
    ///   - completionBlock: Called once on the main queue, after the completion, success and failure blocks of all
    ///     operations. For no operations it is called too.
    @preconcurrency
    public class func batchOfRequestOperations(
        _ operations: [URLConnectionOperation]?,
        progressBlock: (@Sendable (_ finished: UInt, _ total: UInt) -> Void)?,
        completionBlock: (@Sendable ([URLConnectionOperation]) -> Void)?
    ) -> [Operation] {
        guard let operations, !operations.isEmpty else {
            return [BlockOperation { MainQueue.async { completionBlock?([]) } }]
        }
        let group = DispatchGroup()
        let last = BlockOperation {
            group.notify(queue: .global()) { MainQueue.async { completionBlock?(operations) } }
        }
        let count = BatchCount(total: operations.count)
        for operation in operations {
            operation.completionGroup = group
            last.addDependency(operation)
            guard !operation.isFinished else {
                _ = count.addOne()
                continue
            }
            operation.joinBatch(BatchSeat(in: group), counting: count, progress: progressBlock)
        }
        return operations + [last]
    }

    /// ``batchOfRequestOperations(_:progressBlock:completionBlock:)``, as Swift has imported it since its third version.
    @preconcurrency
    public class func batch(
        ofRequestOperations operations: [URLConnectionOperation]?,
        progressBlock: (@Sendable (_ finished: UInt, _ total: UInt) -> Void)?,
        completionBlock: (@Sendable ([URLConnectionOperation]) -> Void)?
    ) -> [Operation] {
        batchOfRequestOperations(operations, progressBlock: progressBlock, completionBlock: completionBlock)
    }

    private func joinBatch(
        _ seat: BatchSeat,
        counting count: BatchCount,
        progress: (@Sendable (UInt, UInt) -> Void)?
    ) {
        wrapCompletion { original in
            { operation in
                // The operation's own block is enqueued in the group before the group is left.
                if let original { operation.enqueue(original) }
                MainQueue.completeWhenQuiet(on: operation.completionQueue, group: seat.group) {
                    progress?(count.addOne(), UInt(count.total))
                    seat.leave()
                }
            }
        }
    }
}

/// An operation's part in the group of its batch. An operation that is released without having run leaves as well: a group
/// must not end with parts in it.
private final class BatchSeat: Sendable {
    let group: DispatchGroup
    private let hasLeft = Atomic(false)

    init(in group: DispatchGroup) {
        self.group = group
        group.enter()
    }

    deinit { leave() }

    func leave() {
        if !hasLeft.exchange(true, ordering: .relaxed) { group.leave() }
    }
}

/// How many operations of a batch have finished. It holds none of them: a batch that is never enqueued would never be
/// released.
private final class BatchCount: Sendable {
    let total: Int
    private let finished = Atomic<UInt>(0)

    init(total: Int) {
        self.total = total
    }

    func addOne() -> UInt { finished.add(1, ordering: .relaxed).newValue }
}
