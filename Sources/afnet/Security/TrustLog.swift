import AFURLSession
import Foundation

/// The server that was judged last, for `--verbose`.
@MainActor final class TrustLog {
    private var latest: ServerTrust?

    nonisolated func note(_ trust: ServerTrust) {
        // The way the session's callbacks take, so that it is known before them.
        OperationQueue.main.addOperation {
            MainActor.assumeIsolated { self.latest = trust }
        }
    }

    /// The server, if one was judged since the last time.
    func take() -> ServerTrust? {
        defer { latest = nil }
        return latest
    }
}
