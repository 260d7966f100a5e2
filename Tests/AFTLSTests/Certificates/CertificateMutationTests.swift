import AFTLS
import CAFOpenSSL
import Testing

/// Damaged certificates, from seeds: nothing of ours may trap, and none may be trusted.
@Suite struct CertificateMutationTests {
    private let authority: CertificateAuthority
    private let site: IssuedCertificate

    init() throws {
        authority = try CertificateAuthority("Root") {
            $0.nameConstraints = .init(permitted: [.dns("test")], excluded: [.ip([10, 0, 0, 0, 255, 0, 0, 0])])
        }
        site = try authority.issue(for: "good.test", "127.0.0.1") {
            $0.alternativeNames += [
                .email("a@good.test"), .uri("https://good.test"), .other("1.2.3", value: [0x0C, 1, 0x61]),
                .raw(tag: 0xA5, [0xA1, 0x03, 0x0C, 0x01, 0x61]),
            ]
            $0.subject = [.country("DE"), .organization("Org"), .commonName("good.test")]
        }
    }

    @Test("no damaged certificate traps a reader or is trusted, T-TLS-55", arguments: 1...8 as ClosedRange<UInt64>)
    func mutations(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let store = try TrustStore([authority.certificate])
        let original = site.certificate.derBytes
        var parsed = 0

        for _ in 0..<250 {
            let bytes = mutate(original, &generator)
            guard let damaged = try? Certificate(der: bytes), bytes != original else { continue }
            parsed += 1
            visit(damaged)
            let orders = [[damaged], [damaged, authority.certificate], [site.certificate, damaged]]
            for (index, served) in orders.enumerated() {
                let policy = TrustPolicy.tlsServer(PeerName("good.test"))
                let evaluation = ChainEvaluator.evaluate(served: served, policy: policy, store: store, at: now)
                #expect(evaluation.isTrusted == (index == 2))
                #expect(evaluation.failure?.message != "")
            }
        }

        #expect(parsed > 20)
    }

    @Test("damaged authorities vouch for no certificate, T-TLS-55", arguments: 1...4 as ClosedRange<UInt64>)
    func mutatedAuthorities(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let other = try TrustStore([CertificateAuthority().certificate])

        for _ in 0..<150 {
            let bytes = mutate(authority.certificate.derBytes, &generator)
            guard let damaged = try? Certificate(der: bytes) else { continue }
            visit(damaged)
            let served = [site.certificate, damaged]
            let evaluation = ChainEvaluator.evaluate(served: served, policy: .basicX509, store: other, at: now)
            #expect(!evaluation.isTrusted)
            #expect(evaluation.verifiedChain.first == site.certificate)
        }
    }

    @Test("damaged texts give an error or certificates, T-TLS-55", arguments: 1...4 as ClosedRange<UInt64>)
    func mutatedText(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let text = Array((site.pem + "\n" + authority.pem).utf8)

        for _ in 0..<200 {
            let found = try? Certificate.certificates(in: mutate(text, &generator))
            #expect(found?.isEmpty != true)
        }
    }

    private func mutate(_ original: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let at = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[at] = [0, 0xFF, 0x80, 0x7F, 0x30, 0x02][Int.random(in: 0..<6, using: &generator)]
            case 2: bytes[at] &+= 1
            case 3: bytes.swapAt(at, Int.random(in: 0..<bytes.count, using: &generator))
            case 4 where at + 4 < bytes.count: bytes.replaceSubrange(at..<at + 4, with: bytes[0..<4])
            default: bytes[at] = .random(in: .min ... .max, using: &generator)
            }
        }
        return bytes
    }

    /// Looks at everything there is. Others who use OpenSSL on this thread find none of our errors.
    private func visit(_ certificate: Certificate) {
        ERR_clear_error()
        defer { #expect(ERR_peek_error() == 0, "\(String(cString: ERR_reason_error_string(ERR_peek_error())))") }
        let texts = [
            certificate.subject, certificate.issuer, certificate.summary, certificate.serialNumber,
            certificate.description, certificate.pin.description,
        ]
        #expect(!texts.contains { $0.utf8.count > 20_000 })
        _ = (certificate.dnsNames, certificate.ipAddresses, certificate.emailAddresses)
        _ = (certificate.notBeforeSeconds, certificate.notAfterSeconds, certificate.publicKeyBytes)
        _ = (certificate.isSelfIssued, certificate.mayIssue, certificate.hashValue, certificate.fingerprint)
        for host in ["good.test", "127.0.0.1", "::1"] {
            if let name = PeerName(host) { _ = HostnameMatcher.matches(certificate, name) }
        }
        #expect(certificate == certificate)
    }
}
