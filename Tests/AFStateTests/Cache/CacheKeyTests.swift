import AFBase
import AFTestFixtures
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
            #expect(Set(keys.map(\.bytes)).count == urls.count)
            #expect(Set(keys.map(\.digest)).count == urls.count)
        }

        @Test func `T-REQ-15 T-CAC-15 another host in the field Host is another key, in any case of letters`() throws {
            let url = "http://a.test:8080/x"
            let hosts = [nil, "b.test", "b.test:8080", "a.test", "a.test:80", "a.test.b.test"]
            let keys = try hosts.map { try request(url, $0.map { ["Host": $0] } ?? [:]).key }
            #expect(Set(keys.map(\.bytes)).count == hosts.count && Set(keys.map(\.digest)).count == hosts.count)

            #expect(try request(url, ["Host": "A.test:8080"]).key == keys[0])
            #expect(try request(url, ["host": " B.TEST "]).key == keys[1])
            #expect(try request("http://b.test/x").key != keys[1])
            #expect(keys.allSatisfy { CacheKey(stored: $0.bytes) == $0 })
            // What the version before this one wrote said nothing about the host.
            #expect(CacheKey(stored: Array(keys[0].bytes.dropLast(4 + 11))) == nil)
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

        @Test("no URL can say how its file is called, T-CAC-16")
        func names() throws {
            let urls = [
                "http://a.test/../../etc/passwd", "http://a.test/%00", "http://a.test/CON", "http://a.test/%2e%2e%2f",
                "http://a.test/" + String(repeating: "x", count: 5000), "http://a.test/a@2x.png", "http://a.test/é",
            ]
            var names: Set<String> = []
            for url in urls {
                let name = try CacheScene.entry(url, "").id.name
                #expect(name.utf8.count == 65 && name.utf8.allSatisfy { "0123456789abcdef-".utf8.contains($0) })
                #expect(CacheEntryID(name: name)?.name == name)
                names.insert(name.lowercased())
            }
            #expect(names.count == urls.count)
            for name in [
                "", ".", "..", "a-b", String(repeating: "0", count: 65),
                String(repeating: "A", count: 32) + "-" + String(repeating: "0", count: 32),
            ] {
                #expect(CacheEntryID(name: name) == nil)
            }
        }

        @Test("a server trusted by other rules is another partition, T-CAC-28")
        func partitions() {
            let one = TrustScope.rules([1, 2], isProven: false)
            #expect(one != .rules([1, 3], isProven: false) && one != .clear && one != .program)
            #expect(one == .rules([1, 2], isProven: true))
            #expect(one != .word(inSession: 1, [1, 2]) && !TrustScope.word(inSession: 1, []).isLasting)
            #expect(TrustScope.word(inSession: 1, [1]) != .word(inSession: 2, [1]))
            #expect(UniqueNumber.next() != UniqueNumber.next())
            #expect(TrustScope.clear.through("/a") != .clear && TrustScope.clear.through("/a") != .clear.through("/b"))
        }

        @Test("what stands for a scope outside the process says nothing of it, and tells it from others, T-CAC-28")
        func scopeDigests() {
            let scopes: [TrustScope] = [
                .clear, .program, .rules([1], isProven: false), .rules([2], isProven: false),
                .word(inSession: 1, [1]), .word(inSession: 2, [1]), .protocolClass("A"), .protocolClass("B"),
                .clear.through("/a"),
            ]
            let digests = scopes.compactMap(\.digest)
            #expect(Set(digests).count == scopes.count && digests.allSatisfy { $0.count == 16 })
            #expect(scopes.map(\.digest) == digests)
        }

        @Test("each value of Authorization is a partition that never lasts, T-CAC-02")
        func credentials() throws {
            func partition(_ value: String?) throws -> CachePartition {
                let fields = value.map { ["Authorization": $0] } ?? [:]
                return try #require(
                    CachePartition.open.forCredentials(in: try request("http://a.test/", fields).headers)
                )
            }
            let all = try [nil, "Basic YTph", "Basic YTpi", "Bearer YTph", "basic YTph"].map { try partition($0) }
            #expect(Set(all).count == all.count)
            #expect(all.map(\.isLasting) == [true, false, false, false, false])
            #expect(try partition("Basic YTph") == all[1])
        }
    }
}
