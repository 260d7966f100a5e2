import CAFOpenSSL
import Testing

@testable import AFTLS

/// What only strictness finds in a root.
@Suite struct AuthorityFlawTests {
    typealias Kind = AuthorityFlaw.Kind

    struct Case: Sendable, CustomTestStringConvertible {
        let flaws: [Kind]
        let change: @Sendable (inout CertificateTemplate) -> Void

        var testDescription: String { flaws.map(\.rawValue).joined(separator: ", ") }
    }

    static let cases = [
        Case(flaws: [.missingKeyUsage]) { $0.keyUsage = nil },
        Case(flaws: [.missingKeyUsage]) {
            $0.keyUsage = nil
            $0.basicConstraints?.pathLength = 0
        },
        Case(flaws: [.uncriticalConstraints]) { $0.basicConstraints?.isCritical = false },
        Case(flaws: [.missingKeyIdentifier]) { $0.hasKeyIdentifiers = false },
        Case(flaws: [.missingKeyUsage, .uncriticalConstraints, .missingKeyIdentifier]) {
            $0.keyUsage = nil
            $0.basicConstraints?.isCritical = false
            $0.hasKeyIdentifiers = false
        },
    ]

    private func system(_ root: CertificateAuthority, naming: [Certificate] = []) throws -> TrustStore {
        var roots = RootIndex()
        roots.add(Array(root.pem.utf8))
        return try TrustStore(naming, beside: roots)
    }

    private func judged(_ site: IssuedCertificate, by store: TrustStore) -> TrustEvaluation {
        ChainEvaluator.evaluate(served: site.chain, policy: .tlsServer(.dns("good.test")), store: store, at: now)
    }

    @Test("a root that the program names may have it, and one of the system may not, T-TLS-55", arguments: cases)
    func root(example: Case) throws {
        let root = try CertificateAuthority("Own", example.change)
        let site = try root.issue(for: "good.test") {
            // It names the key of its issuer even if that does not, so that the flaw is the root's alone.
            let identifier = root.certificate.keyIdentifier ?? [1, 2]
            let count = UInt8(identifier.count)
            $0.hasKeyIdentifiers = false
            $0.otherExtensions = [.init("2.5.29.35", value: [0x30, count + 2, 0x80, count] + identifier)]
        }

        let named = try judge(site.chain, anchors: [root])
        let strange = judged(site, by: try system(root, naming: [CertificateAuthority("Other").certificate]))

        #expect(named.isTrusted && named.toleratedFlaws.map(\.kind) == example.flaws, "\(named)")
        #expect(named.toleratedFlaws.allSatisfy { $0.certificate == root.certificate })
        #expect(judged(site, by: try system(root, naming: [root.certificate])).isTrusted)
        #expect(TrustAnchors.certificates([root.certificate]).lint() == named.toleratedFlaws)
        #expect(TrustAnchors.system.adding([root.certificate]).lint() == named.toleratedFlaws)
        #expect(!strange.isTrusted && strange.toleratedFlaws == [])
        #expect(strange.failure?.reason == .malformed && strange.failure?.certificate == root.certificate)
        #expect(strange.failure?.isForgivenIfNamed == true)
    }

    @Test("an intermediate with it is refused, below whatever root, T-TLS-55", arguments: cases.dropLast(2))
    func intermediate(example: Case) throws {
        let root = try CertificateAuthority("Own") { $0.keyUsage = nil }
        let middle = try root.makeIntermediate("Middle", example.change)
        let site = try middle.issue(for: "good.test")

        let named = try judge(site.chain, anchors: [root])
        let both = try judge(site.chain, anchors: [root, middle])
        let partial = try judge(site.chain, anchors: [middle], partial: true)

        for refused in [named, both, partial] {
            #expect(refused.failure?.reason == .malformed && refused.toleratedFlaws == [])
            #expect(refused.failure?.certificate == middle.certificate)
            #expect(refused.failure?.isForgivenIfNamed == false)
            // Naming it would not help.
            #expect(refused.failure?.message.contains("only an authority that") == false)
        }
        #expect(TrustAnchors.certificates([middle.certificate, site.certificate]).lint() == [])
    }

    @Test("nothing else that is wrong with it is tolerated beside its form, T-TLS-55", arguments: cases)
    func otherFaults(example: Case) throws {
        let faults: [(TrustFailure.Reason, @Sendable (inout CertificateTemplate) -> Void)] = [
            (.expired, { $0.expire() }), (.notYetValid, { $0.postpone() }),
            (.criticalExtension, { $0.otherExtensions = [.unknownCritical] }),
        ]
        for (reason, change) in faults {
            let root = try CertificateAuthority("Own") {
                example.change(&$0)
                change(&$0)
            }

            let evaluation = try judge(root.issue(for: "good.test").chain, anchors: [root])

            #expect(evaluation.failure?.reason == reason && evaluation.toleratedFlaws == [], "\(evaluation)")
            #expect(evaluation.failure?.certificate == root.certificate)
        }
    }

    @Test("a named anchor that is no authority is refused as before, T-TLS-55")
    func noAuthority() throws {
        let changes: [@Sendable (inout CertificateTemplate) -> Void] = [
            { $0.basicConstraints = .init(isAuthority: false) }, { $0.basicConstraints = nil },
            { $0.keyUsage = .digitalSignature },
            { ($0.version, $0.basicConstraints, $0.keyUsage, $0.hasKeyIdentifiers) = (1, nil, nil, false) },
        ]
        for change in changes {
            let root = try CertificateAuthority("Own", change)

            let evaluation = try judge(root.issue(for: "good.test").chain, anchors: [root])

            #expect(!evaluation.isTrusted && evaluation.toleratedFlaws == [], "\(evaluation)")
            #expect(root.certificate.authorityFlaws == [] && evaluation.failure?.isForgivenIfNamed == false)
        }
    }

    @Test("another certificate of the same key is not the one that was named, T-TLS-55")
    func anotherOfTheSameKey() throws {
        let whole = try CertificateAuthority("Own")
        let flawed = try CertificateAuthority("Own", key: whole.key) { $0.keyUsage = nil }
        let site = try whole.issue(for: "good.test")

        let store = try system(flawed, naming: [CertificateAuthority("Other").certificate])

        #expect(!judged(site, by: store).isTrusted)
        #expect(try judge(site.chain + [flawed.certificate], anchors: [whole]).toleratedFlaws == [])
    }

    @Test("what is wrong with a root that is not the end of a trusted chain is not reported")
    func unreported() throws {
        let root = try CertificateAuthority("Own") { $0.keyUsage = nil }
        let site = try root.issue(for: "good.test")

        #expect(try judge(site.chain, for: "other.test", anchors: [root]).toleratedFlaws == [])
        #expect(try judge([root.certificate], for: nil, certificates: [root.certificate]).toleratedFlaws == [])
    }

    @Test("a flaw names the authority, and the line that mends it")
    func message() throws {
        let root = try CertificateAuthority("Own") { $0.keyUsage = nil }

        #expect(
            root.certificate.authorityFlaws.map(\.description) == [
                "the authority \"CN=Own\" does not say what its key is for; "
                    + "make it anew with keyUsage = critical, keyCertSign, cRLSign"
            ]
        )
    }
}

extension Certificate {
    fileprivate var keyIdentifier: [UInt8]? {
        guard let identifier = X509_get0_subject_key_id(handle) else { return nil }
        return Array(
            UnsafeBufferPointer(start: ASN1_STRING_get0_data(identifier), count: Int(ASN1_STRING_length(identifier)))
        )
    }
}
