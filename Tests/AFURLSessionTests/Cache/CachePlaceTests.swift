import AFTransport
import AFWire

@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

extension CacheTests {
    struct Places {
        @Test("a policy of a request means the same to the rules of the cache")
        func policies() {
            let rows: [(URLRequest.CachePolicy, CacheUse)] = [
                (.useProtocolCachePolicy, .useProtocolCachePolicy),
                (.reloadIgnoringLocalCacheData, .reloadIgnoringLocalCacheData),
                (.reloadIgnoringLocalAndRemoteCacheData, .reloadIgnoringLocalAndRemoteCacheData),
                (.returnCacheDataElseLoad, .returnCacheDataElseLoad),
                (.returnCacheDataDontLoad, .returnCacheDataDontLoad),
                (.reloadRevalidatingCacheData, .reloadRevalidatingCacheData),
            ]
            for (policy, use) in rows { #expect(CacheUse(policy) == use) }
        }

        @Test("another address, or one that other sessions may not connect to, is another partition")
        func places() throws {
            let endpoint = try RequestURL("http://a.test/").endpoint
            let override = try #require(HostOverride(host: "a.test", toHost: "b.test"))
            let other = try #require(HostOverride(host: "a.test", toPort: 81))
            let stranger = try #require(HostOverride(host: "c.test", toHost: "b.test"))
            let several = try ["192.0.2.1", "192.0.2.2"].map { address in
                try #require(HostOverride(host: "a.test", toAddresses: ["192.0.2.1", address]))
            }
            func partition(_ filter: AddressFilter?, _ overrides: HostOverride...) -> TrustScope {
                scope(at: endpoint, by: filter, overrides)
            }
            let own = AddressFilter { _ in true }
            let all = [
                partition(nil), partition(nil, override), partition(nil, other), partition(.publicAddressesOnly),
                partition(own), partition(AddressFilter { _ in true }), partition(own, override),
                partition(nil, several[0]), partition(nil, several[1]),
            ]
            let lasting = [true, true, true, true, false, false, false, true, true]
            #expect(Set(all).count == all.count && all.map(\.isLasting) == lasting)
            #expect(partition(nil, stranger) == .clear && partition(own) == all[4])
            #expect(partition(nil, stranger, override, other) == all[1])
        }

        @Test func `T-CAC-28 each kind of partition begins with a number of its own`() throws {
            let endpoint = try RequestURL("http://a.test/").endpoint
            let override = try #require(HostOverride(host: "a.test", toHost: "b.test"))
            func reached(_ filter: AddressFilter?, _ overrides: HostOverride...) -> TrustScope {
                scope(at: endpoint, by: filter, overrides)
            }
            let kinds = [
                TrustScope.clear, .program, .rules([7], isProven: false), .word(inSession: 1, reasons: [7]),
                .clear.through("/a"), reached(nil, override), reached(.publicAddressesOnly), .protocolClass("A"),
            ]

            // They stand in files, where a later version has to find the same.
            #expect(kinds.map(\.bytes.first) == [0, 1, 2, 3, 4, 5, 6, 7])
            #expect(kinds.map(\.isLasting) == [true, true, true, false, true, true, true, true])
        }

        @Test func `T-CAC-28 what is reached another way keeps apart who was trusted`() throws {
            let endpoint = try RequestURL("https://a.test/").endpoint
            let override = try #require(HostOverride(host: "a.test", toHost: "b.test"))
            let rules = [[7], [8]].map {
                SecurityContext(
                    id: 1,
                    configuration: TLSConfiguration(),
                    evaluator: nil,
                    fingerprint: $0,
                    sessionsPerPeer: 1
                )
            }
            for filter in [AddressFilter.publicAddressesOnly, nil] {
                let scopes = rules.map { scope(at: endpoint, by: filter, [override], under: $0) }
                #expect(Set(scopes).count == 2)
            }
            #expect(Set([TrustScope.clear, .program].map { $0.through("/a") }).count == 2)
        }

        @Test func `T-CAC-28 what an evaluator without a fingerprint accepts stays in its session`() throws {
            let endpoint = try RequestURL("https://a.test/").endpoint
            let evaluators: [(any ServerEvaluator)?] = [nil, FixedEvaluator.accepting, FixedEvaluator { _ in .accept }]
            for evaluator in evaluators {
                // The first ones of two sessions have the same number.
                let rules = SecurityContext(
                    id: 1,
                    configuration: TLSConfiguration(),
                    evaluator: evaluator,
                    fingerprint: [7],
                    sessionsPerPeer: 1
                )
                let scopes = (1...2).map { _ in scope(at: endpoint, under: rules) }
                #expect(scopes.allSatisfy { $0.isLasting == rules.isNamed })
                #expect((scopes[0] == scopes[1]) == rules.isNamed)
            }
        }

        private func scope(
            at endpoint: Endpoint,
            by filter: AddressFilter? = nil,
            _ overrides: [HostOverride] = [],
            under rules: SecurityContext? = nil
        ) -> TrustScope {
            let configuration = URLSessionConfiguration.ephemeral
            var settings = configuration.settings
            settings.pool.addressFilter = filter
            settings.pool.hostOverrides = overrides
            return SessionScopes(settings).scope(of: endpoint, under: rules, word: .none, isProven: false)
        }
    }
}
