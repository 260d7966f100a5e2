import AFNetworking
import Dispatch

/// Returns when the main queue has run all enqueued blocks.
@MainActor func mainQueueSettled() async {
    // First what goes there by way of the network thread.
    await withCheckedContinuation { continuation in MainQueue.whenQuiet { continuation.resume() } }
    for _ in 0..<2 {
        await withCheckedContinuation { continuation in
            OperationQueue.main.addOperation { continuation.resume() }
        }
    }
}
