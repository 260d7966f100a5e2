package import AFNetworkingTesting
package import AFTLS
package import AFTestSupport
package import AFTransport

/// A server that speaks TLS in memory, and the authority that vouches for it.
package struct MemorySite {
    package let authority: CertificateAuthority
    package let issued: IssuedCertificate
    package let context: MemoryServer.Context

    package init(
        _ host: String,
        _ version: TLSVersion = .v1_3,
        tickets: Int32 = 0,
        protocol name: String? = nil,
        by authority: CertificateAuthority? = nil
    ) throws {
        let authority = try authority ?? CertificateAuthority()
        try self.init(try authority.issue(for: host), version, tickets: tickets, protocol: name, by: authority)
    }

    package init(
        _ issued: IssuedCertificate,
        _ version: TLSVersion = .v1_3,
        tickets: Int32 = 0,
        protocol name: String? = nil,
        by authority: CertificateAuthority
    ) throws {
        self.authority = authority
        self.issued = issued
        context = try MemoryServer.Context(issued, version, tickets: tickets, protocol: name)
    }

    package var tls: TLSConfiguration {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        return tls
    }
}

/// Decides as its closure does.
package struct FixedEvaluator: ServerEvaluator {
    package let fingerprint: [UInt8]?
    private let decision: @Sendable (ServerTrust) -> ServerTrustDecision

    package init(_ fingerprint: [UInt8]? = nil, _ decision: @escaping @Sendable (ServerTrust) -> ServerTrustDecision) {
        self.fingerprint = fingerprint
        self.decision = decision
    }

    package func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { decision(trust) }

    package static let refusing = FixedEvaluator([1]) { _ in
        .reject(rule: "pins of the test", explanation: "no pin matches")
    }
    package static let accepting = FixedEvaluator([2]) { _ in .accept }
}
