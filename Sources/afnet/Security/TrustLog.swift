import AFNetworking
import Foundation

/// The servers that were judged, for `--verbose` and `--report`. A connection that is used again has no new verdict.
@MainActor final class TrustLog {
    private var latest: [String: ServerTrust] = [:]

    nonisolated func note(_ trust: ServerTrust) {
        // On the queue of the session's callbacks, so that it arrives before them.
        OperationQueue.main.addOperation {
            MainActor.assumeIsolated { self.latest[Self.key(trust.host)] = trust }
        }
    }

    /// The server of this host as it was last judged.
    func server(_ host: String?) -> ServerTrust? { host.flatMap { latest[Self.key($0)] } }

    nonisolated private static func key(_ host: String) -> String {
        let name = host.lowercased()
        return name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
    }
}
