import AFNetworkingTesting
import AFTLS
import Foundation

@testable import AFTransport

extension SecuredTests {
    /// What is remembered of servers that were proven once.
    struct KnownServers {
        private let authority: CertificateAuthority
        private let leaf: Certificate
        private let now = Int64(Date().timeIntervalSince1970)

        init() throws {
            authority = try CertificateAuthority()
            leaf = try authority.issue(for: "api.test").certificate
        }

        private func trust(_ served: [Certificate]? = nil, host: String = "api.test") -> ServerTrust {
            ServerTrust(
                servedChain: served ?? [leaf],
                host: host,
                anchors: .certificates([authority.certificate]),
                at: now,
                securityLevel: ServerTrust.usualSecurityLevel
            )
        }

        private func knowing(_ trust: ServerTrust) -> TrustedServers {
            var servers = TrustedServers()
            _ = trust.evaluation
            servers.keep(trust)
            return servers
        }

        private func expectUnknown(
            _ servers: inout TrustedServers,
            _ host: String,
            showing served: [Certificate],
            at moment: Int64
        ) {
            let found = servers.recall(host, showing: served, at: moment)
            #expect(found == nil)
        }

        @Test func `T-TLS-30 a delegate known by a number shares nothing with one known by a name`() {
            let number = withUnsafeBytes(of: UInt64(5).littleEndian) { Data($0) }
            let all: [TrustJudge] = [.own(5), .own(6), .named(number), .named(Data()), .named(Data([1]) + number)]
            #expect(Set(all.map(\.bytes)).count == all.count)
        }

        @Test func `a server that shows the same again is known, and found the same`() throws {
            let first = trust()
            var servers = knowing(first)

            let found = servers.recall("api.test", showing: [leaf], at: now + 60)
            let again = try #require(found)

            #expect(again.isKnownTrusted)
            #expect(again.evaluation == first.evaluation)
            #expect(again.moment == now + 60)
        }

        @Test func `T-TLS-02 nothing is known about another host`() {
            var servers = knowing(trust())

            expectUnknown(&servers, "other.test", showing: [leaf], at: now)
            expectUnknown(&servers, "www.api.test", showing: [leaf], at: now)
        }

        @Test func `T-TLS-24 other certificates are judged anew`() throws {
            var servers = knowing(trust())
            let renewed = try authority.issue(for: "api.test").certificate

            expectUnknown(&servers, "api.test", showing: [renewed], at: now)
            expectUnknown(&servers, "api.test", showing: [leaf, renewed], at: now)
            expectUnknown(&servers, "api.test", showing: [], at: now)
        }

        @Test func `T-TLS-23 a certificate that has expired since is no longer trusted`() {
            var servers = knowing(trust())
            let century = Int64(100 * 366 * 86_400)

            expectUnknown(&servers, "api.test", showing: [leaf], at: now + century)
            #expect(servers.count == 0)
        }

        @Test func `a server that was not trusted, or not judged, is not remembered`() {
            var servers = TrustedServers()
            servers.keep(trust())
            #expect(servers.count == 0, "its chain was not judged")

            let wrongHost = trust(host: "other.test")
            #expect(!wrongHost.evaluation.isTrusted)
            servers.keep(wrongHost)

            #expect(servers.count == 0)
        }

        @Test func `sixty-four are remembered, those met last`() throws {
            var servers = TrustedServers()
            var leaves: [Certificate] = []
            func meet(_ number: Int) throws {
                let host = "h\(number).test"
                leaves.append(try authority.issue(for: host).certificate)
                let trust = trust([leaves[number]], host: host)
                _ = trust.evaluation
                servers.keep(trust)
            }
            func isKnown(_ number: Int) -> Bool {
                servers.recall("h\(number).test", showing: [leaves[number]], at: now) != nil
            }

            for number in 0..<64 { try meet(number) }
            #expect(isKnown(0) && servers.count == 64)
            for number in 64..<74 { try meet(number) }

            #expect(servers.count == 64)
            #expect((0..<74).filter(isKnown) == [0] + (11..<74))

            // Each of them is the one met last for a moment, from the newest to the oldest.
            #expect((11..<74).reversed().allSatisfy(isKnown) && isKnown(0))
            for number in 74..<84 { try meet(number) }
            #expect((0..<84).filter(isKnown) == [0] + Array(11..<64) + Array(74..<84))
        }
    }
}

extension TrustedServers {
    /// Of servers that are reached without a proxy, and judged by the session's delegate.
    fileprivate mutating func keep(_ trust: ServerTrust) { keep(trust, by: nil, for: nil) }

    fileprivate mutating func recall(_ host: String, showing served: [Certificate], at moment: Int64) -> ServerTrust? {
        recall(host, by: nil, for: nil, showing: served, at: moment)
    }
}
