import AFBase
import AFWire
import Foundation
import Testing

@testable import AFState

extension CacheTests {
    struct Keys {
        private func key(_ url: String) throws -> CacheKey { CacheKey(try RequestURL(url)) }

        @Test("spellings of one URL share a key, T-CAC-15")
        func same() throws {
            let plain = try key("http://a.test/x?y=1")
            for url in [
                "HTTP://A.TEST/x?y=1", "http://a.test:80/x?y=1", "http://u:p@a.test/x?y=1", "http://a.test/x?y=1#z",
            ] {
                #expect(try key(url) == plain)
            }
            #expect(try key("http://a.test") == key("http://a.test/"))
        }

        @Test("different URLs never share a key, T-CAC-15")
        func different() throws {
            let urls = [
                "http://a.test/", "https://a.test/", "http://a.test:8080/", "http://a.test/?", "http://a.test//",
                "http://a.test/x", "http://a.test/X", "http://a.test/x?", "http://a.test/x?y", "http://a.test/x%3Fy",
                "http://a.test/%7e", "http://a.test/~", "http://a.test/%7E", "http://b.test/", "http://a.test/b.test/",
                "http://a.testx/", "http://ba.test/", "http://a.test/x/../y", "http://a.test/y", "http://a.test:443/",
                "http://1.2.3.4/", "http://a.test./", "http://[::1]/", "http://[fe80::1%25eth0]/",
                "http://[fe80::1%25eth1]/",
            ]
            let keys = try urls.map { try key($0) }
            #expect(Set(keys.map(\.bytes)).count == urls.count && Set(keys).count == urls.count)
            #expect(Set(keys.map(\.digest)).count == urls.count)
            // Neither many paths nor many hosts have one hash.
            #expect(try key("http://a.test/x").hash != key("http://a.test/y").hash)
            #expect(try key("http://a.test/x").hash != key("http://b.test/x").hash)
        }

        @Test func `T-CAC-15 where a request goes is in its key, whatever host its field names`() throws {
            let urls = [
                "http://a.test/x", "http://b.test/x", "https://a.test/x", "http://a.test:443/x", "http://a.test:81/x",
                "http://[fe80::1%25eth0]/x", "http://[fe80::1%25eth1]/x",
            ]
            let keys = try urls.map { try request($0, ["Host": "c.test"]).key }
            #expect(Set(keys).count == urls.count && Set(keys.map(\.bytes)).count == urls.count)
        }

        /// Another one would lose all that is on the disks of users.
        @Test func `the tag of a key stays the same in all versions`() throws {
            #expect(try key("http://a.test/x?y=1").tag == 0xCE4E_0BE3_274C_C406)
            #expect(try key("https://b.test:8443/").tag == 0x2959_A093_4B4B_1180)
        }

        @Test func `T-REQ-15 T-CAC-15 another host in the field Host is another key, in any case of letters`() throws {
            let url = "http://a.test:8080/x"
            let hosts = [nil, "b.test", "b.test:8080", "a.test", "a.test:80", "a.test.b.test"]
            let keys = try hosts.map { try request(url, $0.map { ["Host": $0] } ?? [:]).key }
            #expect(Set(keys.map(\.bytes)).count == hosts.count && Set(keys.map(\.digest)).count == hosts.count)

            #expect(try request(url, ["Host": "A.test:8080"]).key == keys[0])
            #expect(try request(url, ["host": " B.TEST "]).key == keys[1])
            #expect(try request("http://b.test/x").key != keys[1])
        }

        @Test("random URLs share a key only if they are sent alike, T-CAC-15")
        func random() throws {
            var random = SeededBytes(seed: 15)
            var seen: [[UInt8]: String] = [:]
            for _ in 0..<5000 {
                let host = "a" + random.text(from: "ab.", upTo: 4).replacingOccurrences(of: "..", with: ".") + "z"
                let text = "http://\(host)/\(random.text(from: "ab/?&=%41", upTo: 6))"
                guard let url = try? RequestURL(text) else { continue }
                let sent = "\(url.endpoint.text) \(String(decoding: url.target, as: UTF8.self))"
                #expect(seen.updateValue(sent, forKey: CacheKey(url).bytes) ?? sent == sent)
            }
        }

        @Test("a server trusted by other rules is another partition, T-CAC-28")
        func partitions() {
            let one = TrustScope.rules([1, 2], isProven: false)
            #expect(one != .rules([1, 3], isProven: false) && one != .clear && one != .program)
            #expect(one == .rules([1, 2], isProven: true))
            #expect(
                one != .word(inSession: 1, reasons: [1, 2]) && !TrustScope.word(inSession: 1, reasons: []).isLasting
            )
            #expect(TrustScope.word(inSession: 1, reasons: [1]) != .word(inSession: 2, reasons: [1]))
            #expect(UniqueNumber.next() != UniqueNumber.next())
            #expect(TrustScope.clear.through("/a") != .clear && TrustScope.clear.through("/a") != .clear.through("/b"))
        }

        @Test("what stands for a scope outside the process says nothing of it, and tells it from others, T-CAC-28")
        func scopeDigests() {
            let scopes: [TrustScope] = [
                .clear, .program, .rules([1], isProven: false), .rules([2], isProven: false),
                .word(inSession: 1, reasons: [1]), .word(inSession: 2, reasons: [1]), .protocolClass("A"),
                .protocolClass("B"),
                .clear.through("/a"),
            ]
            let digests = scopes.compactMap(\.digest)
            #expect(Set(digests).count == scopes.count && digests.allSatisfy { $0.count == 16 })
            #expect(scopes.map(\.digest) == digests)
            // That of a scope that lasts is the same in every process; that of one that does not has a secret in it.
            for scope in scopes {
                var fields = FieldWriter()
                fields.add(scope.bytes)
                #expect((scope.digest == Array(CacheTests.digest(fields.bytes).prefix(16))) == scope.isLasting)
            }
        }

        @Test(
            "what names a user is a partition that does not last, whatever the field is called, T-CAC-02",
            arguments: [
                "Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "Private-Token", "X-User", "X-Tenant",
                "Api-Version",
            ]
        )
        func identities(name: String) throws {
            func partition(_ value: String?) throws -> CachePartition {
                let fields = value.map { [name: $0] } ?? [:]
                return CachePartition(.clear, for: try request("http://a.test/", fields).identities.byAnyField)
            }
            let all = try [nil, "Basic YTph", "Basic YTpi", "Bearer YTph", "basic YTph"].map { try partition($0) }
            #expect(Set(all).count == all.count)
            #expect(all.map { $0.isLasting(keepsIdentities: false) } == [true, false, false, false, false])
            #expect(all.allSatisfy { $0.isLasting(keepsIdentities: true) })
            #expect(try partition("Basic YTph") == all[1])
            for (one, other) in zip(all, all.dropFirst()) {
                #expect(one != other && one.shared == other.shared && one.shared != one)
            }
        }

        @Test("fields that say nothing of a user make no partition, T-CAC-02")
        func neutral() throws {
            let fields = [
                "Accept": "a", "accept-language": "de", "Accept-Encoding": "gzip", "User-Agent": "u",
                "Cache-Control": "x",
                "Pragma": "x", "If-None-Match": "\"1\"", "Range": "bytes=0-", "Referer": "http://a.test/",
                "Origin": "x",
                "Content-Type": "x", "Priority": "u=1", "DNT": "1", "TraceParent": "1", "tracestate": "1",
                "baggage": "1",
                "X-Request-ID": "1", "X-Correlation-Id": "2", "x-b3-traceid": "3", "Sec-Fetch-Mode": "cors",
                "Upgrade-Insecure-Requests": "1", "Idempotency-Key": "9", "Date": "x", "Last-Event-ID": "1",
            ]
            #expect(try request("http://a.test/", fields).identities.byAnyField == .unnamed)
            for name in [
                "Accep", "X-Accept", "Cookie2", "Datex", "X-Request", "Xx-b3-", "Set-Cookie", "From", "Prefers",
            ] {
                #expect(try request("http://a.test/", [name: "1"]).identities.byAnyField != .unnamed, "\(name)")
            }
            SecretNames.added.insert("X-B3-Flags")
            defer { SecretNames.added.remove("X-B3-Flags") }
            #expect(try request("http://a.test/", ["x-b3-flags": "1"]).identities.byAnyField != .unnamed)
            #expect(try request("http://a.test/", ["x-b3-sampled": "1"]).identities.byAnyField == .unnamed)
        }

        @Test(
            "a response is for everyone only if its server says so and sets no cookie, T-CAC-02",
            arguments: [
                ("max-age=9, public", nil, true), ("public", nil, true), ("max-age=9", nil, false), (nil, nil, false),
                ("public, private", nil, false), ("public, private=\"x\"", nil, false),
                ("max-age=9, public", "a=b", false),
                ("s-maxage=9", nil, false), ("xpublic", nil, false),
            ] as [(String?, String?, Bool)]
        )
        func audience(control: String?, cookie: String?, isForAll: Bool) throws {
            let named = try request("http://a.test/", ["X-Api-Key": "one"])
            let fields = [("Cache-Control", control), ("Set-Cookie", cookie)].compactMap { name, value in
                value.map { (name, $0) }
            }
            let own = CachePartition(.clear, for: named.identities.byAnyField)
            let stored = head(fields, for: named, partition: own)
            #expect(stored.partition == (isForAll ? own.shared : own))
            for other in [try request("http://a.test/"), try request("http://a.test/", ["X-Api-Key": "two"])] {
                #expect(stored.partition.admits(other.identities) == isForAll)
            }
        }
    }
}
