import AFNetworkingTesting
import AFURLSession
import Foundation

extension FuzzTarget {
    /// What servers show of themselves, and what we are given to show.
    static let certificates = [certificate, pem, chain, pkcs12, key]

    private static let site: (authority: CertificateAuthority, issued: IssuedCertificate)? = {
        guard let authority = try? CertificateAuthority("Fuzzed Root"),
            let issued = try? authority.issue(for: "a.test", "*.b.test", "127.0.0.1")
        else { return nil }
        return (authority, issued)
    }()

    private static let certificate = FuzzTarget(
        "certificate",
        seeds: [site.map { $0.issued.der }, site.map { $0.authority.der }].compactMap { $0 }
    ) { input in
        guard let certificate = try? Certificate(der: input) else { return }
        _ = (certificate.subject, certificate.issuer, certificate.summary, certificate.pin)
        for host in ["a.test", "x.b.test", "127.0.0.1"] {
            guard let name = PeerName(host) else { continue }
            _ = HostnameMatcher.matches(certificate, name)
        }
        try expect(try Certificate(der: certificate.derBytes) == certificate, "written and read again it is another")
    }

    private static let pem = FuzzTarget(
        "pem",
        longest: 8192,
        seeds: [site.map { Array($0.issued.chainPEM.utf8) }].compactMap { $0 }
    ) { input in
        _ = try? Certificate.certificates(in: input)
    }

    /// Only the authority can make a certificate that is trusted, whatever the bytes.
    private static let chain = FuzzTarget("chain", seeds: [site.map { $0.issued.der }].compactMap { $0 }) { input in
        guard let site, let shown = try? Certificate(der: input) else { return }
        let trust = ServerTrust(
            servedChain: [shown, site.authority.certificate],
            host: "a.test",
            anchors: .certificates([site.authority.certificate])
        )
        guard trust.evaluation.isTrusted else { return }
        try expect(shown == site.issued.certificate, "a certificate that the authority has not issued is trusted")
    }

    private static let pkcs12 = FuzzTarget(
        "pkcs12",
        longest: 8192,
        seeds: [try? site?.issued.pkcs12(passphrase: "p")].compactMap { $0 }.map { Array($0) }
    ) { input in
        _ = try? ClientIdentity(pkcs12: input, passphrase: "p")
    }

    private static let key = FuzzTarget(
        "identity",
        longest: 8192,
        seeds: [site.map { Array(($0.issued.pem + $0.issued.privateKeyPEM).utf8) }].compactMap { $0 }
    ) { input in
        _ = try? ClientIdentity(pem: input, passphrase: "p")
    }
}
