import AFBase
import AFFaults
import Foundation
import Testing

@testable import AFTLS

/// Roots are read when a chain may lead to them, which must make no difference to any verdict.
@Suite struct RootIndexTests {
    private let first: CertificateAuthority
    private let second: CertificateAuthority

    init() throws {
        first = try CertificateAuthority("First")
        second = try CertificateAuthority("Second")
    }

    private func index(_ text: String) -> RootIndex {
        var index = RootIndex()
        index.add(Array(text.utf8))
        return index
    }

    private func block(_ der: [UInt8], _ label: String = "CERTIFICATE") -> String {
        let digits = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(digits)\n-----END \(label)-----\n"
    }

    private func judge(_ served: [Certificate], _ store: TrustStore, partial: Bool = false) -> TrustEvaluation {
        let policy = TrustPolicy.tlsServer(PeerName("good.test"))
        return ChainEvaluator.evaluate(
            served: served,
            policy: policy,
            store: store,
            at: now,
            allowsPartialChain: partial
        )
    }

    /// The same from roots in a text as from certificates that were all read before.
    private func expectSameVerdicts(
        on chains: [[Certificate]],
        from anchors: [Certificate],
        beside own: [Certificate] = []
    ) throws {
        let all = try TrustStore(anchors + own)
        let roots = index(anchors.map { block($0.derBytes) }.joined(separator: "between\n"))
        let warm = try TrustStore(own, beside: roots)
        #expect(warm.count == all.count)
        for served in chains {
            for partial in [false, true] {
                let expected = judge(served, all, partial: partial)
                let cold = try TrustStore(own, beside: roots)
                #expect(judge(served, cold, partial: partial) == expected)
                #expect(judge(served, warm, partial: partial) == expected)
            }
        }
    }

    @Test("only the roots that a chain may lead to are read, T-TLS-57")
    func few() throws {
        let roots = index(first.pem + second.pem)
        let store = try TrustStore([], beside: roots)
        let site = try first.issue(for: "good.test")

        #expect(roots.keys.count == 2 && store.count == 2 && store.added.withLock(\.count) == 0)
        #expect(judge(site.chain, store).isTrusted)
        #expect(store.added.withLock(\.count) == 1)
        let stranger = try CertificateAuthority("Third").issue(for: "good.test")
        #expect(judge(stranger.chain, store).failure?.reason == .unknownRoot)
        #expect(store.added.withLock(\.count) == 1)
    }

    @Test("authorities of one name, with a new key, expired or forged")
    func sameName() throws {
        let renewed = try CertificateAuthority("First", key: first.key)
        let expired = try CertificateAuthority("First", key: first.key) { $0.expire() }
        let rolled = try CertificateAuthority("First")
        let impostor = try first.makeImpostor()
        let chains = try [first, rolled, impostor, second].map { try $0.issue(for: "good.test").chain }
        let namesakes = [first, renewed, expired, rolled].map(\.certificate)

        for anchors in permutations(namesakes) { try expectSameVerdicts(on: chains, from: anchors) }
        try expectSameVerdicts(on: chains, from: [expired.certificate, second.certificate])
    }

    @Test("roots that certify each other, and authorities that are no roots")
    func crossSigned() throws {
        let middle = try first.makeIntermediate()
        let crossed = try second.crossSign(middle)
        let bridge = try second.crossSign(first)
        let site = try middle.issue(for: "good.test")
        let others = [middle, crossed, bridge].map(\.certificate)
        let chains = [[], [others[0]], [others[1]], [others[2]], others].map { [site.certificate] + $0 }

        for anchors in [[first], [second], [first, second], [middle], [bridge, second], [crossed, second], [bridge]] {
            try expectSameVerdicts(on: chains, from: anchors.map(\.certificate))
            try expectSameVerdicts(on: chains, from: [second.certificate], beside: anchors.map(\.certificate))
        }
        // Known to the client alone, and below a root that nothing served names.
        let store = try TrustStore([middle.certificate], beside: index(first.pem))
        #expect(judge([site.certificate], store).chain == [site.certificate, middle.certificate, first.certificate])
    }

    @Test("a name in another spelling is the same name")
    func spellings() throws {
        let texts: [(tag: UInt8, bytes: [UInt8])] = [
            (0x0C, Array("Acmé Root 7".utf8)), (0x0C, Array("  ACMé   rOOt 7 ".utf8)),
            (0x14, Array("Acm".utf8) + [0xE9] + Array(" Root 7".utf8)),
            (0x1E, "acmé root 7".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }),
            (0x1C, "Acmé ROOT 7".unicodeScalars.flatMap { [0, 0, 0, UInt8($0.value)] }),
        ]
        let authorities = try texts.map { text in
            try CertificateAuthority(key: first.key) {
                $0.subject = [.init("2.5.4.3", bytes: text.bytes, tag: text.tag), .country("DE")]
            }
        }
        for issuer in authorities {
            let chain = [try issuer.issue(for: "good.test").certificate]
            for root in authorities {
                try expectSameVerdicts(on: [chain], from: [root.certificate])
                #expect(judge(chain, try TrustStore([], beside: index(root.pem))).isTrusted)
            }
        }
    }

    @Test("a root that cannot be read does not hide another of the same name, T-TLS-57")
    func unreadable() throws {
        var broken = first.der
        let key = try #require(Data(broken).range(of: Data(first.certificate.publicKeyBytes)))
        broken[key.lowerBound] = 0x31
        let unreadable = block(broken)
        let site = try first.issue(for: "good.test")

        #expect(index(unreadable).isEmpty)
        #expect(!index(unreadable + first.pem).isEmpty && !index(first.pem + unreadable).isEmpty)
        #expect(judge(site.chain, try TrustStore([], beside: index(unreadable + first.pem))).isTrusted)
        #expect(!judge(site.chain, try TrustStore([], beside: index(unreadable + second.pem))).isTrusted)
    }

    @Test("a root whose encoding says no lengths is read at once")
    func nameless() throws {
        let indefinite = block([0x30, 0x80] + first.der.dropFirst(4) + [0, 0])
        let roots = index(indefinite + indefinite + second.pem)

        #expect(roots.count == 2 && roots.nameless == [first.certificate])
        #expect(!index(indefinite).isEmpty && RootIndex().isEmpty)
        #expect(judge(try first.issue(for: "good.test").chain, try TrustStore([], beside: roots)).isTrusted)
    }

    @Test("a root that is not trusted for servers is left out, T-TLS-57")
    func uses() throws {
        // OpenSSL's notes behind a certificate: for which uses it is good, and [0] for which it is not.
        let (servers, mail): ([UInt8], [UInt8]) = (
            [6, 8, 0x2B, 6, 1, 5, 5, 7, 3, 1], [6, 8, 0x2B, 6, 1, 5, 5, 7, 3, 4]
        )
        let site = try first.issue(for: "good.test").chain
        for (notes, isTrusted) in [
            ([0x30, 12, 0x30, 10] + servers, true), ([0x30, 12, 0x30, 10] + mail, false),
            ([0x30, 12, 0xA0, 10] + servers, false), ([0x30, 12, 0xA0, 10] + mail, true),
        ] {
            let roots = index(block(first.der + notes, "TRUSTED CERTIFICATE"))
            #expect(roots.count == 1 && !roots.isEmpty)
            #expect(judge(site, try TrustStore([], beside: roots)).isTrusted == isTrusted, "\(notes)")
            // Behind a certificate of the other label they are nothing.
            let plain = index(block(first.der + notes))
            #expect(judge(site, try TrustStore([], beside: plain)).isTrusted, "\(notes)")
        }
    }

    @Test("the same certificate twice counts once, in whatever file it is")
    func repeated() {
        var roots = index(first.pem + second.pem + first.pem)
        roots.add(Array(first.pem.utf8))

        #expect(roots.count == 2)
    }

    @Test("every root of this system is found")
    func system() throws {
        let text = try FileReader.bytes(atPath: SystemTrustPaths().file)
        let anchors = PEMBlock.split(text).compactMap { $0.content().flatMap { try? Certificate(der: $0.der) } }
        let all = try TrustStore(anchors)
        var roots = RootIndex()
        roots.add(text)
        let few = try TrustStore([], beside: roots)

        #expect(roots.nameless.isEmpty && roots.count == Set(anchors).count)
        for anchor in anchors {
            let verdicts = [few, all].map {
                ChainEvaluator.evaluate(served: [anchor], policy: .basicX509, store: $0, at: now)
            }
            #expect(verdicts[0] == verdicts[1])
            #expect(verdicts[0].chain.first == anchor)
        }
    }

    @Test("a store that is dropped leaves no memory behind")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let anchors = [try CertificateAuthority("First").certificate]
            func makeStores(_ count: Int) throws {
                for _ in 0..<count { _ = try TrustStore(anchors) }
            }
            try makeStores(100)
            let before = ProcessUse.heapBytes
            try makeStores(2000)
            #expect(ProcessUse.heapBytes - before < 32 << 10)
        }
    }

    @Test("plain blocks are read as OpenSSL reads them, wherever they are damaged")
    func plainBlocks() throws {
        let text = Array(first.pem.utf8)
        for at in text.indices {
            for byte in "=-\n A*\0".utf8 {
                var damaged = text
                damaged[at] = byte
                // Another label takes the other way.
                let relabeled = String(decoding: damaged, as: UTF8.self)
                    .replacingOccurrences(of: " CERTIFICATE-----", with: " X509 CERTIFICATE-----")
                #expect(content(damaged) == content(Array(relabeled.utf8)), "\(byte) at \(at)")
            }
        }
        for text in [first.pem + "junk", first.pem.replacingOccurrences(of: "\n", with: "\r\n"), first.pem + first.pem]
        {
            #expect(content(Array(text.utf8)) == first.der)
        }
    }

    private func content(_ text: [UInt8]) -> [UInt8]? {
        PEMBlock.split(text).first?.content()?.der
    }
}
