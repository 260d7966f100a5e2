@Suite struct PolicyLintTests {
    typealias Kind = SecurityPolicy.Finding.Kind

    private let root: CertificateAuthority
    private let good: PinSet
    private let now = Date()

    init() throws {
        root = try CertificateAuthority { $0.notAfter = Date().addingTimeInterval(900 * 86_400) }
        good = PinSet(
            [.certificate(root.certificate)],
            backups: [Pin.publicKey(try CertificateAuthority().certificate.pin)]
        )
    }

    private func kinds(_ policy: SecurityPolicy, _ url: String? = nil) -> [Kind] {
        policy.lint(baseURL: url.flatMap { URL(string: $0) }, at: now).map(\.kind)
    }

    private func policy(_ hosts: String, _ set: PinSet) throws -> SecurityPolicy {
        let policy = SecurityPolicy()
        policy.hostRules = [try .pins(hosts, set)]
        return policy
    }

    private func set(_ change: (inout PinSet) -> Void) -> PinSet {
        var set = good
        change(&set)
        return set
    }

    @Test func `a policy that is in order has no findings`() throws {
        #expect(kinds(SecurityPolicy()) == [])
        #expect(kinds(try policy("*.example.com", good), "https://api.example.com") == [])
        #expect(kinds(try policy("*.example.com", set { $0.expiry = .init(now + 31 * 86_400, .failOpen) })) == [])
    }

    @Test func `an authority whose form breaks a rule is noted where the pins are the authorities`() throws {
        let flawed = try CertificateAuthority("Own") {
            $0.keyUsage = nil
            $0.notAfter = now.addingTimeInterval(900 * 86_400)
        }
        let certificates = [root.certificate, flawed.certificate]

        let findings = SecurityPolicy(pinningMode: .certificate, certificates: certificates).lint(at: now)

        #expect(findings.map(\.kind) == [.flawedAuthority] && findings.first?.severity == .note)
        #expect(findings.first?.message.contains("\"CN=Own\" does not say what its key is for") == true)
        #expect(kinds(SecurityPolicy(pinningMode: .publicKey, certificates: certificates)) == [])
    }

    @Test func `each mistake in a rule is found`() throws {
        let rows: [(PinSet, Kind)] = [
            (set { $0.backupPins = [] }, .noBackupPin),
            (set { $0.backupPins = $0.pins }, .sharedBackupPin),
            (PinSet([Pin]()), .emptyPinSet),
            (set { $0.expiry = .init(now - 1, .failOpen) }, .expiredPinSet),
            (set { $0.expiry = .init(now - 1, .failClosed) }, .expiredPinSet),
            (set { $0.expiry = .init(now + 29 * 86_400, .failClosed) }, .expiringPinSet),
            (set { $0.isReportOnly = true }, .unheardReports),
            (set { $0.pins = [.certificate(DatedCertificates.expiring)] }, .expiringCertificate),
        ]
        for (set, kind) in rows {
            let findings = try policy("api.example.com", set).lint(at: now)
            #expect(findings.map(\.kind) == [kind])
            #expect(findings.first?.hosts?.description == "api.example.com")
            #expect(findings.first.map { "\($0)".contains(kind.rawValue) } == true)
        }
    }

    @Test("pins for a base URL that is http are found, T-TLS-20")
    func plainText() throws {
        #expect(kinds(try policy("*.example.com", good), "HTTP://api.example.com/v1") == [.plainText])
        let policy = SecurityPolicy(
            pinningMode: .publicKey,
            certificates: [root.certificate, DatedCertificates.lasting]
        )
        #expect(kinds(policy, "http://anything.test") == [.plainText])
        #expect(kinds(policy, "https://anything.test") == [])
    }

    @Test func `patterns that are too broad or meet are found`() throws {
        #expect(kinds(try policy("*.com", good)) == [.broadPattern])
        #expect(kinds(try policy("**.internal", good)) == [.broadPattern])
        let policy = SecurityPolicy()
        policy.hostRules = [
            try .pins("**.example.com", good), try .pins("*.api.example.com", good), try .noPins("x.api.example.com"),
            try .pins("example.com", good), try .noPins("EXAMPLE.com"),
        ]

        let findings = policy.lint(at: now)

        #expect(findings.map(\.kind) == [.duplicateRule] + Array(repeating: .overlappingRules, count: 3))
        #expect(findings.map(\.severity) == findings.map(\.severity).sorted(by: >))
    }

    @Test func `each dangerous combination of switches is found`() throws {
        func policy(_ mode: SSLPinningMode, _ pins: [Certificate], _ change: (SecurityPolicy) -> Void) -> SecurityPolicy
        {
            let policy = SecurityPolicy(pinningMode: mode, certificates: pins)
            change(policy)
            return policy
        }
        let two = [root.certificate, DatedCertificates.lasting]

        #expect(kinds(policy(.none, []) { $0.allowInvalidCertificates = true }) == [.noAuthentication])
        #expect(kinds(policy(.publicKey, two) { $0.allowInvalidCertificates = true }) == [.keyAlone])
        #expect(kinds(policy(.certificate, two) { $0.allowInvalidCertificates = true }) == [])
        #expect(kinds(policy(.none, []) { $0.validatesDomainName = false }) == [.noNameCheck])
        #expect(kinds(policy(.publicKey, []) { _ in }) == [.emptyPinSet])
        #expect(kinds(policy(.publicKey, [root.certificate]) { _ in }) == [.noBackupPin])
        #expect(kinds(policy(.certificate, two + [DatedCertificates.expiring]) { _ in }) == [.expiringCertificate])
        #expect(kinds(policy(.certificate, two) { $0.pinnedCertificates = [Data([1])] }) == [.unreadablePin])
        #expect(kinds(policy(.none, two) { _ in }) == [.unusedPins])
        #expect(kinds(policy(.none, []) { $0.refusesHostsWithoutRule = true }) == [.noRules])
    }
}

/// Certificates that end at some time.
private enum DatedCertificates {
    static let lasting = made { $0.notAfter = Date().addingTimeInterval(900 * 86_400) }
    static let expiring = made { $0.notAfter = Date().addingTimeInterval(20 * 86_400) }

    private static func made(_ change: (inout CertificateTemplate) -> Void) -> Certificate {
        guard let authority = try? CertificateAuthority("Ends", change) else { preconditionFailure("no certificate") }
        return authority.certificate
    }
}
