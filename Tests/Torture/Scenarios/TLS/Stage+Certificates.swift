import AFNetworkingTesting
import AFTorture

/// Certificates beside the right one, made once in each process.
private struct MoreCertificates {
    let client: IssuedCertificate
    let other: IssuedCertificate
    let elsewhere: IssuedCertificate
    let expired: IssuedCertificate
    let foreign: IssuedCertificate
    let clientOnly: IssuedCertificate
    let strict: IssuedCertificate
    let deep: IssuedCertificate

    static let shared = Result {
        let authority = try Stage.authority
        return MoreCertificates(
            client: try authority.issueClient("me"),
            other: try authority.issue(for: "localhost", "127.0.0.1"),
            elsewhere: try authority.issue(for: "elsewhere.test"),
            expired: try authority.issue(for: "localhost", "127.0.0.1") { $0.expire() },
            foreign: try authority.makeImpostor().issue(for: "localhost", "127.0.0.1"),
            clientOnly: try authority.issue(for: "localhost", "127.0.0.1") {
                $0.extendedKeyUsage = [.clientAuthentication]
            },
            strict: try authority.makeIntermediate { $0.hasKeyIdentifiers = false }
                .issue(for: "localhost", "127.0.0.1"),
            deep: try deepest(below: authority).issue(for: "localhost", "127.0.0.1")
        )
    }

    /// One authority more than may stand between a server and its root.
    private static func deepest(below root: CertificateAuthority) throws -> CertificateAuthority {
        var authority = root
        for _ in 1...10 { authority = try authority.makeIntermediate() }
        return authority
    }
}

extension Stage {
    /// That of a client.
    static var client: IssuedCertificate { get throws { try MoreCertificates.shared.get().client } }
    /// As right as that of the site, with another key.
    static var other: IssuedCertificate { get throws { try MoreCertificates.shared.get().other } }
    /// For another host.
    static var elsewhere: IssuedCertificate { get throws { try MoreCertificates.shared.get().elsewhere } }
    static var expired: IssuedCertificate { get throws { try MoreCertificates.shared.get().expired } }
    /// From an authority with the name of ours, and another key.
    static var foreign: IssuedCertificate { get throws { try MoreCertificates.shared.get().foreign } }

    // Each of these is refused by one of the rules that OpenSSL is given, and by nothing else.

    /// For clients only.
    static var clientOnly: IssuedCertificate { get throws { try MoreCertificates.shared.get().clientOnly } }
    /// Below an authority without a key identifier, which only `X509_V_FLAG_X509_STRICT` refuses.
    static var strict: IssuedCertificate { get throws { try MoreCertificates.shared.get().strict } }
    /// Below ten authorities.
    static var deep: IssuedCertificate { get throws { try MoreCertificates.shared.get().deep } }
}
