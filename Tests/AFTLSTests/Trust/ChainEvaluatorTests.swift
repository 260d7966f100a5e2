import AFTLS
import CAFOpenSSL
import Foundation
import Testing

@Suite struct ChainEvaluatorTests {
    private let root: CertificateAuthority
    private let middle: CertificateAuthority

    init() throws {
        root = try CertificateAuthority("Root")
        middle = try root.makeIntermediate("Middle")
    }

    @Test("a chain to an anchor is trusted, root included")
    func trusted() throws {
        let site = try middle.issue(for: "good.test")

        let evaluation = try judge(site.chain, anchors: [root])

        #expect(evaluation.isTrusted)
        #expect(evaluation.failure == nil)
        #expect(evaluation.chain == [site.certificate, middle.certificate, root.certificate])
        #expect(evaluation.verifiedChain == evaluation.chain)
    }

    @Test("name and chain are judged apart, T-TLS-32")
    func switches() throws {
        let site = try middle.issue(for: "good.test")
        let store = try TrustStore([root.certificate])

        let named = ChainEvaluator.evaluate(
            served: site.chain,
            policy: .tlsServer(.dns("b.test")),
            store: store,
            at: now
        )
        let unnamed = ChainEvaluator.evaluate(served: site.chain, policy: .tlsServer(nil), store: store, at: now)
        let basic = ChainEvaluator.evaluate(served: site.chain, policy: .basicX509, store: store, at: now)
        let other = try TrustStore([])

        #expect(named.failure?.reason == .name)
        #expect(named.verifiedChain.count == 3)
        #expect(unnamed.isTrusted)
        #expect(basic.isTrusted)
        for policy in [TrustPolicy.tlsServer(.dns("good.test")), .tlsServer(nil), .basicX509] {
            #expect(!ChainEvaluator.evaluate(served: site.chain, policy: policy, store: other, at: now).isTrusted)
        }
    }

    @Test("an address in the URL is checked, T-TLS-35")
    func addresses() throws {
        let site = try root.issue(for: "127.0.0.1", "::1", "good.test")

        #expect(try judge(site.chain, for: "127.0.0.1", anchors: [root]).isTrusted)
        #expect(try judge(site.chain, for: "[::1]", anchors: [root]).isTrusted)
        #expect(try judge(site.chain, for: "127.0.0.2", anchors: [root]).failure?.reason == .name)
        #expect(
            try judge(root.issue(for: "good.test").chain, for: "127.0.0.1", anchors: [root]).failure?.reason == .name
        )
    }

    @Test("a certificate for others is refused with the result that OpenSSL has for it")
    func mismatches() throws {
        let site = try middle.issue(for: "good.test")

        for (host, code) in [
            ("b.test", X509_V_ERR_HOSTNAME_MISMATCH), ("127.0.0.1", X509_V_ERR_IP_ADDRESS_MISMATCH),
            ("::1", X509_V_ERR_IP_ADDRESS_MISMATCH),
        ] {
            let failure = try judge(site.chain, for: host, anchors: [root]).failure
            #expect(failure?.reason == .name)
            #expect(failure?.verifyResult == code)
            #expect(failure?.depth == 0)
            #expect(failure?.certificate == site.certificate)
        }
    }

    @Test("no certificate is no trust, T-TLS-56")
    func nothing() throws {
        let store = try TrustStore([root.certificate])

        for policy in [TrustPolicy.tlsServer(nil), .basicX509] {
            let evaluation = ChainEvaluator.evaluate(leaf: nil, served: nil, policy: policy, store: store, at: now)
            #expect(evaluation.failure?.reason == .noCertificate)
            #expect(evaluation.chain.isEmpty && evaluation.verifiedChain.isEmpty)
        }
        #expect(try judge([]).failure?.reason == .noCertificate)
    }

    // MARK: - Dates

    @Test("the first and the last second count, one beyond does not, T-TLS-49")
    func boundaries() throws {
        let (first, last) = (now - 1000, now + 1000)
        let site = try middle.issue(for: "good.test") {
            $0.notBefore = Date(seconds: first)
            $0.notAfter = Date(seconds: last)
        }

        #expect(try judge(site.chain, anchors: [root], at: first).isTrusted)
        #expect(try judge(site.chain, anchors: [root], at: first - 1).failure?.reason == .notYetValid)
        #expect(try judge(site.chain, anchors: [root], at: last - 1).isTrusted)
        #expect(try judge(site.chain, anchors: [root], at: last + 1).failure?.reason == .expired)
    }

    @Test("the certificate out of date is named, wherever it stands, with both times, T-TLS-49")
    func offenders() throws {
        let end: Int64 = 1_793_534_400
        let late = { (template: inout CertificateTemplate) in
            template.notBefore = Date(seconds: end - 86_400)
            template.notAfter = Date(seconds: end)
        }
        let oldRoot = try CertificateAuthority("Old root") { late(&$0) }
        let oldMiddle = try root.makeIntermediate("Old middle") { late(&$0) }
        let chains: [([Certificate], CertificateAuthority, String, Int)] = [
            (try middle.issue(for: "good.test") { late(&$0) }.chain, root, "CN=good.test", 0),
            (try oldMiddle.issue(for: "good.test").chain, root, "CN=Old middle", 1),
            (try oldRoot.issue(for: "good.test").chain, oldRoot, "CN=Old root", 1),
        ]

        for (chain, anchor, subject, depth) in chains {
            let failure = try judge(chain, anchors: [anchor], at: max(now, end + 60)).failure
            let moment = max(now, end + 60) == end + 60 ? "2026-11-01 12:01:00 UTC" : "it is "
            #expect(failure?.reason == .expired)
            #expect(failure?.certificate?.subject == subject)
            #expect(failure?.depth == depth)
            #expect(
                failure?.message.hasPrefix("the certificate \"\(subject)\" expired on 2026-11-01 12:00:00 UTC (")
                    == true
            )
            #expect(failure?.message.contains(moment) == true)
        }
        let early = try judge(middle.issue(for: "good.test") { $0.postpone() }.chain, anchors: [root])
        #expect(early.failure?.reason == .notYetValid)
        #expect(early.failure?.message.contains("is not valid before") == true)
    }

    // MARK: - Purpose

    @Test("a certificate for another purpose is refused as a server's, T-TLS-50")
    func purposes() throws {
        let changes: [(inout CertificateTemplate) -> Void] = [
            { $0.extendedKeyUsage = [.clientAuthentication] },
            { $0.extendedKeyUsage = [.codeSigning] },
            { $0.keyUsage = .keyEncipherment },
            { $0.keyUsage = [.revocationListSigning] },
            { $0.keyUsage = [.keyAgreement, .revocationListSigning] },
        ]
        for change in changes {
            let chain = try middle.issue(for: "good.test") { change(&$0) }.chain
            let failure = try judge(chain, anchors: [root]).failure
            #expect(failure?.reason == .purpose)
            #expect(failure?.depth == 0)
            #expect(failure?.certificate == chain[0])
            let store = try TrustStore([root.certificate])
            #expect(ChainEvaluator.evaluate(served: chain, policy: .basicX509, store: store, at: now).isTrusted)
        }
        for fine in [nil, [.serverAuthentication], [.clientAuthentication, .serverAuthentication]]
            as [[CertificateTemplate.Purpose]?]
        {
            #expect(
                try judge(middle.issue(for: "good.test") { $0.extendedKeyUsage = fine }.chain, anchors: [root])
                    .isTrusted
            )
        }
    }

    @Test("an authority's certificate does not serve, T-TLS-50")
    func authorityAsServer() throws {
        let site = try root.issue(for: "good.test") {
            $0.basicConstraints = .init(isAuthority: true)
            $0.keyUsage = [.digitalSignature, .certificateSigning]
        }

        let evaluation = try judge(site.chain, anchors: [root])

        #expect(evaluation.failure?.reason == .purpose)
        #expect(evaluation.failure?.message.contains("is an authority's") == true)
        #expect(evaluation.failure?.depth == 0)
        #expect(evaluation.failure?.verifyResult == X509_V_ERR_INVALID_PURPOSE)
        #expect(try judge(site.chain, certificates: [site.certificate], partial: true).isTrusted)
    }

    @Test("the purposes of an intermediate bind those below, T-TLS-50")
    func intermediatePurpose() throws {
        let mail = try root.makeIntermediate { $0.extendedKeyUsage = [.clientAuthentication] }

        let evaluation = try judge(mail.issue(for: "good.test").chain, anchors: [root])

        #expect(evaluation.failure?.reason == .purpose)
        #expect(evaluation.verifiedChain.count == 1)
    }

    @Test("an anchor that is marked as not for servers is none for them")
    func markedAnchor() throws {
        let site = try root.issue(for: "good.test")
        let marked = try Certificate(der: root.der)
        #expect(X509_add1_reject_object(marked.handle, OBJ_nid2obj(NID_server_auth)) == 1)

        let evaluation = try judge(site.chain, certificates: [marked])
        let store = try TrustStore([marked])

        #expect(evaluation.failure?.reason == .unknownRoot)
        #expect(evaluation.failure?.verifyResult == X509_V_ERR_CERT_REJECTED)
        #expect(
            evaluation.failure?.message
                == "the certificate \"CN=Root\" is marked as not to be trusted for this use"
        )
        #expect(ChainEvaluator.evaluate(served: site.chain, policy: .basicX509, store: store, at: now).isTrusted)
        #expect(try judge(site.chain, anchors: [root]).isTrusted)
    }

    // MARK: - Paths

    @Test("a chain that is self-signed, or ends at an unknown authority, is not trusted, T-TLS-51")
    func strangers() throws {
        let alone = try IssuedCertificate.selfSigned(.server(for: ["good.test"]))
        let stranger = try CertificateAuthority("Stranger")
        let site = try stranger.makeIntermediate("Below").issue(for: "good.test")

        let selfSigned = try judge(alone.chain, anchors: [root])
        let unknown = try judge(site.chain, anchors: [root])
        let sent = try judge(site.chain + [stranger.certificate], anchors: [root])

        #expect(selfSigned.failure?.reason == .selfSigned)
        #expect(unknown.failure?.reason == .unknownRoot)
        #expect(unknown.failure?.message.contains("\"CN=Stranger\", which is not among the trusted") == true)
        #expect(unknown.chain == site.chain && unknown.verifiedChain == site.chain)
        #expect(sent.failure?.reason == .unknownRoot)
        #expect(
            sent.failure?.message == "the chain ends at \"CN=Stranger\", which is not among the trusted authorities"
        )
        #expect(sent.verifiedChain == site.chain + [stranger.certificate])
        #expect(try judge(alone.chain, certificates: [alone.certificate]).isTrusted)
        #expect(try judge(stranger.issue(for: "good.test").chain, anchors: [root]).failure?.reason == .unknownRoot)
    }

    @Test("a chain may be sent in any order, twice, or with strangers in it, T-TLS-51")
    func disorder() throws {
        let lower = try middle.makeIntermediate("Lower")
        let site = try lower.issue(for: "good.test")
        let stranger = try CertificateAuthority("Stranger").certificate
        let rest = [lower.certificate, middle.certificate, root.certificate, stranger, middle.certificate]

        for order in permutations(rest) {
            let evaluation = try judge([site.certificate] + order, anchors: [root])
            #expect(evaluation.isTrusted)
            #expect(evaluation.chain.count == 4)
        }
        // The server's own certificate has to come first.
        #expect(try !judge(site.chain.reversed(), anchors: [root]).isTrusted)
    }

    @Test("a missing intermediate is not fetched, but may be an anchor's neighbour, T-TLS-26")
    func missingIntermediate() throws {
        let site = try middle.issue(for: "good.test")

        let evaluation = try judge([site.certificate], anchors: [root])

        #expect(evaluation.failure?.reason == .unknownRoot)
        #expect(evaluation.failure?.depth == 0)
        #expect(try judge([site.certificate], anchors: [root], certificates: [middle.certificate]).isTrusted)
        #expect(try judge([site.certificate], certificates: [middle.certificate], partial: true).isTrusted)
    }

    @Test("a certificate of the web that came alone points at the server's mistake, T-TLS-26")
    func forgottenIntermediate() throws {
        let site = try middle.issue(for: "good.test") { $0.otherExtensions = [Self.issuerLocation] }

        #expect(try judge([site.certificate], anchors: [root]).failure?.reason == .incompleteChain)
        #expect(try judge(site.chain, anchors: [root]).isTrusted)
    }

    @Test("nothing else points at that mistake: other failures, other certificates sent, one further up, T-TLS-26")
    func nothingForgotten() throws {
        let located = { (template: inout CertificateTemplate) in template.otherExtensions = [Self.issuerLocation] }
        let stranger = try CertificateAuthority("Stranger")
        let below = try stranger.makeIntermediate("Below") { located(&$0) }
        let site = try middle.issue(for: "good.test") { located(&$0) }
        let expired = try root.issue(for: "good.test") {
            located(&$0)
            $0.expire()
        }
        var template = CertificateTemplate.server(for: ["good.test"])
        located(&template)
        let alone = try IssuedCertificate.selfSigned(template)
        let upper = try below.issue(for: "good.test").certificate

        #expect(try judge(expired.chain, anchors: [root]).failure?.reason == .expired)
        #expect(try judge(alone.chain, anchors: [root]).failure?.reason == .selfSigned)
        let accompanied = try judge([site.certificate, stranger.certificate], anchors: [root]).failure
        #expect(accompanied?.reason == .unknownRoot)
        #expect(accompanied?.depth == 0)
        // The authority above is one of the client's own.
        let known = try judge([upper], anchors: [root], certificates: [below.certificate]).failure
        #expect(known?.reason == .unknownRoot)
        #expect(known?.depth == 1)
    }

    /// Authority information access: caIssuers, http://a.test/x
    private static let issuerLocation = CertificateTemplate.Extension(
        "1.3.6.1.5.5.7.1.1",
        value: [0x30, 0x1D, 0x30, 0x1B, 0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x02, 0x86, 0x0F]
            + Array("http://a.test/x".utf8)
    )

    @Test("an anchor below the root ends a chain only if that was asked for, T-TLS-31")
    func partialChain() throws {
        let site = try middle.issue(for: "good.test")

        for anchor in [middle.certificate, site.certificate] {
            let strict = try judge(site.chain, certificates: [anchor])
            let partial = try judge(site.chain, certificates: [anchor], partial: true)
            #expect(!strict.isTrusted)
            #expect(partial.isTrusted)
            #expect(partial.chain.contains(anchor) && !partial.chain.contains(root.certificate))
        }
        let expired = try middle.issue(for: "good.test") { $0.expire() }
        #expect(
            try judge(expired.chain, certificates: [expired.certificate], partial: true).failure?.reason == .expired
        )
        #expect(
            try judge(site.chain, for: "b.test", certificates: [site.certificate], partial: true).failure?.reason
                == .name
        )
    }

    @Test("a chain has nine authorities between server and root at most, T-TLS-54")
    func depth() throws {
        var authority = root
        var results: [TrustEvaluation] = []
        for _ in 0..<10 {
            authority = try authority.makeIntermediate()
            results.append(try judge(authority.issue(for: "good.test").chain, anchors: [root]))
        }

        #expect(results.map(\.isTrusted) == Array(repeating: true, count: 9) + [false])
        #expect(results[9].failure?.reason == .tooLong)
    }
}

/// All orders of the elements.
func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index in
        var rest = elements
        let first = rest.remove(at: index)
        return permutations(rest).map { [first] + $0 }
    }
}
