import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

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

    @Test("a policy that is changed while others evaluate never gives a verdict of its own making, T-TLS-13")
    func mutation() async throws {
        let policy = SecurityPolicy(pinningMode: .publicKey, certificates: [site.certificate])
        let (trust, good) = (trust, Set([Data(site.der)]))
        let stranger = Set([Data(try CertificateAuthority().certificate.derBytes)])

        let accepted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    (0..<250).count { _ in
                        let frozen = policy.snapshot()
                        let (first, second) = (frozen.evaluate(trust), frozen.evaluate(trust))
                        // One frozen copy has one opinion.
                        return first == .accept && second == .accept
                    }
                }
            }
            group.addTask {
                for round in 0..<500 {
                    policy.pinnedCertificates = round.isMultiple(of: 2) ? stranger : good
                    policy.allowInvalidCertificates.toggle()
                    policy.hostRules = round.isMultiple(of: 3) ? [] : ((try? [.noPins("other.test")]) ?? [])
                }
                return 0
            }
            return await group.reduce(0, +)
        }

        #expect(accepted <= 1_000)
        policy.pinnedCertificates = good
        #expect(policy.evaluate(trust) == .accept)
    }
}
