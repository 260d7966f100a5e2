import CAFOpenSSL
import Foundation
import Testing

@testable import AFTLS

/// The exact edges of what is looked at, and which of several paths is taken.
@Suite struct ChainEdgeTests {
    private let root: CertificateAuthority

    init() throws {
        root = try CertificateAuthority("Root")
    }

    // MARK: - Bytes

    @Test("exactly 100 KiB of certificates are looked at, and not one byte more, T-TLS-54")
    func bytes() throws {
        let site = try root.issue(for: "good.test").certificate
        let limit = 100 * 1024 - site.derBytes.count
        let sizes = try [limit - 1, limit, limit + 1].map { size in
            let filler = try filler(of: size)
            #expect(filler.derBytes.count == size)
            return try judge([site, filler], anchors: [root]).failure?.reason
        }

        #expect(sizes == [nil, nil, .tooLong])
    }

    @Test("the server's own certificate counts once, wherever it stands among those it came with")
    func ownBytes() throws {
        let site = try root.issue(for: "good.test").certificate
        let limit = 100 * 1024 - site.derBytes.count
        let filler = try filler(of: limit)

        #expect(try evaluation(of: site, beside: [filler, site]).isTrusted)
        #expect(try evaluation(of: site, beside: [filler]).isTrusted)
        let more = try evaluation(of: site, beside: [self.filler(of: limit + 1)])
        #expect(more.failure?.reason == .tooLong)
        #expect(more.failure?.verifyResult == X509_V_ERR_CERT_CHAIN_TOO_LONG)
    }

    /// Judges a certificate and the stack it came with, as a handshake leaves them behind; nil for none.
    private func evaluation(
        of site: Certificate,
        beside served: [Certificate]?,
        store: TrustStore? = nil
    ) throws -> TrustEvaluation {
        let stack = try served.map { served in
            let stack = try #require(caf_x509_stack())
            for certificate in served { #expect(caf_x509_push(stack, certificate.handle) == 1) }
            return stack
        }
        defer { caf_x509_free_all(stack) }
        return ChainEvaluator.evaluate(
            leaf: site.handle,
            served: stack,
            policy: .tlsServer(.dns("good.test")),
            store: try store ?? TrustStore([root.certificate]),
            at: now
        )
    }

    /// A certificate of exactly so many bytes.
    private func filler(of size: Int) throws -> Certificate {
        // Signatures made with RSA are all of one length.
        let stranger = try CertificateAuthority("Stranger", kind: .rsa)
        let key = try CertificateKey()
        func certificate(_ padding: Int) throws -> Certificate {
            var template = CertificateTemplate.server(for: ["filler.test"])
            template.serialNumber = [1, 2, 3, 4]
            template.otherExtensions = [.init("1.3.6.1.4.1.55555.9", value: [UInt8](repeating: 5, count: padding))]
            return try stranger.issue(template, key: key).certificate
        }
        let around = try certificate(70_000).derBytes.count - 70_000
        return try certificate(size - around)
    }

    // MARK: - What was served

    @Test("a stack may hold the server's own certificate anywhere, or not at all, or be none")
    func stacks() throws {
        let middle = try root.makeIntermediate()
        let site = try middle.issue(for: "good.test").certificate
        let below = try root.issue(for: "good.test").certificate
        let (chain, others) = ([site, middle.certificate, root.certificate], [middle.certificate, root.certificate])

        for served in [[middle.certificate], [middle.certificate, site], others, [site] + others] {
            #expect(try evaluation(of: site, beside: served).chain == chain)
            #expect(try evaluation(of: site, beside: served).isTrusted)
        }
        for served in [nil, [], [below]] as [[Certificate]?] {
            #expect(try evaluation(of: below, beside: served).isTrusted)
            #expect(try evaluation(of: site, beside: served).failure?.reason == .unknownRoot)
        }
    }

    @Test("roots are read for each certificate of a stack, T-TLS-57")
    func stackedRoots() throws {
        let middle = try root.makeIntermediate()
        let site = try middle.issue(for: "good.test").certificate
        var roots = RootIndex()
        roots.add(Array(root.pem.utf8))

        for served in [[middle.certificate], [middle.certificate, site]] {
            #expect(try evaluation(of: site, beside: served, store: TrustStore([], beside: roots)).isTrusted)
        }
    }

    @Test("a chain that could not be built is what was served, the server's own certificate first")
    func unbuilt() throws {
        let site = try CertificateAuthority("Elsewhere").issue(for: "good.test").certificate
        let others = try (0..<2).map { try CertificateAuthority("Stranger \($0)").certificate }

        for served in [others, [others[0], site, others[1]], [site] + others] {
            let evaluation = try evaluation(of: site, beside: served)
            #expect(evaluation.failure?.reason == .unknownRoot)
            #expect(evaluation.chain == [site] + others)
            #expect(evaluation.verifiedChain == [site])
        }
        #expect(try evaluation(of: site, beside: nil).chain == [site])
    }

    @Test("of a chain that was begun only that much is shown, without what was sent along")
    func begun() throws {
        let middle = try CertificateAuthority("Elsewhere").makeIntermediate("Middle")
        let site = try middle.issue(for: "good.test").certificate
        let others = try (0..<2).map { try CertificateAuthority("Stranger \($0)").certificate }

        let evaluation = try evaluation(of: site, beside: [site] + others + [middle.certificate])

        #expect(evaluation.failure?.reason == .unknownRoot)
        #expect(evaluation.chain == [site, middle.certificate])
    }

    // MARK: - Several paths

    /// An authority's certificates: some by strangers, looked at first, and then one by the root.
    private func middles(
        strangers count: Int,
        _ change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> (authority: CertificateAuthority, all: [Certificate]) {
        let middle = try root.makeIntermediate("Middle") { $0.notAfter = Date(seconds: now + 10 * 86_400) }
        let crossed = try (0..<count).map { index in
            try CertificateAuthority("Stranger \(index)").crossSign(middle) {
                $0.notAfter = Date(seconds: now + Int64(20 + index) * 86_400)
                change(&$0)
            }
        }
        return (middle, crossed.map(\.certificate) + [middle.certificate])
    }

    @Test("of the certificates of one authority the fifth is tried, and not the sixth, T-TLS-54")
    func attempts() throws {
        for (count, isTrusted) in [(1, true), (3, true), (4, true), (5, false)] {
            let (middle, all) = try middles(strangers: count)
            let site = try middle.issue(for: "good.test").certificate

            let evaluation = try judge([site] + all, anchors: [root])

            #expect(evaluation.isTrusted == isTrusted, "\(count) dead ends")
            if !isTrusted { #expect(evaluation.failure?.reason == .unknownRoot) }
        }
    }

    @Test("a chain that is valid for another name is not left for one that is not valid at all")
    func wrongName() throws {
        let (middle, all) = try middles(strangers: 2)
        let site = try middle.issue(for: "good.test").certificate

        let evaluation = try judge([site] + all, for: "b.test", anchors: [root])

        #expect(evaluation.failure?.reason == .name)
        #expect(evaluation.verifiedChain == [site, middle.certificate, root.certificate])
    }

    @Test("a fault that may never be forgiven on one path is not looked for on another")
    func finalReasons() throws {
        let middle = try root.makeIntermediate("Middle") { $0.notAfter = Date(seconds: now + 10 * 86_400) }
        let bound = try root.crossSign(middle) {
            $0.notAfter = Date(seconds: now + 20 * 86_400)
            $0.nameConstraints = .init(excluded: [.dns("good.test")])
        }
        let site = try middle.issue(for: "good.test").certificate

        let evaluation = try judge([site, middle.certificate, bound.certificate], anchors: [root])

        #expect(evaluation.failure?.reason == .nameConstraint)
    }

    @Test("the first failure is the one that is told")
    func firstFailure() throws {
        let middle = try root.makeIntermediate("Middle") { $0.expire() }
        let crossed = try CertificateAuthority("Stranger").crossSign(middle) {
            $0.notAfter = Date(seconds: now + 20 * 86_400)
        }
        let site = try middle.issue(for: "good.test").certificate

        for order in permutations([middle.certificate, crossed.certificate]) {
            let failure = try judge([site] + order, anchors: [root]).failure
            #expect(failure?.reason == .unknownRoot)
        }
    }

    // MARK: - What is left behind

    @Test("no error is left in OpenSSL's queue for the next call")
    func errors() throws {
        let stranger = try CertificateAuthority("Stranger")
        let forged = try root.makeImpostor().issue(for: "good.test").chain
        let chains = [
            try stranger.issue(for: "good.test").chain, forged, try root.issue(for: "good.test").chain,
            [root.certificate],
        ]

        for (number, chain) in chains.enumerated() {
            for host in [nil, "good.test"] {
                leaveError()
                #expect(ERR_peek_error() != 0)
                _ = try judge(chain, for: host, anchors: [root])
                #expect(ERR_peek_error() == 0, "chain \(number), host \(host ?? "none")")
            }
        }
    }

    /// As a caller of OpenSSL would that forgot to clear it.
    private func leaveError() {
        let bytes: [UInt8] = [0x30, 0x01, 0x00]
        bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            _ = d2i_X509(nil, &start, buffer.count)
        }
    }
}
