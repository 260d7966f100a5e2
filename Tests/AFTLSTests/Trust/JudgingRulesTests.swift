import CAFOpenSSL
import Foundation
import Testing

@testable import AFTLS

/// The single questions that a verdict is made of, at their edges.
@Suite struct JudgingRulesTests {
    private typealias Name = CertificateTemplate.AlternativeName
    private let root: CertificateAuthority

    init() throws {
        root = try CertificateAuthority("Root")
    }

    private func withStack<Result>(_ all: [Certificate], _ body: (OpaquePointer) throws -> Result) throws -> Result {
        let stack = try #require(caf_x509_stack())
        defer { caf_x509_free_all(stack) }
        for certificate in all { #expect(caf_x509_push(stack, certificate.handle) == 1) }
        return try body(stack)
    }

    private func content(_ stack: OpaquePointer?) -> [Certificate] {
        (0..<caf_x509_count(stack)).compactMap { caf_x509_at(stack, $0).flatMap { Certificate(sharing: $0) } }
    }

    @Test func `a store's own flags loosen nothing, and an unknown purpose or trust makes no question`() throws {
        let unwanted = X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_IGNORE_CRITICAL | X509_V_FLAG_ALLOW_PROXY_CERTS
        let strict = UInt(X509_V_FLAG_X509_STRICT | X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_USE_CHECK_TIME)
        let (store, leaf) = (try #require(caf_store()), try root.issue(for: "good.test").certificate)
        defer { X509_STORE_free(store) }
        #expect(X509_STORE_set_flags(store, UInt(unwanted | X509_V_FLAG_PARTIAL_CHAIN)) == 1)
        for (purpose, trust, isPartial, isMade) in [
            (1, 3, false, true), (2, 3, true, true), (0, 0, false, true), (99, 3, false, false), (2, 99, false, false),
        ] as [(Int32, Int32, Bool, Bool)] {
            var rules = caf_verification_rules()
            (rules.seconds, rules.depth, rules.level) = (1_700_000_000, 9, 3)
            (rules.purpose, rules.trust, rules.partial_chain) = (purpose, trust, isPartial)
            let context = caf_verification(store, leaf.handle, nil, &rules)
            defer { X509_STORE_CTX_free(context) }
            #expect((context != nil) == isMade)
            guard let set = context.flatMap({ X509_STORE_CTX_get0_param($0) }) else { continue }
            let flags = X509_VERIFY_PARAM_get_flags(set)
            #expect(flags & UInt(unwanted) == 0 && flags & strict == strict)
            #expect((flags & UInt(X509_V_FLAG_PARTIAL_CHAIN) != 0) == isPartial)
        }
    }

    @Test func `a signature counts from its name, its key and the strength of both`() throws {
        let (rsa, p384) = (try CertificateAuthority("R", kind: .rsa(bits: 1024)), try CertificateAuthority(kind: .p384))
        let cases: [(IssuedCertificate, CertificateAuthority, ClosedRange<Int32>?)] = [
            (try root.issue(for: "a.test"), root, 0...3), (try p384.issue(for: "a.test"), p384, 0...3),
            (try p384.issue(for: "a.test") { $0.digest = .sha384 }, p384, 0...4),
            (try rsa.issue(for: "a.test"), rsa, 0...1),
            (try rsa.issue(for: "a.test") { $0.digest = .sha1 }, rsa, 0...0),
            (try root.issue(for: "a.test") { $0.breaksSignature = true }, root, nil),
            (try root.issue(for: "a.test"), rsa, nil),
            (try root.issue(for: "a.test"), try CertificateAuthority("Other", key: root.key), nil),
        ]
        for (index, (site, issuer, levels)) in cases.enumerated() {
            for level in 0...7 as ClosedRange<Int32> {
                let signed = caf_signed_by(site.certificate.handle, issuer.certificate.handle, level)
                #expect(signed == (levels?.contains(level) == true ? 1 : 0), "\(index) at \(level)")
            }
        }
    }

    // MARK: - Name constraints

    private func bound(_ permitted: [Name], _ excluded: [Name] = []) throws -> Certificate {
        let constraints = CertificateTemplate.NameConstraints(permitted: permitted, excluded: excluded)
        return try root.makeIntermediate("Bound") { $0.nameConstraints = constraints }.certificate
    }

    @Test func `as many names as are affordable are compared with constraints, and not one more`() throws {
        let site = try root.issue(for: "n.test") { $0.alternativeNames = .init(repeating: .dns("n.test"), count: 255) }
        for (permitted, excluded, isAllowed) in [
            (128, 128, true), (129, 128, false), (128, 129, false), (256, 0, true), (257, 0, false), (0, 256, true),
            (0, 257, false),
        ] {
            let (inside, outside) = ([Name](repeating: .dns("n.test"), count: permitted), [Name.dns("x.test")])
            let issuer = try bound(inside, Array(repeatElement(outside, count: excluded).joined()))
            #expect(caf_names_allowed(site.certificate.handle, issuer.handle, true) == isAllowed)
        }
    }

    @Test func `constraints bind those who did not issue themselves, and the last certificate in any case`() throws {
        let issuer = try bound([.dns("in.test")])
        let constraint = CertificateTemplate.Extension("2.5.29.30", value: [0x30, 0])
        let twice = try root.makeIntermediate { $0.otherExtensions = [constraint, constraint] }.certificate
        let named = { (subject: String, names: [Name]) in
            try root.issue(for: subject) { $0.alternativeNames = names }.certificate
        }
        let own = try CertificateAuthority("Self") { $0.alternativeNames = [.dns("out.test")] }.certificate
        let cases: [(Certificate, Certificate, above: Bool, last: Bool)] = [
            (try named("in.test", [.dns("in.test")]), issuer, true, true),
            (try named("in.test", [.dns("out.test")]), issuer, false, false),
            // A common name is one of a host where no other is.
            (try named("out.test", []), issuer, true, false), (try named("in.test", []), issuer, true, true),
            (own, issuer, true, false), (own, root.certificate, true, true), (own, twice, false, false),
        ]
        for (index, row) in cases.enumerated() {
            #expect(caf_names_allowed(row.0.handle, row.1.handle, false) == row.above, "\(index)")
            #expect(caf_names_allowed(row.0.handle, row.1.handle, true) == row.last, "\(index)")
        }
    }

    @Test func `a host is within what is permitted and outside of what is excluded`() throws {
        let (out, banned) = (X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION)
        let address = Name.ip([10, 0, 0, 0, 255, 0, 0, 0])
        let cases: [([Name], [Name], [String: Int32])] = [
            ([.dns("a.test")], [], ["A.TEST": 0, "x.a.test": 0, "xa.test": out, "b.test": out, "test": out]),
            ([.dns(".a.test")], [], ["a.test": out, "x.a.test": 0]), ([.dns("")], [], ["a.test": 0]),
            ([.dns("b.test"), .dns("a.test")], [], ["a.test": 0, "b.test": 0, "c.test": out]),
            ([address], [address], ["a.test": 0]), ([address, .dns("a.test")], [], ["a.test": 0, "b.test": out]),
            ([], [.dns("a.test")], ["a.test": banned, "x.a.test": banned, "xa.test": 0, "test": 0]),
            ([.dns("b.test")], [.dns("a.test"), .dns("a.test")], ["a.test": banned, "b.test": 0, "c.test": out]),
        ]
        for (permitted, excluded, hosts) in cases {
            let issuer = try bound(permitted, excluded)
            for (host, code) in hosts {
                #expect(caf_host_allowed(issuer.handle, Array(host.utf8), host.utf8.count) == code, "\(host)")
            }
        }
    }

    // MARK: - Several certificates of one authority

    @Test func `the order of certificates is one of content, those that are valid longest first`() throws {
        let all = try [30, 10, 20, 20, 20].map { days in
            try root.issue(for: "good.test") { $0.notAfter = Date(seconds: now + days * 86_400) }.certificate
        }
        let orders = try [all, all.reversed(), Array(all[2...] + all[..<2])].map { order in
            try withStack(order) { stack in
                let sorted = caf_sorted(stack)
                defer { caf_x509_free_all(sorted) }
                #expect(content(stack) == order)
                return content(sorted)
            }
        }
        #expect(Set(orders).count == 1 && orders[0].first == all[0] && orders[0].last == all[1])
    }

    @Test func `of a dead end goes the uppermost certificate that has another one of its name`() throws {
        let twins = try ["One", "One", "Up", "Up"].map { try CertificateAuthority($0).certificate }
        let (one, two, up, other, site) = (twins[0], twins[1], twins[2], twins[3], root.certificate)
        let cases: [(served: [Certificate], built: [Certificate], left: [Certificate]?)] = [
            ([site, one, two], [site, two], [site, one]), ([site, one, two, one], [site, one], [site, two]),
            ([two, one], [site, one], [two]), ([one, two, up, other], [site, one, up], [one, two, other]),
            ([one, two, up], [site, one, up], [two, up]), ([one, two], [site, one, up], [two]),
            // Alone, not served, the server's own, or nothing at all.
            ([site, one, up], [site, one], nil), ([site, two], [site, one], nil), ([one, two], [one], nil),
            ([], [site, one], nil), ([one, two], [], nil),
        ]
        for (index, row) in cases.enumerated() {
            try withStack(row.served) { served in
                let dropped = try withStack(row.built) { caf_drop_dead_end(served, $0) }
                #expect(dropped == (row.left == nil ? 0 : 1) && content(served) == row.left ?? row.served, "\(index)")
            }
        }
    }
}
