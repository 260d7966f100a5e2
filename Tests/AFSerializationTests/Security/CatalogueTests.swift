/// The cases in which AFNetworking's own tests put its security policy.
@Suite struct CatalogueTests {
    struct Case: CustomTestStringConvertible, Sendable {
        enum Pins: Sendable {
            case unset
            case these([Certificate])
        }

        let number: Int
        let mode: SSLPinningMode
        let pins: Pins
        let allowsInvalid: Bool
        let validatesName: Bool
        let chain: [Certificate]
        let domain: String?
        let expected: Bool

        var testDescription: String { "case \(number)" }

        func makePolicy() -> SecurityPolicy {
            let policy: SecurityPolicy
            switch pins {
            case .unset: policy = .default()
            case .these(let certificates): policy = SecurityPolicy(pinningMode: mode, certificates: certificates)
            }
            policy.allowInvalidCertificates = allowsInvalid
            policy.validatesDomainName = validatesName
            return policy
        }
    }

    static let cases = Result { try makeCases(PolicyFixtures.made.get()) }

    private static func makeCases(_ a: PolicyFixtures) -> [Case] {
        let chain = a.leafA.chain
        let (leaf, middle, root) = (a.leafA.certificate, a.intermediate.certificate, a.root.certificate)
        let all = [leaf, middle, root, a.crossRoot.certificate]
        let (n, f, l) = (a.n.certificate, a.f.certificate, a.l.certificate)
        var cases: [Case] = []
        func add(
            _ numbers: [Int],
            _ modes: [SSLPinningMode],
            _ pins: Case.Pins,
            _ allowsInvalid: Bool,
            _ validatesName: Bool,
            _ chain: [Certificate],
            _ domain: String?,
            _ expected: Bool
        ) {
            for (number, mode) in zip(numbers, modes) {
                cases.append(
                    Case(
                        number: number,
                        mode: mode,
                        pins: pins,
                        allowsInvalid: allowsInvalid,
                        validatesName: validatesName,
                        chain: chain,
                        domain: domain,
                        expected: expected
                    )
                )
            }
        }
        let both: [SSLPinningMode] = [.publicKey, .certificate]
        add([1], [.none], .unset, false, true, chain, nil, true)
        add([2], [.none], .unset, false, true, chain, "httpbin.org", true)
        add([3], [.none], .unset, false, true, [n], nil, false)
        add([4], [.none], .unset, false, true, chain, "apple.com", false)
        add([9, 10], both, .these([leaf]), false, true, chain, nil, true)
        add([11, 12], both, .these([middle]), false, true, chain, nil, true)
        add([13, 14], both, .these([root]), false, true, chain, nil, true)
        add([15, 16], both, .these(all), false, true, chain, nil, true)
        add([17, 18], both, .these([leaf, f]), false, true, chain, nil, true)
        add([19, 20], both, .these([leaf]), false, true, chain, "httpbin.org", true)
        add([21, 22], both, .these([]), false, true, chain, nil, false)
        add([23, 24], both, .these([leaf]), false, true, a.leafB.chain, nil, false)
        add([25, 26], both, .these([leaf]), false, true, chain, "invaliddomainname.com", false)
        add([27, 28], both, .these([leaf, f]), false, true, a.leafB.chain, nil, false)
        add([29], [.none], .unset, false, false, chain, "invalid.org", true)
        add([30], [.publicKey], .these([f]), true, true, [f], "foobar.com", true)
        add([31], [.publicKey], .these([l]), true, true, [l], "foobar.com", true)
        add([32], [.none], .unset, false, true, chain, "invalid.org", false)
        add([33], [.certificate], .these([n]), true, true, [n], "foobar.com", false)
        add([34], [.none], .unset, true, true, [l], nil, true)
        add([35], [.publicKey], .these([l]), true, true, [l], "foobar.com", true)
        add([36], [.none], .unset, true, false, [l], "foobar.com", true)
        add([37], [.none], .unset, false, true, [l], nil, false)
        add([38], [.publicKey], .these([]), true, true, [l], "foobar.com", false)
        add([39], [.none], .these([l]), true, true, [l], "foobar.com", false)
        add([40], [.none], .these([]), true, true, [l], "foobar.com", false)
        // Beyond the original's own.
        add([101], [.publicKey], .these([n]), true, true, [n], "foobar.com", true)
        add([102], [.certificate], .these([l]), true, true, [l], "foobar.com", true)
        add([103], [.certificate], .these([l]), true, true, [l], "other.com", false)
        add([104], [.publicKey], .these([l]), true, true, [l], "not a host", true)
        add([105, 106], both, .these([leaf]), false, true, chain, "not a host", false)
        add([107, 108], both, .these([leaf]), false, true, chain, "", false)
        add([109], [.certificate], .these([l]), true, true, [l], "not a host", false)
        return cases
    }

    @Test func `every row of the catalogue gets its verdict`() throws {
        let fixtures = try PolicyFixtures.made.get()
        for row in try Self.cases.get() {
            let policy = row.makePolicy()

            let trust = fixtures.trust(row.chain, host: row.domain ?? "httpbin.org")

            #expect(policy.evaluate(trust, forDomain: row.domain) == row.expected, "\(row.testDescription)")
            #expect(policy.copy().evaluateServerTrust(trust, forDomain: row.domain) == row.expected)
        }
    }

    @Test func `the defaults are strict`() {
        for policy in [SecurityPolicy.default(), .defaultPolicy(), SecurityPolicy()] {
            #expect(policy.sslPinningMode == .none)
            #expect(!policy.allowInvalidCertificates)
            #expect(policy.validatesDomainName)
            #expect(policy.pinnedCertificates == nil)
            #expect(policy.hostRules.isEmpty && !policy.refusesHostsWithoutRule && !policy.isPinning)
        }
        #expect(SecurityPolicy.default() !== SecurityPolicy.default())
        #expect([SSLPinningMode.none, .publicKey, .certificate].map(\.rawValue) == [0, 1, 2])
    }

    @Test func `a certificate that is pinned with names still has dates`() throws {
        let fixtures = try PolicyFixtures.made.get()
        let policy = SecurityPolicy(pinningMode: .certificate, certificates: [fixtures.l.certificate])
        policy.allowInvalidCertificates = true
        let later = Date().addingTimeInterval(60 * 86_400)

        let now = fixtures.trust([fixtures.l.certificate], host: "foobar.com")
        let then = fixtures.trust([fixtures.l.certificate], host: "foobar.com", at: later)

        #expect(policy.evaluate(now, forDomain: "foobar.com"))
        #expect(!policy.evaluate(then, forDomain: "foobar.com"))
    }

    @Test func `a factory with a mode pins what lies beside the program`() {
        for mode in [SSLPinningMode.publicKey, .certificate] {
            let policy = SecurityPolicy(pinningMode: mode)
            #expect(policy.pinnedCertificates != nil)
            #expect(policy.sslPinningMode == mode && policy.validatesDomainName && !policy.allowInvalidCertificates)
        }
    }

    @Test func `the certificates of a bundle hold each file once`() throws {
        let fixtures = try PolicyFixtures.made.get()
        let folder = try ScratchFolder()
        try folder.write("leaf.cer", fixtures.leafA.der)
        try folder.write("again.cer", fixtures.leafA.der)
        try folder.write("other.cer", fixtures.leafB.der)
        try folder.write("readme.txt", Array("no certificate".utf8))
        let bundle = try #require(Bundle(path: folder.path))

        let found = SecurityPolicy.certificates(in: bundle)

        #expect(found == [Data(fixtures.leafA.der), Data(fixtures.leafB.der)])
        for mode in [SSLPinningMode.publicKey, .certificate] {
            let policy = SecurityPolicy(pinningMode: mode, withPinnedCertificates: found)
            #expect(policy.pinnedCertificates?.filter { $0 == Data(fixtures.leafA.der) }.count == 1)
            #expect(policy.evaluate(fixtures.trust(fixtures.leafA.chain)) == .accept)
        }
    }

    @Test func `a copy is another object with the same settings`() throws {
        let policy = try Self.unusual()

        let copy = policy.copy()

        #expect(copy !== policy)
        #expect(Settings(copy) == Settings(policy))
        copy.validatesDomainName = true
        #expect(!policy.validatesDomainName)
    }

    @Test func `T-API-28 a policy comes out of an archive as it went in`() throws {
        let policy = try Self.unusual()

        let json = try JSONDecoder().decode(SecurityPolicy.self, from: JSONEncoder().encode(policy))
        let list = try PropertyListDecoder().decode(SecurityPolicy.self, from: PropertyListEncoder().encode(policy))

        #expect(Settings(json) == Settings(policy) && json !== policy)
        #expect(Settings(list) == Settings(policy))
        #expect(json.fingerprint == policy.fingerprint && list.fingerprint == policy.fingerprint)
    }

    @Test("an archive that does not speak of names validates them, T-TLS-33")
    func archiveDefaults() throws {
        let policy = try JSONDecoder().decode(SecurityPolicy.self, from: Data(#"{"SSLPinningMode":0}"#.utf8))

        #expect(policy.validatesDomainName && !policy.allowInvalidCertificates)
        for text in ["{}", #"{"SSLPinningMode":3}"#, #"{"SSLPinningMode":1,"pinnedCertificates":["AAAA"]}"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(SecurityPolicy.self, from: Data(text.utf8))
            }
        }
    }

    private static func unusual() throws -> SecurityPolicy {
        let fixtures = try PolicyFixtures.made.get()
        let policy = SecurityPolicy(pinningMode: .publicKey, certificates: [fixtures.leafA.certificate])
        policy.allowInvalidCertificates = true
        policy.validatesDomainName = false
        var set = PinSet(
            [.publicKey(fixtures.leafA.certificate.pin)],
            backups: [.certificate(fixtures.root.certificate)]
        )
        set.expiry = PinSet.Expiry(Date(timeIntervalSince1970: 2_000_000_000), .failOpen)
        set.isReportOnly = true
        policy.hostRules = [try .pins("*.httpbin.org", set), try .noPins("**.app.net")]
        policy.refusesHostsWithoutRule = true
        return policy
    }

    private struct Settings: Equatable {
        let mode: SSLPinningMode
        let pins: Set<Data>?
        let flags: [Bool]
        let rules: [HostRule]

        init(_ policy: SecurityPolicy) {
            mode = policy.sslPinningMode
            pins = policy.pinnedCertificates
            flags = [policy.allowInvalidCertificates, policy.validatesDomainName, policy.refusesHostsWithoutRule]
            rules = policy.hostRules
        }
    }
}
