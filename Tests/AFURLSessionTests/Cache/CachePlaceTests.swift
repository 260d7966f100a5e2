import AFWire
import Foundation
import Testing

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
            func partition(_ filter: AddressFilter?, _ overrides: HostOverride...) -> CachePartition {
                CachePartition.open.reached(
                    at: endpoint,
                    within: LimitSettings(addressFilter: filter, overrides: overrides)
                )
            }
            let own = AddressFilter { _ in true }
            let all = [
                partition(nil), partition(nil, override), partition(nil, other), partition(.publicAddressesOnly),
                partition(own), partition(AddressFilter { _ in true }), partition(own, override),
            ]
            #expect(
                Set(all).count == all.count && all.map(\.isLasting) == [true, true, true, true, false, false, false]
            )
            #expect(partition(nil, stranger) == .open && partition(own) == all[4])
            #expect(partition(nil, stranger, override, other) == all[1])
        }

        @Test func `T-CAC-28 each kind of partition begins with a number of its own`() throws {
            let endpoint = try RequestURL("http://a.test/").endpoint
            let override = try #require(HostOverride(host: "a.test", toHost: "b.test"))
            func reached(_ filter: AddressFilter?, _ overrides: HostOverride...) -> CachePartition {
                CachePartition.open.reached(
                    at: endpoint,
                    within: LimitSettings(addressFilter: filter, overrides: overrides)
                )
            }
            let kinds = [
                CachePartition.open, .caller, .verified(by: [7]), .unnamed(1, [7]), .open.through("/a"),
                reached(nil, override), reached(.publicAddressesOnly),
            ]

            // They stand in files, where a later version has to find the same.
            #expect(kinds.map(\.origin.first) == [0, 1, 2, 3, 4, 5, 6])
            #expect(kinds.map(\.isLasting) == [true, true, true, false, true, true, true])
        }

        @Test func `T-CAC-28 what is reached another way keeps apart who was trusted`() throws {
            let endpoint = try RequestURL("http://a.test/").endpoint
            let override = try #require(HostOverride(host: "a.test", toHost: "b.test"))
            let limits = LimitSettings(addressFilter: .publicAddressesOnly, overrides: [override])
            let origins = [CachePartition.open, .verified(by: [7]), .verified(by: [8])]

            #expect(Set(origins.map { $0.through("/a") }).count == 3)
            #expect(Set(origins.map { $0.reached(at: endpoint, within: limits) }).count == 3)
            #expect(
                Set(origins.map { $0.reached(at: endpoint, within: LimitSettings(overrides: [override])) }).count == 3
            )
        }
    }
}
