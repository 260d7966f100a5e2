import AFFaults
import CAFOpenSSL
import Foundation
import Testing

@testable import AFTLS

/// What authorities may do, and what is too weak or too much to look at.
@Suite struct ChainConstraintsTests {
    private let root: CertificateAuthority

    init() throws {
        root = try CertificateAuthority("Root")
    }

    private func reason(
        _ names: String...,
        host: String,
        _ change: (inout CertificateTemplate) -> Void
    ) throws -> TrustFailure.Reason? {
        let middle = try root.makeIntermediate("Middle", change)
        var template = CertificateTemplate.server(for: names)
        template.subject = [.organization("Somebody")]
        return try judge(middle.issue(template).chain, for: host, anchors: [root]).failure?.reason
    }

    @Test("an issuer needs the right, the usage and the form of an authority, T-TLS-52")
    func authorities() throws {
        #expect(try reason("a.test", host: "a.test") { _ in } == nil)
        #expect(try reason("a.test", host: "a.test") { $0.basicConstraints = .endEntity } != nil)
        #expect(try reason("a.test", host: "a.test") { $0.basicConstraints = nil } == .invalidAuthority)
        #expect(try reason("a.test", host: "a.test") { $0.keyUsage = .digitalSignature } != nil)
        #expect(try reason("a.test", host: "a.test") { $0.keyUsage = nil } == .malformed)
        #expect(try reason("a.test", host: "a.test") { $0.basicConstraints?.isCritical = false } == .malformed)
        #expect(try reason("a.test", host: "a.test") { $0.version = 1 } != nil)
    }

    @Test("path lengths are counted for each authority, T-TLS-52")
    func pathLengths() throws {
        let one = try root.makeIntermediate("One") { $0.basicConstraints?.pathLength = 1 }
        let two = try one.makeIntermediate("Two")
        let three = try two.makeIntermediate("Three")

        #expect(try judge(two.issue(for: "a.test").chain, for: "a.test", anchors: [root]).isTrusted)
        #expect(
            try judge(three.issue(for: "a.test").chain, for: "a.test", anchors: [root]).failure?.reason
                == .invalidAuthority
        )
    }

    @Test("name constraints bind, in any case, for wildcards and addresses, T-TLS-52")
    func nameConstraints() throws {
        let permitted = { (template: inout CertificateTemplate) in
            template.nameConstraints = .init(permitted: [.dns("Good.test"), .ip([10, 0, 0, 0, 255, 0, 0, 0])])
        }
        #expect(try reason("good.test", host: "good.test", permitted) == nil)
        #expect(try reason("A.GOOD.TEST", host: "a.good.test", permitted) == nil)
        #expect(try reason("*.good.test", host: "a.good.test", permitted) == nil)
        #expect(try reason("good.test", "evil.test", host: "good.test", permitted) == .nameConstraint)
        #expect(try reason("notgood.test", host: "notgood.test", permitted) == .nameConstraint)
        #expect(try reason("*.test", host: "good.test", permitted) == .nameConstraint)
        #expect(try reason("10.1.2.3", host: "10.1.2.3", permitted) == nil)
        #expect(try reason("11.1.2.3", host: "11.1.2.3", permitted) == .nameConstraint)

        let excluded = { (template: inout CertificateTemplate) in
            template.nameConstraints = .init(excluded: [.dns("evil.test"), .ip([10, 0, 0, 0, 255, 0, 0, 0])])
        }
        #expect(try reason("good.test", host: "good.test", excluded) == nil)
        #expect(try reason("EVIL.test", host: "evil.test", excluded) == .nameConstraint)
        #expect(try reason("a.evil.test", host: "a.evil.test", excluded) == .nameConstraint)
        #expect(try reason("*.evil.test", host: "a.evil.test", excluded) == .nameConstraint)
        #expect(try reason("10.1.2.3", host: "10.1.2.3", excluded) == .nameConstraint)
    }

    @Test("a wildcard does not escape what its issuers exclude, T-TLS-52, T-TLS-41")
    func excludedWildcards() throws {
        let excluded = { (template: inout CertificateTemplate) in
            template.nameConstraints = .init(excluded: [.dns("Bar.example.test"), .dns(".dot.example.test")])
        }
        #expect(try reason("*.example.test", host: "bar.example.test", excluded) == .nameConstraint)
        #expect(try reason("*.example.test", host: "BAR.example.test.", excluded) == .nameConstraint)
        #expect(try reason("*.example.test", host: "foo.example.test", excluded) == nil)
        #expect(try reason("*.example.test", host: "xbar.example.test", excluded) == nil)
        // A leading dot leaves out the name itself.
        #expect(try reason("*.example.test", host: "dot.example.test", excluded) == nil)
        #expect(try reason("*.dot.example.test", host: "a.dot.example.test", excluded) == .nameConstraint)
        #expect(try reason("*.example.test", host: "other.test", excluded) == .name)
        // Every name.
        let all = { (template: inout CertificateTemplate) in template.nameConstraints = .init(excluded: [.dns("")]) }
        #expect(try reason("*.example.test", host: "bar.example.test", all) == .nameConstraint)
        let permitted = { (template: inout CertificateTemplate) in
            template.nameConstraints = .init(permitted: [.dns("example.test")], excluded: [.dns("bar.example.test")])
        }
        #expect(try reason("*.example.test", host: "foo.example.test", permitted) == nil)
        #expect(try reason("*.example.test", host: "bar.example.test", permitted) == .nameConstraint)
    }

    @Test("the exclusion counts on every link above, and proves nothing, T-TLS-52")
    func excludedFurtherUp() throws {
        let bound = try CertificateAuthority("Bound") {
            $0.nameConstraints = .init(excluded: [.dns("bar.example.test")])
        }
        let middle = try bound.makeIntermediate("Middle")
        let site = try middle.issue(for: "*.example.test")

        let refused = try judge(site.chain, for: "bar.example.test", anchors: [bound])
        let taken = try judge(site.chain, for: "foo.example.test", anchors: [bound])
        let untrusted = try judge(site.chain + [bound.certificate], for: "bar.example.test", anchors: [root])

        #expect(refused.failure?.reason == .nameConstraint && refused.failure?.depth == 0)
        #expect(refused.failure?.message.contains("\"CN=Bound\" may not issue for bar.example.test") == true)
        #expect(refused.verifiedChain == site.chain)
        #expect(taken.isTrusted && taken.verifiedChain.count == 3)
        #expect(untrusted.verifiedChain == site.chain)
    }

    // MARK: - Identifiers of keys

    @Test("below an anchor that the program names, no authority key identifier is needed, T-TLS-55")
    func namedAnchorWithoutIdentifier() throws {
        let bare = try root.issue(for: "good.test") { $0.hasKeyIdentifiers = false }
        let middle = try root.makeIntermediate("Middle")
        let below = try middle.issue(for: "good.test") { $0.hasKeyIdentifiers = false }

        #expect(try judge(bare.chain, anchors: [root]).isTrusted)
        #expect(try judge(below.chain, anchors: [root]).isTrusted)
        #expect(try judge(below.chain, anchors: [middle], partial: true).isTrusted)
        // Everything else is asked all the same.
        #expect(try judge(bare.chain, for: "other.test", anchors: [root]).failure?.reason == .name)
        let late = try root.issue(for: "good.test") {
            $0.hasKeyIdentifiers = false
            $0.expire()
        }
        #expect(try judge(late.chain, anchors: [root]).failure?.reason == .expired)
        let odd = try root.issue(for: "good.test") {
            $0.hasKeyIdentifiers = false
            $0.otherExtensions = [.unknownCritical]
        }
        #expect(try judge(odd.chain, anchors: [root]).failure?.reason == .criticalExtension)
        #expect(try judge(bare.chain, anchors: [CertificateAuthority("Other")]).failure?.reason == .unknownRoot)
    }

    @Test("below an authority of the system it is needed, and the message says so, T-TLS-55")
    func systemAnchorWithoutIdentifier() throws {
        let bare = try root.issue(for: "good.test") { $0.hasKeyIdentifiers = false }
        var roots = RootIndex()
        roots.add(Array(root.pem.utf8))
        let system = try TrustStore([], beside: roots)
        let both = try TrustStore([root.certificate], beside: roots)
        let other = try TrustStore([CertificateAuthority("Other").certificate], beside: roots)

        let policy = TrustPolicy.tlsServer(PeerName("good.test"))
        let verdicts = [system, both, other].map {
            ChainEvaluator.evaluate(served: bare.chain, policy: policy, store: $0, at: now)
        }

        #expect(verdicts.map(\.isTrusted) == [false, true, false])
        for refused in [verdicts[0], verdicts[2]] {
            #expect(refused.failure?.reason == .malformed)
            #expect(refused.failure?.message.contains("no authority key identifier") == true)
            #expect(refused.failure?.message.contains("that the program itself names") == true)
        }
        let whole = try root.issue(for: "good.test")
        #expect(ChainEvaluator.evaluate(served: whole.chain, policy: policy, store: system, at: now).isTrusted)
    }

    @Test("a certificate that signed itself needs none, T-TLS-55")
    func selfSignedWithoutIdentifier() throws {
        var template = CertificateTemplate.server(for: ["good.test"])
        template.hasKeyIdentifiers = false
        template.basicConstraints = nil
        let own = try IssuedCertificate.selfSigned(template)

        #expect(try judge([own.certificate], certificates: [own.certificate]).isTrusted)
        #expect(try judge([own.certificate], anchors: [root]).failure?.reason == .selfSigned)
    }

    @Test("an unknown critical extension is refused on every link, T-TLS-52")
    func criticalExtension() throws {
        #expect(try reason("a.test", host: "a.test") { $0.otherExtensions = [.unknownCritical] } == .criticalExtension)
        let site = try root.issue(for: "good.test") { $0.otherExtensions = [.unknownCritical] }
        let harmless = try root.issue(for: "good.test") {
            $0.otherExtensions = [.init("1.3.6.1.4.1.55555.9", value: [5, 0])]
        }

        #expect(try judge(site.chain, anchors: [root]).failure?.reason == .criticalExtension)
        #expect(try judge(harmless.chain, anchors: [root]).isTrusted)
    }

    // MARK: - Strength

    @Test("weak keys and digests are refused at level 2, T-TLS-53")
    func weak() throws {
        let rsa = try CertificateAuthority("RSA", kind: .rsa)
        let sha1 = try rsa.issue(for: "good.test") { $0.digest = .sha1 }
        let md5 = try rsa.issue(for: "good.test") { $0.digest = .md5 }
        let short = try root.issue(for: "good.test", kind: .rsa(bits: 1024))
        let small = try root.issue(for: "good.test", kind: .p192)
        let weakMiddle = try root.makeIntermediate("Weak", kind: .rsa(bits: 1024)).issue(for: "good.test")

        for (site, anchor) in [(sha1, rsa), (md5, rsa), (short, root), (small, root), (weakMiddle, root)] {
            #expect(try judge(site.chain, anchors: [anchor]).failure?.reason == .weakKey)
        }
        #expect(try judge(short.chain, anchors: [root], level: 1).isTrusted)
        for kind in [CertificateKey.Kind.p256, .p384, .ed25519, .rsa] {
            #expect(try judge(root.issue(for: "good.test", kind: kind).chain, anchors: [root]).isTrusted)
        }
    }

    @Test("a curve written out as numbers is refused, T-TLS-54")
    func explicitCurve() throws {
        let site = try root.issue(for: "good.test", kind: .explicitP256)

        #expect(try !judge(site.chain, anchors: [root]).isTrusted)
    }

    // MARK: - Too much

    @Test("a key of more than 8192 bits is refused unseen, T-TLS-54")
    func hugeKey() throws {
        let huge = try #require(try hugeCertificate(bits: 16_384))
        let evaluation = try judge([huge], anchors: [root])
        let above = try judge(root.issue(for: "good.test").chain + [huge], anchors: [root])

        #expect(evaluation.failure?.reason == .weakKey)
        #expect(evaluation.failure?.message.contains("16384 bits") == true)
        #expect(huge.pin == PublicKeyPin(publicKeyBytes: huge.publicKeyBytes))
        #expect(evaluation.failure?.depth == 0)
        #expect(above.failure?.reason == .weakKey)
        #expect(above.failure?.depth == 1)
    }

    @Test("a key of 8192 bits is looked at, one of a bit more is not, T-TLS-54")
    func largestKey() throws {
        let messages = try [8192, 8193].map { bits in
            let certificate = try #require(try hugeCertificate(bits: bits))
            return try judge([certificate], anchors: [root]).failure?.message
        }

        #expect(messages[0]?.contains("take too long") == false)
        #expect(messages[1]?.contains("has 8193 bits; more than 8192 take too long") == true)
    }

    @Test("more than 100 KiB of certificates are refused unseen, T-TLS-54")
    func manyBytes() throws {
        let names = (0..<4_000).map { CertificateTemplate.AlternativeName.dns("n\($0).example-of-a-name.test") }
        var template = CertificateTemplate.server(for: ["good.test"])
        template.alternativeNames += names
        let large = try root.issue(template).certificate
        let small = try root.issue(for: "good.test").certificate

        let evaluation = try judge([large], anchors: [root])
        let many = try judge([small] + Array(repeating: root.certificate, count: 400), anchors: [root])

        #expect(large.derBytes.count > 100 * 1024)
        #expect(evaluation.failure?.reason == .tooLong)
        #expect(evaluation.failure?.message == "the server sent more than 100 KiB of certificates")
        #expect(many.failure?.reason == .tooLong)
        #expect(many.chain == [small] + Array(repeating: root.certificate, count: 400))
        #expect(many.verifiedChain == [small])
    }

    @Test("authorities of one name, cycles and long lists cost little, T-TLS-54")
    func pathological() throws {
        let middle = try root.makeIntermediate("Middle")
        let twins = try (0..<60).map { _ in try root.makeIntermediate("Middle").certificate }
        let left = try CertificateAuthority("Left")
        let right = try CertificateAuthority("Right")
        let circle = [try left.crossSign(right), try right.crossSign(left)].map(\.certificate)
        let name = PeerName("good.test")
        let store = try TrustStore([root.certificate])
        let lists = [
            try middle.issue(for: "good.test").chain + twins,
            [try middle.issue(for: "good.test").certificate] + twins,
            [try left.issue(for: "good.test").certificate] + circle,
            [try left.issue(for: "good.test").certificate] + circle + twins + twins,
        ]

        let results = lists.map { list in
            var isTrusted = false
            let cost = CPUTime.of {
                let policy = TrustPolicy.tlsServer(name)
                isTrusted = ChainEvaluator.evaluate(served: list, policy: policy, store: store, at: now).isTrusted
            }
            #expect(cost < .milliseconds(200))
            return isTrusted
        }

        #expect(results == [true, false, false, false])
    }

    @Test("thousands of names under thousands of constraints cost little, T-TLS-54")
    func manyConstraints() throws {
        let names = (0..<2_000).map { CertificateTemplate.AlternativeName.dns("n\($0).good.test") }
        let bounds = (0..<1_500).map { CertificateTemplate.AlternativeName.dns("b\($0).test") } + [.dns("good.test")]
        let stranger = try CertificateAuthority("Stranger") { $0.nameConstraints = .init(permitted: bounds) }
        let middle = try stranger.makeIntermediate { $0.nameConstraints = .init(permitted: Array(bounds.suffix(10))) }
        var template = CertificateTemplate.server(for: ["good.test"])
        template.alternativeNames += names
        let site = try middle.issue(template)
        let chain = site.chain + [stranger.certificate]

        var evaluation = try judge(chain, anchors: [root])
        let cost = try CPUTime.of { evaluation = try judge(chain, anchors: [root]) }

        #expect(cost < .milliseconds(200))
        #expect(evaluation.failure?.reason == .unknownRoot)
        #expect(evaluation.verifiedChain == site.chain)
    }

    @Test("a DSA key is refused, T-TLS-53")
    func dsaKey() throws {
        let number = { (count: Int) in self.der(0x02, [0x00, 0xC1] + [UInt8](repeating: 0x5B, count: count - 2) + [1]) }
        let parameters = der(0x30, number(256) + number(28) + number(255))
        let algorithm = der(0x30, [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x01] + parameters)
        let site = try #require(try certificate(key: der(0x30, algorithm + der(0x03, [0] + number(255)))))

        let failure = try judge([site], anchors: [root]).failure

        #expect(failure?.reason == .weakKey)
        #expect(failure?.message.contains("DSA") == true)
    }

    /// A certificate with a made-up RSA modulus: making a real key of that size takes minutes.
    private func hugeCertificate(bits: Int) throws -> Certificate? {
        var modulus = (0..<(bits + 7) / 8).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        modulus[0] = bits % 8 == 0 ? 0xC1 : 1 << UInt8(bits % 8 - 1)
        modulus[modulus.count - 1] |= 1
        let number = bits % 8 == 0 ? [0] + modulus : modulus
        let numbers = der(0x30, der(0x02, number) + der(0x02, [1, 0, 1]))
        let algorithm = der(
            0x30,
            [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
        )
        return try certificate(key: der(0x30, algorithm + der(0x03, [0] + numbers)))
    }

    /// A certificate whose key was exchanged for this one, so that its signature is wrong.
    private func certificate(key: [UInt8]) throws -> Certificate? {
        let bytes = try root.issue(for: "good.test").certificate.derBytes
        let old = try Certificate(der: bytes).publicKeyBytes
        guard let body = contents(bytes), let inner = contents(body),
            let position = inner.indices.first(where: { inner[$0...].starts(with: old) })
        else { return nil }
        let changed = inner[..<position] + key + inner[(position + old.count)...]
        return try Certificate(der: der(0x30, der(0x30, Array(changed)) + Array(body[size(body)...])))
    }

    private func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 128 { return [tag, UInt8(count)] + content }
        if count < 256 { return [tag, 0x81, UInt8(count)] + content }
        return [tag, 0x82, UInt8(count >> 8), UInt8(count & 255)] + content
    }

    /// How many bytes the first element takes, with its header.
    private func size(_ bytes: [UInt8]) -> Int {
        switch bytes[1] {
        case 0x82: 4 + (Int(bytes[2]) << 8 | Int(bytes[3]))
        case 0x81: 3 + Int(bytes[2])
        default: 2 + Int(bytes[1])
        }
    }

    private func contents(_ bytes: [UInt8]) -> [UInt8]? {
        let end = size(bytes)
        let start = bytes[1] == 0x82 ? 4 : bytes[1] == 0x81 ? 3 : 2
        return end <= bytes.count ? Array(bytes[start..<end]) : nil
    }
}
