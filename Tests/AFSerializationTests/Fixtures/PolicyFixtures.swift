/// The certificates of the acceptance catalogue, made once for all tests.
struct PolicyFixtures {
    static let made = Result { try PolicyFixtures() }

    /// Trusted by the session: what the catalogue calls the system's authorities.
    let root: CertificateAuthority
    let crossRoot: CertificateAuthority
    let intermediate: CertificateAuthority
    /// For `httpbin.org` and `*.httpbin.org`.
    let leafA: IssuedCertificate
    /// For `app.net`, and of authorities that share nothing with the others.
    let leafB: IssuedCertificate
    let rootB: CertificateAuthority
    /// Self-signed: without a name, with one in the subject only, with one where it belongs.
    let n: IssuedCertificate
    let f: IssuedCertificate
    let l: IssuedCertificate

    init() throws {
        root = try CertificateAuthority("Fixture Root")
        crossRoot = try CertificateAuthority("Fixture Cross Root").crossSign(root)
        intermediate = try root.makeIntermediate("Fixture Intermediate")
        leafA = try intermediate.issue(for: "httpbin.org", "*.httpbin.org")
        rootB = try CertificateAuthority("Other Root")
        leafB = try rootB.makeIntermediate("Other Intermediate").issue(for: "*.app.net", "app.net")
        n = try Self.selfSigned("No Domains", names: [])
        f = try Self.selfSigned("foobar.com", names: [])
        l = try Self.selfSigned("Alt Name", names: [.dns("foobar.com")])
    }

    static func selfSigned(
        _ commonName: String,
        names: [CertificateTemplate.AlternativeName],
        _ change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> IssuedCertificate {
        var template = CertificateTemplate(subject: [.commonName(commonName)])
        template.alternativeNames = names
        template.extendedKeyUsage = [.serverAuthentication]
        change(&template)
        return try .selfSigned(template)
    }

    /// A server that shows these, for a session that trusts `root` and `rootB`.
    func trust(_ chain: [Certificate], host: String = "httpbin.org", at date: Date = Date()) -> ServerTrust {
        let anchors = TrustAnchors.certificates([root.certificate, rootB.certificate])
        return ServerTrust(servedChain: chain, host: host, anchors: anchors, at: date)
    }
}

extension ServerTrustDecision {
    /// The rule that failed, or `untrusted` and why the chain is not trusted.
    var rule: String? {
        switch self {
        case .accept: nil
        case .untrusted(let failure): "untrusted: \(failure.reason)"
        case .reject(let rule, _): rule
        }
    }

    var explanation: String {
        switch self {
        case .accept: ""
        case .untrusted(let failure): failure.message
        case .reject(_, let explanation): explanation
        }
    }
}
