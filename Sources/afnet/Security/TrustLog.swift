import AFURLSession
import Foundation

/// The servers that were judged, for `--verbose`.
@MainActor final class TrustLog {
    private var latest: [String: ServerTrust] = [:]

    nonisolated func note(_ trust: ServerTrust) {
        // The way the session's callbacks take, so that it is known before them.
        OperationQueue.main.addOperation {
            MainActor.assumeIsolated { self.latest[Self.key(trust.host)] = trust }
        }
    }

    /// The server of this host, if it was judged since the last time.
    func take(for host: String?) -> ServerTrust? { latest.removeValue(forKey: Self.key(host ?? "")) }

    nonisolated private static func key(_ host: String) -> String {
        host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    }
}
