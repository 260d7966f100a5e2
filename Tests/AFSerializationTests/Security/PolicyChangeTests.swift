import Glibc

@Suite struct PolicyChangeTests {
    private let root: CertificateAuthority
    private let site: IssuedCertificate

    init() throws {
        root = try CertificateAuthority()
        site = try root.issue(for: "127.0.0.1", "good.test")
    }

    private var trust: ServerTrust {
        ServerTrust(servedChain: site.chain, host: "good.test", anchors: .certificates([root.certificate]))
    }

    @Test func `a snapshot stays as it was, and is the same object until the policy changes`() throws {
        let policy = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])

        let first = policy.snapshot()
        let again = policy.snapshot()
        policy.pinnedCertificates = []
        let changed = policy.snapshot()

        #expect(first as AnyObject === again as AnyObject)
        #expect(first as AnyObject !== changed as AnyObject)
        #expect(first.evaluate(trust) == .accept && changed.evaluate(trust) != .accept)
        #expect(first.fingerprint != changed.fingerprint)
        #expect(first.snapshot() as AnyObject === first as AnyObject)
    }

    @Test("every setting is in the fingerprint, and the way it was reached is not, T-TLS-11")
    func fingerprints() throws {
        let key = Pin.publicKey(site.certificate.pin)
        let other = try CertificateAuthority().certificate
        let end = Date(timeIntervalSince1970: 2_000_000_000)
        func rules(_ change: (inout PinSet) -> Void) throws -> (SecurityPolicy) -> Void {
            var set = PinSet([key])
            change(&set)
            let rule = try HostRule.pins("good.test", set)
            return { $0.hostRules = [rule] }
        }
        let changes: [(SecurityPolicy) -> Void] = [
            { _ in }, { $0.allowInvalidCertificates = true }, { $0.validatesDomainName = false },
            { $0.pinnedCertificates = nil }, { $0.pinnedCertificates = [Data(other.derBytes)] },
            { $0.pinnedCertificates = [] }, { $0.pinnedCertificates = [Data([1])] },
            { $0.refusesHostsWithoutRule = true },
            try rules { _ in }, try rules { $0.isReportOnly = true }, try rules { $0.pins = [.certificate(other)] },
            try rules { $0.pins = [.certificate(site.certificate)] }, try rules { $0.pins = [.publicKey(other.pin)] },
            try rules { $0.pins = [key, .publicKey(other.pin)] },
            try rules { $0.pins = [] }, try rules { $0.backupPins = [.certificate(other)] },
            try rules { $0.expiry = .init(end, .failOpen) }, try rules { $0.expiry = .init(end, .failClosed) },
            try rules { $0.expiry = .init(end + 1, .failClosed) },
            { $0.hostRules = (try? [.noPins("good.test")]) ?? [] },
            { $0.hostRules = (try? [.noPins("*.good.test")]) ?? [] },
        ]
        var seen: [[UInt8]] = []
        for mode in SSLPinningMode.allCases {
            for change in changes {
                let policy = SecurityPolicy(pinningMode: mode, certificates: [site.certificate])
                change(policy)
                seen.append(try #require(policy.fingerprint))
                let back = policy.copy()
                back.validatesDomainName.toggle()
                back.validatesDomainName.toggle()
                #expect(back.fingerprint == policy.fingerprint)
            }
        }

        #expect(Set(seen).count == seen.count)
        #expect(seen.allSatisfy { $0.count == 32 })
    }

    @Test("pins are told apart by their content, not by where it came from, T-TLS-11")
    func content() throws {
        let folder = try ScratchFolder()
        func load(_ name: String) throws -> SecurityPolicy {
            try SecurityPolicy(pinningMode: .certificate, certificatesAtPath: "\(folder.path)/\(name)")
        }
        try folder.write("CA.pem", Array(site.pem.utf8))
        try folder.write("ca.pem", Array(root.pem.utf8))
        try folder.write("ca.der", root.der)

        let (upper, lower, der) = (try load("CA.pem"), try load("ca.pem"), try load("ca.der"))
        try folder.write("CA.pem", Array(root.pem.utf8))
        let replaced = try load("CA.pem")

        #expect(upper.fingerprint != lower.fingerprint)
        #expect(lower.fingerprint == der.fingerprint && replaced.fingerprint == lower.fingerprint)
    }

    @Test("a policy that is changed while others evaluate decides by one state of it or another, T-TLS-13")
    func mutation() async throws {
        let policy = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        let trust = trust
        let pins = [Set([Data(site.der)]), [Data(try CertificateAuthority().certificate.derBytes)]]
        let rules = [[], [try HostRule.noPins("other.test")]]
        let verdicts = Self.verdicts(policy, trust, pins, rules)

        let wrong = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    (0..<250).count { _ in
                        let frozen = policy.snapshot()
                        return verdicts[frozen.fingerprint ?? []] != frozen.evaluate(trust)
                    }
                }
            }
            group.addTask {
                for round in 0..<500 {
                    policy.pinnedCertificates = pins[round & 1]
                    policy.allowInvalidCertificates.toggle()
                    policy.hostRules = rules[round >> 1 & 1]
                }
                return 0
            }
            return await group.reduce(0, +)
        }

        #expect(verdicts.count == 8)
        #expect(wrong == 0)
    }

    /// Uses a policy as its last deed.
    private final class Parting: Sendable {
        private let policy: SecurityPolicy
        private let gone: Heard<Bool>

        init(_ policy: SecurityPolicy, _ gone: Heard<Bool>) {
            self.policy = policy
            self.gone = gone
        }

        deinit {
            gone.add(policy.reportHandler == nil)
        }
    }

    @Test func `what a former report handler holds goes when no lock is held`() async throws {
        let policy = SecurityPolicy()
        let gone = Heard<Bool>()
        // Not on this thread: with the lock held it would wait forever.
        DispatchQueue.global().async {
            let parting = Parting(policy, gone)
            policy.reportHandler = { _ in _ = parting }
        }
        DispatchQueue.global().async {
            while policy.reportHandler == nil { usleep(1000) }
            policy.reportHandler = nil
        }
        #expect(try await gone.wait(seconds: 10) == [true])
    }

    /// What each state of the policy says, by its fingerprint.
    private static func verdicts(
        _ policy: SecurityPolicy,
        _ trust: ServerTrust,
        _ pins: [Set<Data>],
        _ rules: [[HostRule]]
    ) -> [[UInt8]: ServerTrustDecision] {
        var verdicts: [[UInt8]: ServerTrustDecision] = [:]
        for number in 0..<8 {
            let state = policy.copy()
            state.pinnedCertificates = pins[number & 1]
            state.allowInvalidCertificates = number & 2 == 0
            state.hostRules = rules[number >> 2]
            verdicts[state.fingerprint ?? []] = state.evaluate(trust)
        }
        return verdicts
    }
}
