import AFTLS
import Foundation
import Testing

/// Where pins may be looked for, above all when a chain is not trusted.
@Suite struct VerifiedChainTests {
    private let pinned: CertificateAuthority
    private let other: CertificateAuthority

    init() throws {
        pinned = try CertificateAuthority("Pinned")
        other = try CertificateAuthority("Other")
    }

    @Test("certificates sent along are not in it, T-TLS-15")
    func appended() throws {
        let middle = try pinned.makeIntermediate("Pinned middle")
        let good = try middle.issue(for: "good.test")
        let site = try other.issue(for: "good.test")
        let extras = [
            [pinned.certificate], [good.certificate], [middle.certificate], good.chain + [pinned.certificate],
        ]

        for extra in extras {
            let trusted = try judge(site.chain + extra, anchors: [pinned, other])
            let failed = try judge(site.chain + extra, for: "b.test", anchors: [pinned])
            #expect(trusted.isTrusted)
            #expect(trusted.verifiedChain == [site.certificate, other.certificate])
            #expect(failed.verifiedChain == [site.certificate])
        }
    }

    @Test("an authority that is only named as issuer is not in it, T-TLS-16", arguments: [true, false], [true, false])
    func forged(hasKeyIdentifiers: Bool, isSent: Bool) throws {
        let real = try CertificateAuthority("Pinned") { $0.hasKeyIdentifiers = hasKeyIdentifiers }
        let impostor = try real.makeImpostor()
        let forgeries = [
            try impostor.issue(for: "good.test") { $0.hasKeyIdentifiers = hasKeyIdentifiers }.certificate,
            try real.issue(.server(for: ["good.test"]), signedBy: CertificateKey()).certificate,
            try real.issue(for: "good.test") { $0.breaksSignature = true }.certificate,
        ]

        for forgery in forgeries {
            for anchors in [[real], [other], [real, other]] {
                let served = [forgery] + (isSent ? [real.certificate] : [])
                for partial in [true, false] {
                    let evaluation = try judge(served, anchors: anchors, partial: partial)
                    #expect(!evaluation.isTrusted)
                    #expect(evaluation.verifiedChain == [forgery])
                    #expect(!evaluation.verifiedChain.contains { $0.pin == real.certificate.pin })
                }
            }
        }
        let broken = try judge([forgeries[2]], anchors: [real])
        if hasKeyIdentifiers { #expect(broken.failure?.reason == .signature) }
    }

    @Test("a forged link further up ends it, T-TLS-16")
    func forgedMiddle() throws {
        let forged = try pinned.makeImpostor().makeIntermediate("Middle")
        let site = try forged.issue(for: "good.test")

        let evaluation = try judge(site.chain + [pinned.certificate], anchors: [other])

        #expect(!evaluation.isTrusted)
        #expect(evaluation.verifiedChain == [site.certificate, forged.certificate])
    }

    @Test("a certificate that may not issue is not in the verified chain, T-TLS-17")
    func notAnAuthority() throws {
        let changes: [(inout CertificateTemplate) -> Void] = [
            { $0.basicConstraints = .endEntity },
            { $0.basicConstraints = nil },
            { $0.keyUsage = .digitalSignature },
            { $0.nameConstraints = .init(permitted: [.dns("other.test")]) },
            { $0.nameConstraints = .init(excluded: [.dns("good.test")]) },
            { $0.otherExtensions = [.unknownCritical] },
        ]
        for change in changes {
            let middle = try pinned.makeIntermediate("Middle") { change(&$0) }
            let site = try middle.issue(for: "good.test")
            for anchors in [[pinned], [middle], [other]] {
                let evaluation = try judge(site.chain, anchors: anchors, partial: true)
                #expect(!evaluation.isTrusted)
                #expect(evaluation.verifiedChain == [site.certificate])
            }
        }
    }

    @Test("a server's common name is bound by constraints as its other names are, T-TLS-17, T-TLS-52")
    func constrainedCommonName() throws {
        let bound = try CertificateAuthority("Bound") { $0.nameConstraints = .init(permitted: [.dns("good.test")]) }
        for (name, isProven) in [("good.test", true), ("evil.test", false)] {
            var template = CertificateTemplate.server(for: [])
            template.subject = [.commonName(name)]
            let site = try bound.issue(template).certificate

            let evaluation = try judge([site, bound.certificate], anchors: [other])

            #expect(evaluation.failure?.reason == .unknownRoot)
            #expect(evaluation.verifiedChain == (isProven ? [site, bound.certificate] : [site]))
        }
    }

    @Test("an authority's common name is no host name, so that no constraint binds it, T-TLS-52")
    func constrainedAuthority() throws {
        let bound = try CertificateAuthority("Bound") { $0.nameConstraints = .init(permitted: [.dns("good.test")]) }
        let site = try bound.makeIntermediate("evil.test").issue(for: "good.test")

        let evaluation = try judge(site.chain + [bound.certificate], anchors: [other])

        #expect(evaluation.failure?.reason == .unknownRoot)
        #expect(evaluation.verifiedChain == site.chain + [bound.certificate])
    }

    @Test("a new key of an authority is exempt from its constraints, a server that has its name is not, T-TLS-52")
    func selfIssued() throws {
        let bound = try CertificateAuthority("Bound") { $0.nameConstraints = .init(permitted: [.dns("good.test")]) }
        let renewed = try bound.makeIntermediate("Bound") { $0.alternativeNames = [.dns("evil.test")] }
        let site = try renewed.issue(for: "good.test")
        let namesake = try bound.issue(for: "evil.test") { $0.subject = [.commonName("Bound")] }

        let exempt = try judge(site.chain + [bound.certificate], anchors: [other])
        let refused = try judge(namesake.chain + [bound.certificate], anchors: [other])

        #expect(renewed.certificate.isSelfIssued && namesake.certificate.isSelfIssued)
        #expect(exempt.verifiedChain == site.chain + [bound.certificate])
        #expect(refused.verifiedChain == [namesake.certificate])
        let middle = try bound.makeIntermediate("Middle") { $0.alternativeNames = [.dns("evil.test")] }
        let below = try middle.issue(for: "good.test")
        #expect(try judge(below.chain + [bound.certificate], anchors: [other]).verifiedChain == below.chain)
        #expect(!exempt.isTrusted && !refused.isTrusted)
    }

    @Test("a server's certificate does not vouch for another one, T-TLS-17")
    func leafAsAuthority() throws {
        let key = try CertificateKey()
        let site = try pinned.issue(for: "good.test", key: key)
        let pretender = try pinned.makeIntermediate("good.test", key: key) {
            $0 = .server(for: ["good.test"])
        }
        let below = try pretender.issue(for: "evil.test")

        let evaluation = try judge(below.chain, for: "evil.test", anchors: [pinned])

        #expect(evaluation.failure?.reason == .invalidAuthority)
        #expect(evaluation.verifiedChain == [below.certificate])
        #expect(try judge(site.chain, anchors: [pinned]).isTrusted)
    }

    @Test("an authority beyond its path length is not in it, T-TLS-17, T-TLS-52")
    func pathLength() throws {
        let short = try CertificateAuthority("Short") { $0.basicConstraints?.pathLength = 0 }
        let middle = try short.makeIntermediate("Middle")
        let site = try middle.issue(for: "good.test")

        let evaluation = try judge(site.chain, anchors: [short])

        #expect(evaluation.failure?.reason == .invalidAuthority)
        #expect(evaluation.verifiedChain == site.chain)
        #expect(try judge(short.issue(for: "good.test").chain, anchors: [short]).isTrusted)
    }

    @Test("an authority at the end of its path length is in it, T-TLS-52")
    func exactPathLength() throws {
        let one = try CertificateAuthority("One") { $0.basicConstraints?.pathLength = 1 }
        let site = try one.makeIntermediate("Middle").issue(for: "good.test") { $0.expire() }

        let evaluation = try judge(site.chain, anchors: [one])

        #expect(evaluation.failure?.reason == .expired)
        #expect(evaluation.verifiedChain == site.chain + [one.certificate])
    }

    @Test("where no server is judged, purposes do not shorten it, but the right to issue does, T-TLS-17")
    func withoutServer() throws {
        let mail = try pinned.makeIntermediate("Mail") { $0.extendedKeyUsage = [.clientAuthentication] }
        let none = try pinned.makeIntermediate("None") { $0.basicConstraints = .endEntity }
        let store = try TrustStore([other.certificate])

        for (middle, isProven) in [(mail, true), (none, false)] {
            let site = try middle.issue(for: "good.test")
            let evaluation = ChainEvaluator.evaluate(served: site.chain, policy: .basicX509, store: store, at: now)
            #expect(!evaluation.isTrusted)
            #expect(evaluation.verifiedChain == (isProven ? site.chain : [site.certificate]))
        }
    }

    @Test("a link with a weak digest is not in it")
    func weakLink() throws {
        let weak = try CertificateAuthority("Weak", kind: .rsa)
        let site = try weak.issue(for: "good.test") { $0.digest = .sha1 }

        let evaluation = try judge(site.chain, anchors: [weak])

        #expect(evaluation.failure?.reason == .weakKey)
        #expect(evaluation.verifiedChain == site.chain)
    }

    @Test("an authority with a weak key proves nothing, T-TLS-53")
    func weakAuthority() throws {
        let weak = try CertificateAuthority("Weak", kind: .rsa(bits: 1024))
        let site = try weak.issue(for: "good.test")
        let middle = try pinned.makeIntermediate("Weak middle", kind: .rsa(bits: 1024))
        let below = try middle.issue(for: "good.test")

        #expect(try judge(site.chain, anchors: [weak]).verifiedChain == [site.certificate])
        #expect(try judge(below.chain, anchors: [pinned]).verifiedChain == [below.certificate])
        // At a level that takes 80 bits of strength the same keys prove their chains.
        let lenient = try judge(site.chain, for: "b.test", anchors: [weak], level: 1)
        #expect(lenient.failure?.reason == .name && lenient.verifiedChain == [site.certificate, weak.certificate])
    }

    @Test("dates and an unknown root do not shorten it, so that a pin can be found")
    func forgivable() throws {
        let middle = try pinned.makeIntermediate("Middle") { $0.expire() }
        let site = try middle.issue(for: "good.test") { $0.expire() }
        let alone = try IssuedCertificate.selfSigned(.server(for: ["good.test"]))

        let expired = try judge(site.chain, anchors: [pinned])
        let unknown = try judge(site.chain + [pinned.certificate], anchors: [other])

        #expect(expired.failure?.reason == .expired)
        #expect(expired.verifiedChain == site.chain + [pinned.certificate])
        #expect(unknown.verifiedChain == expired.verifiedChain)
        #expect(try judge(alone.chain, anchors: [pinned]).verifiedChain == alone.chain)
    }

    @Test("leaf, intermediate and root are found, the root also if it was not sent, T-TLS-22")
    func pinnable() throws {
        let middle = try pinned.makeIntermediate("Middle")
        let site = try middle.issue(for: "good.test")

        for served in [site.chain, site.chain + [pinned.certificate]] {
            let evaluation = try judge(served, anchors: [pinned])
            #expect(
                evaluation.verifiedChain.map(\.pin)
                    == [site.certificate, middle.certificate, pinned.certificate].map(\.pin)
            )
        }
    }

    @Test("of two paths the same one is built in whatever order they are sent, T-TLS-25")
    func crossSigned() throws {
        let first = try CertificateAuthority("First")
        let second = try CertificateAuthority("Second")
        let middle = try first.makeIntermediate("Middle")
        let crossed = try second.crossSign(middle)
        let expired = try second.crossSign(middle) { $0.expire() }
        let site = try middle.issue(for: "good.test")
        let rest = [middle, crossed, expired, first, second].map(\.certificate)

        for anchors in [[first], [second], [first, second]] {
            var chains: Set<[Certificate]> = []
            for order in permutations(rest) {
                let evaluation = try judge([site.certificate] + order, anchors: anchors)
                #expect(evaluation.isTrusted)
                chains.insert(evaluation.chain)
            }
            #expect(chains.count == 1)
        }
        var reasons: Set<TrustFailure.Reason?> = []
        for order in permutations(rest) {
            reasons.insert(try judge([site.certificate] + order, anchors: [other]).failure?.reason)
        }
        #expect(reasons == [.unknownRoot])
    }

    @Test("a path through an authority out of date is left for a valid one, T-TLS-25")
    func expiredPath() throws {
        let old = try CertificateAuthority("Old")
        let new = try CertificateAuthority("New")
        let bridge = try old.makeIntermediate("Bridge") { $0.expire() }
        let middle = try bridge.makeIntermediate("Middle") { $0.notAfter = Date(seconds: now + 400 * 86_400) }
        let crossed = try new.crossSign(middle) { $0.notAfter = Date(seconds: now + 86_400) }
        let site = try middle.issue(for: "good.test")

        for order in permutations([middle, crossed, bridge, old].map(\.certificate)) {
            #expect(try judge([site.certificate] + order, anchors: [old, new]).isTrusted)
        }
    }

    @Test("a pin covers the key with its parameters, T-TLS-27")
    func keyParameters() throws {
        let named = try IssuedCertificate.selfSigned(.server(for: ["good.test"]))
        let renewed = try pinned.issue(for: "good.test", key: named.key).certificate
        let explicit = try IssuedCertificate.selfSigned(.server(for: ["good.test"]), kind: .explicitP256)

        #expect(renewed.pin == named.certificate.pin)
        #expect(renewed != named.certificate)
        #expect(renewed.pin == PublicKeyPin(publicKeyBytes: named.key.publicKeyBytes))
        #expect(explicit.certificate.publicKeyBytes.count > named.certificate.publicKeyBytes.count)
        for kind in [CertificateKey.Kind.rsa, .p384, .ed25519, .explicitP256] {
            let certificate = try IssuedCertificate.selfSigned(.server(for: ["good.test"]), kind: kind).certificate
            #expect(certificate.pin == PublicKeyPin(publicKeyBytes: certificate.publicKeyBytes))
            #expect(certificate.pin != named.certificate.pin)
        }
    }
}
