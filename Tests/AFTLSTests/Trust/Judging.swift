import AFTLS
import Foundation

/// The moment tests judge at unless they say otherwise.
let now = Int64(Date().timeIntervalSince1970)

/// Judges what a server sent for `good.test` or another host; nil asks for no name.
func judge(
    _ served: [Certificate],
    for host: String? = "good.test",
    anchors: [CertificateAuthority] = [],
    certificates: [Certificate] = [],
    at seconds: Int64 = now,
    level: Int = 2,
    partial: Bool = false
) throws -> TrustEvaluation {
    ChainEvaluator.evaluate(
        served: served,
        policy: .tlsServer(host.flatMap { PeerName($0) }),
        store: try TrustStore(anchors.map(\.certificate) + certificates),
        at: seconds,
        securityLevel: level,
        allowsPartialChain: partial
    )
}

extension Date {
    init(seconds: Int64) {
        self.init(timeIntervalSince1970: Double(seconds))
    }
}
