package import AFLoop
package import AFTLS
import Dispatch
import Foundation

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
