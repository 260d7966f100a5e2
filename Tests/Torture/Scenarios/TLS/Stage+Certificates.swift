import AFNetworkingTesting
import AFTorture

/// Certificates beside the right one, made once in each process.
private struct MoreCertificates {
    let client: IssuedCertificate
    let other: IssuedCertificate
    let elsewhere: IssuedCertificate
    let expired: IssuedCertificate
    let foreign: IssuedCertificate

    static let shared = Result {
        let authority = try Stage.authority
        return MoreCertificates(
            client: try authority.issueClient("me"),
            other: try authority.issue(for: "localhost", "127.0.0.1"),
            elsewhere: try authority.issue(for: "elsewhere.test"),
            expired: try authority.issue(for: "localhost", "127.0.0.1") { $0.expire() },
            foreign: try authority.makeImpostor().issue(for: "localhost", "127.0.0.1")
        )
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
    /// From somebody who calls himself like our authority.
    static var foreign: IssuedCertificate { get throws { try MoreCertificates.shared.get().foreign } }
}
