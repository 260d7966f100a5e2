/// Which chains a pin is found in.
@Suite struct PinnedChainTests {
    private static let pinning: [SSLPinningMode] = [.publicKey, .certificate]
    private let root: CertificateAuthority

    init() throws {
        root = try CertificateAuthority()
    }

    private static func trust(
        _ chain: [Certificate],
        _ anchors: CertificateAuthority...,
        host: String = "good.test",
        at date: Date = Date()
    ) -> ServerTrust {
        ServerTrust(servedChain: chain, host: host, anchors: .certificates(anchors.map(\.certificate)), at: date)
    }

    private static func policy(
        _ mode: SSLPinningMode,
        _ pins: Certificate...,
        allowsInvalid: Bool = false
    ) -> SecurityPolicy {
        let policy = SecurityPolicy(pinningMode: mode, certificates: pins)
        policy.allowInvalidCertificates = allowsInvalid
        return policy
    }

    // MARK: - Certificates that were only sent along

    @Test("a pinned certificate appended to a trusted chain counts for nothing, T-TLS-15", arguments: pinning)
    func appended(mode: SSLPinningMode) throws {
        let pinnedRoot = try CertificateAuthority("Pinned Root")
        let pinnedMiddle = try pinnedRoot.makeIntermediate("Pinned Intermediate")
        let pinnedLeaf = try pinnedMiddle.issue(for: "good.test")
        let otherRoot = try CertificateAuthority("Other Root")
        let unpinned = try otherRoot.issue(for: "good.test")

        for pinned in [pinnedRoot.certificate, pinnedMiddle.certificate, pinnedLeaf.certificate] {
            for allowsInvalid in [false, true] {
                let policy = Self.policy(mode, pinned, allowsInvalid: allowsInvalid)
                let padded = [unpinned.certificate, pinned, pinnedMiddle.certificate, pinnedRoot.certificate]
                let decision = policy.evaluate(Self.trust(padded, pinnedRoot, otherRoot))
                #expect(decision != .accept)
                #expect(decision.rule == (mode == .publicKey ? "pinned public keys" : "pinned certificates"))
            }
            let rule = SecurityPolicy()
            rule.hostRules = [try .pins("good.test", PinSet([.publicKey(pinned.pin), .certificate(pinned)]))]
            let padded = [unpinned.certificate, pinned]
            #expect(rule.evaluate(Self.trust(padded, pinnedRoot, otherRoot)).rule == "pins for good.test")
        }
    }

    @Test("a forged leaf naming the pinned authority is refused in every mode, T-TLS-16", arguments: 0..<4)
    func forged(number: Int) throws {
        let (isAnchor, hasKeyIdentifiers) = (number & 1 == 0, number & 2 == 0)
        let pinned = try CertificateAuthority("Pinned Root") { $0.hasKeyIdentifiers = hasKeyIdentifiers }
        let forger = try pinned.makeImpostor()
        let liar = try forger.issue(for: "good.test") { $0.hasKeyIdentifiers = hasKeyIdentifiers }
        let chains = [
            [liar.certificate], [liar.certificate, pinned.certificate],
            [liar.certificate, forger.certificate, pinned.certificate],
        ]

        for chain in chains {
            let trust = isAnchor ? Self.trust(chain, pinned) : Self.trust(chain)
            #expect(SecurityPolicy().evaluate(trust) != .accept)
            for mode in Self.pinning {
                for allowsInvalid in [true, false] {
                    let policy = Self.policy(mode, pinned.certificate, allowsInvalid: allowsInvalid)
                    #expect(policy.evaluate(trust) != .accept, "\(mode) \(allowsInvalid) \(chain.count)")
                    policy.validatesDomainName = false
                    #expect(policy.evaluate(trust) != .accept)
                }
            }
        }
    }

    @Test("a certificate whose signature is broken is not forgiven for its pinned key, T-TLS-16")
    func brokenSignature() throws {
        let broken = try root.issue(for: "good.test") { $0.breaksSignature = true }
        let policy = Self.policy(.publicKey, broken.certificate, allowsInvalid: true)

        #expect(policy.evaluate(Self.trust(broken.chain, root)).rule == "untrusted: signature")
    }

    // MARK: - Authorities that are none

    @Test("a pinned certificate that may not issue vouches for no other, T-TLS-17", arguments: [true, false])
    func powerless(allowsInvalid: Bool) throws {
        let noAuthority = try root.makeIntermediate { $0.basicConstraints = .endEntity }
        let noConstraints = try root.makeIntermediate { $0.basicConstraints = nil }
        let noSigning = try root.makeIntermediate { $0.keyUsage = .digitalSignature }
        let deep = try root.makeIntermediate { $0.basicConstraints = .init(isAuthority: true, pathLength: 0) }
        let tooDeep = try deep.makeIntermediate()
        let pinnedSite = try root.issue(for: "good.test")
        let siteAsAuthority = try root.makeIntermediate("good.test", key: pinnedSite.key) {
            $0.basicConstraints = .endEntity
            $0.alternativeNames = [.dns("good.test")]
        }
        let shapes = [
            (noAuthority, noAuthority), (noConstraints, noConstraints), (noSigning, noSigning), (tooDeep, deep),
            (siteAsAuthority, siteAsAuthority), (noAuthority, root), (tooDeep, root), (siteAsAuthority, root),
        ]

        for (index, (authority, pinned)) in shapes.enumerated() {
            let leaf = try authority.issue(for: "good.test")
            for mode in Self.pinning {
                let policy = Self.policy(mode, pinned.certificate, allowsInvalid: allowsInvalid)
                #expect(policy.evaluate(Self.trust(leaf.chain, root)) != .accept, "shape \(index), \(mode)")
            }
        }
    }

    // MARK: - Pins that are of no use

    @Test("an empty set of pins refuses every server, T-TLS-18", arguments: pinning)
    func empty(mode: SSLPinningMode) throws {
        let trust = Self.trust(try root.issue(for: "good.test").chain, root)

        for allowsInvalid in [true, false] {
            for validatesName in [true, false] {
                let policy = Self.policy(mode, allowsInvalid: allowsInvalid)
                policy.validatesDomainName = validatesName
                #expect(policy.evaluate(trust) != .accept)
                policy.pinnedCertificates = nil
                #expect(policy.evaluate(trust) != .accept)
                #expect(!policy.evaluate(trust, forDomain: nil))
            }
        }
    }

    @Test(
        "with one pin that cannot be read no server is trusted, and the refusal names it, T-TLS-19",
        arguments: pinning
    )
    func unreadable(mode: SSLPinningMode) throws {
        let site = try root.issue(for: "good.test")
        let good = Data(site.der)
        let bad = [Data(), Data(site.der.dropLast()), good + [0], Data(site.pem.utf8), Data(site.privateKeyPEM.utf8)]

        for blob in bad {
            let policy = SecurityPolicy(pinningMode: mode, withPinnedCertificates: [good, blob])
            let decision = policy.evaluate(Self.trust(site.chain, root))
            #expect(decision.rule == "unreadable pin")
            #expect(decision.explanation.contains("of 2, \(blob.count) bytes"), "\(decision)")
            policy.allowInvalidCertificates = true
            #expect(policy.evaluate(Self.trust(site.chain, root)) != .accept)
            policy.pinnedCertificates = [good]
            #expect(policy.evaluate(Self.trust(site.chain, root)) == .accept)
        }
    }

    // MARK: - What may be pinned

    @Test("leaf, intermediate and root can be pinned, also a root that is not sent, T-TLS-22", arguments: pinning)
    func members(mode: SSLPinningMode) throws {
        let middle = try root.makeIntermediate()
        let site = try middle.issue(for: "good.test")
        let stranger = try CertificateAuthority().certificate

        for pinned in [site.certificate, middle.certificate, root.certificate] {
            for chain in [site.chain, site.chain + [root.certificate]] {
                #expect(Self.policy(mode, pinned).evaluate(Self.trust(chain, root)) == .accept)
                #expect(Self.policy(mode, stranger, pinned).evaluate(Self.trust(chain, root)) == .accept)
            }
        }
        #expect(Self.policy(mode, stranger).evaluate(Self.trust(site.chain, root)) != .accept)
    }

    @Test("a pin is no substitute for dates and name, T-TLS-23", arguments: pinning)
    func datesAndName(mode: SSLPinningMode) throws {
        let sites = [
            try root.issue(for: "good.test") { $0.expire() }, try root.issue(for: "good.test") { $0.postpone() },
            try root.issue(for: "other.test"),
        ]

        for site in sites {
            let policy = Self.policy(mode, site.certificate, root.certificate)
            #expect(policy.evaluate(Self.trust(site.chain, root)).rule?.hasPrefix("untrusted") == true)
            let rule = SecurityPolicy()
            rule.hostRules = [try .pins("good.test", PinSet([.certificate(site.certificate)]))]
            rule.allowInvalidCertificates = true
            rule.validatesDomainName = false
            #expect(rule.evaluate(Self.trust(site.chain, root)).rule?.hasPrefix("untrusted") == true)
        }
        let wrongName = Self.policy(mode, sites[2].certificate)
        wrongName.validatesDomainName = false
        #expect(wrongName.evaluate(Self.trust(sites[2].chain, root)) == .accept)
    }

    @Test("a renewed certificate with the same key passes by its key only, T-TLS-24")
    func renewal() throws {
        let old = try root.issue(for: "good.test")
        let sameKey = try root.issue(for: "good.test", key: old.key)
        let sameName = try root.issue(for: "good.test")

        #expect(Self.policy(.publicKey, old.certificate).evaluate(Self.trust(sameKey.chain, root)) == .accept)
        #expect(Self.policy(.publicKey, old.certificate).evaluate(Self.trust(sameName.chain, root)) != .accept)
        let other = Self.policy(.certificate, old.certificate).evaluate(Self.trust(sameName.chain, root))
        #expect(other != .accept && !other.explanation.contains("the mode publicKey would take it"), "\(other)")
        let refusal = Self.policy(.certificate, old.certificate).evaluate(Self.trust(sameKey.chain, root))
        #expect(refusal.explanation.contains("the mode publicKey would take it"), "\(refusal)")
    }

    @Test("the order in which a server sends crossed certificates decides nothing, T-TLS-25", arguments: pinning)
    func crossSigned(mode: SSLPinningMode) throws {
        let root = try CertificateAuthority("Root")
        let crossing = try CertificateAuthority("Crossing Root")
        let cross = try crossing.crossSign(root)
        let expiredCross = try crossing.crossSign(root) { $0.expire() }
        let middle = try root.makeIntermediate("Intermediate")
        let site = try middle.issue(for: "good.test")
        let others = [
            middle.certificate, cross.certificate, expiredCross.certificate, crossing.certificate,
            root.certificate,
        ]
        var verdicts: [Certificate: Set<Bool>] = [:]

        for order in Self.permutations(others) {
            let trust = Self.trust([site.certificate] + order, root)
            for pinned in [middle.certificate, root.certificate, cross.certificate] {
                verdicts[pinned, default: []].insert(Self.policy(mode, pinned).evaluate(trust) == .accept)
            }
        }

        // Trusted certificates go first: the path ends at the anchor, not at the crossing.
        #expect(verdicts[middle.certificate] == [true])
        #expect(verdicts[root.certificate] == [true])
        #expect(verdicts[cross.certificate]?.count == 1)
    }

    private static func permutations<Element>(_ elements: [Element]) -> [[Element]] {
        guard elements.count > 1 else { return [elements] }
        return elements.indices.flatMap { index in
            var rest = elements
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }

    @Test("an intermediate that the server omits can come from the anchors or the pins, T-TLS-26")
    func omitted() throws {
        let middle = try root.makeIntermediate()
        let site = try middle.issue(for: "good.test")
        let alone = [site.certificate]

        for mode in Self.pinning {
            #expect(Self.policy(mode, root.certificate).evaluate(Self.trust(alone, root)) != .accept)
            #expect(Self.policy(mode, middle.certificate).evaluate(Self.trust(alone, root, middle)) == .accept)
        }
        let byPin = Self.policy(.certificate, middle.certificate, allowsInvalid: true)
        #expect(byPin.evaluate(Self.trust(alone, root)) == .accept)
    }

    private static let kinds: [CertificateKey.Kind] = [.rsa, .p256, .p384, .ed25519]

    @Test("keys are equal when their SubjectPublicKeyInfo bytes are, T-TLS-27", arguments: kinds)
    func keys(kind: CertificateKey.Kind) throws {
        let key = try CertificateKey(kind)
        let first = try root.issue(for: "good.test", key: key)
        let second = try root.issue(for: "good.test", key: key)
        let other = try root.issue(for: "good.test", kind: kind)

        let policy = Self.policy(.publicKey, first.certificate)

        #expect(policy.evaluate(Self.trust(second.chain, root)) == .accept)
        #expect(policy.evaluate(Self.trust(other.chain, root)) != .accept)
        #expect(first.certificate.publicKeyBytes == key.publicKeyBytes)
        #expect(first.certificate.pin == PublicKeyPin(publicKeyBytes: key.publicKeyBytes))
    }

    @Test("a key with its curve written out is another than the one with the curve's name, T-TLS-27")
    func explicitCurve() throws {
        let key = try CertificateKey(.explicitP256)
        let named = try CertificateKey(.p256)
        let explicit = try IssuedCertificate.selfSigned(.server(for: ["good.test"]), key: key)
        let policy = Self.policy(
            .publicKey,
            try IssuedCertificate.selfSigned(.server(for: ["good.test"]), key: named).certificate,
            allowsInvalid: true
        )

        #expect(key.publicKeyBytes.count != named.publicKeyBytes.count)
        #expect(policy.evaluate(Self.trust(explicit.chain)) != .accept)
    }

    // MARK: - Pins are not anchors

    @Test("a pin is an authority in the mode certificate only, and for no other policy, T-TLS-31")
    func anchors() throws {
        let middle = try root.makeIntermediate()
        let site = try middle.issue(for: "good.test")
        let trust = Self.trust(site.chain)

        #expect(Self.policy(.certificate, middle.certificate, allowsInvalid: true).evaluate(trust) == .accept)
        #expect(Self.policy(.certificate, middle.certificate).evaluate(trust) != .accept)
        #expect(Self.policy(.publicKey, middle.certificate).evaluate(trust) != .accept)
        #expect(SecurityPolicy().evaluate(trust) != .accept)
        let rule = SecurityPolicy()
        rule.hostRules = [try .pins("good.test", PinSet([.certificate(middle.certificate)]))]
        #expect(rule.evaluate(trust) != .accept)
        #expect(!trust.evaluation.isTrusted)
    }

    @Test("the anchors of the session do not count beside pinned certificates, T-TLS-31")
    func sessionAnchors() throws {
        let session = try CertificateAuthority()
        let pinned = try CertificateAuthority()
        let site = try session.issue(for: "good.test")

        let policy = Self.policy(.certificate, pinned.certificate, allowsInvalid: true)

        #expect(policy.evaluate(Self.trust(site.chain, session)).rule == "pinned certificates")
    }

    // MARK: - What a developer reads

    @Test func `a refusal names the pins that were expected and those of the chain`() throws {
        let root = try CertificateAuthority("Chain Root")
        let site = try root.issue(for: "good.test")
        let expected = try CertificateAuthority("Expected").certificate

        for policy in [Self.policy(.publicKey, expected), Self.policy(.certificate, expected), SecurityPolicy()] {
            if policy.sslPinningMode == .none {
                policy.hostRules = [try .pins("**.test", PinSet([.publicKey(expected.pin)]))]
            }
            let text = policy.evaluate(Self.trust(site.chain, root)).explanation
            #expect(text.contains(expected.pin.description), "\(text)")
            #expect(text.contains(site.certificate.pin.description), "\(text)")
            #expect(text.contains(root.certificate.pin.description) || policy.sslPinningMode == .certificate, "\(text)")
            #expect(!text.hasSuffix("."))
        }
    }
}
