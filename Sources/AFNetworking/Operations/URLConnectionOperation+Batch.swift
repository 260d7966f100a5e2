import Dispatch
public import Foundation

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
    ///     operation's completion queue. Two calls for operations that finish together may have the same number.
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
        for operation in operations {
            operation.completionGroup = group
            last.addDependency(operation)
            guard !operation.isFinished else { continue }
            group.enter()
            operation.joinBatch(group, of: operations, progress: progressBlock)
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
        _ group: DispatchGroup,
        of operations: [URLConnectionOperation],
        progress: (@Sendable (UInt, UInt) -> Void)?
    ) {
        wrapCompletion { original in
            { operation in
                // The operation's own block is enqueued in the group before the group is left.
                if let original { operation.enqueue(original) }
                MainQueue.completeWhenQuiet(on: operation.completionQueue, group: group) {
                    let finished = operations.count { $0.isFinished }
                    progress?(UInt(finished), UInt(operations.count))
                    group.leave()
                }
            }
        }
    }
}
