import AFFaults
import AFWire
import Foundation
import Testing

@testable import AFState

@Suite("Hosts that want TLS")
struct HSTSStoreTests {
    private let store = HSTSStore()

    private func parse(_ text: String) -> String? {
        text.withUTF8Bytes { TransportSecurity($0) }.map { "\($0.maxAge)\($0.includesSubdomains ? "+" : "")" }
    }

    @Test func `T-STS-01 the field is read as RFC 6797 says, and doubtful ones not at all`() {
        let table: [(String, String?)] = [
            ("max-age=31536000", "31536000"), ("max-age=\"10\"; includeSubDomains", "10+"),
            (" MAX-AGE = 1 ;IncludeSubdomains; preload", "1+"), ("includeSubDomains; max-age=0", "0+"),
            ("max-age=1;;", "1"), ("max-age=99999999999999999999", "2147483648"), ("max-age=1; x=\"a;b\"", "1"),
            ("", nil), ("includeSubDomains", nil), ("max-age", nil), ("max-age=", nil), ("max-age=-1", nil),
            ("max-age=+1", nil), ("max-age=1x", nil), ("max-age=1, max-age=2", nil), ("max-age=1; max-age=2", nil),
            ("max-age=1; includeSubDomains=1", nil), ("max-age=\"1", nil), ("=1", nil),
        ]
        for (text, expected) in table { #expect(parse(text) == expected, "\(text)") }
    }

    private func store(_ host: String, subdomains: Bool = false, expires: Date = .distantFuture) throws -> HSTSStore {
        let entry = HSTSStore.Entry(host: host, includesSubdomains: subdomains, expires: expires)
        return HSTSStore(entries: [try #require(entry)])
    }

    @Test func `T-STS-02 a host is covered by its own name, and by those above that speak for it`() throws {
        let plain = try store("Example.COM.")
        #expect(plain.covers(host: "example.com") && plain.covers(host: "EXAMPLE.com."))
        #expect(!plain.covers(host: "www.example.com") && !plain.covers(host: "com"))
        let wide = try store("example.com", subdomains: true)
        #expect(wide.covers(host: "a.b.example.com") && !wide.covers(host: "notexample.com"))
        #expect(try !store("example.com", expires: Date(timeIntervalSince1970: 0)).covers(host: "example.com"))
        #expect(HSTSStore.Entry(host: "192.0.2.1", includesSubdomains: false, expires: .distantFuture) == nil)
        #expect(HSTSStore.Entry(host: "a b", includesSubdomains: false, expires: .distantFuture) == nil)
    }

    /// The scope of a server whose chain passes the standard evaluation.
    private let proven = TrustScope.rules([], isProven: true)

    @Test func `T-STS-03 a server that only lax rules have accepted teaches nothing, and unteaches nothing`() throws {
        let host = try Endpoint(scheme: .https, host: "a.test").host
        func learn(_ field: String, into store: HSTSStore, under scope: TrustScope) {
            var headers = HTTPHeaders()
            headers.append("Strict-Transport-Security", value: field)
            store.learn(headers, from: host, under: scope, at: 1_700_000_000)
        }
        let lax: [TrustScope] = [
            .rules([], isProven: false), .word(inSession: 1, reasons: []), .clear, .program, .protocolClass("A"),
        ]

        for scope in lax {
            let store = HSTSStore()
            learn("max-age=9", into: store, under: scope)
            #expect(store.entries.isEmpty)
            learn("max-age=9", into: store, under: proven)
            learn("max-age=0", into: store, under: scope)
            #expect(store.entries.map(\.host) == ["a.test"])
        }
    }

    @Test func `a store that forgets all hosts covers none`() throws {
        let store = try store("example.com", subdomains: true)
        store.removeAll()
        #expect(!store.covers(host: "example.com") && store.entries.isEmpty)
    }

    @Test func `T-STS-03 a store learns from names alone, and forgets what is taken back`() throws {
        func learn(_ field: String, from host: String) throws {
            var headers = HTTPHeaders()
            headers.append("Strict-Transport-Security", value: field)
            store.learn(headers, from: try Endpoint(scheme: .https, host: host).host, under: proven, at: 1_700_000_000)
        }
        func hosts() -> [String] { store.entries.map(\.host) }

        for host in ["c.test", "a.test", "b.test", "192.0.2.1", "[::1]"] { try learn("max-age=1", from: host) }
        #expect(hosts() == ["a.test", "b.test", "c.test"])
        try learn("max-age=0", from: "b.test")
        #expect(hosts() == ["a.test", "c.test"])
        store.remove(host: "A.TEST.")
        store.remove(host: "a b")
        #expect(hosts() == ["c.test"])
    }

    @Test func `T-STS-04 a store that is full drops a host for a new one, and none for a known one`() throws {
        let entries = try (0..<HSTSHosts.capacity).map { number in
            let expires = Date(timeIntervalSince1970: 2_000_000_000 + Double(number))
            return try #require(HSTSStore.Entry(host: "h\(number).test", includesSubdomains: false, expires: expires))
        }
        let store = HSTSStore(entries: entries)
        var headers = HTTPHeaders()
        headers.append("Strict-Transport-Security", value: "max-age=9")
        func learn(from host: String) throws {
            store.learn(headers, from: try Endpoint(scheme: .https, host: host).host, under: proven, at: 1_700_000_000)
        }

        try learn(from: "h7.test")
        #expect(store.entries.count == 10_000 && store.covers(host: "h0.test"))
        try learn(from: "new.test")
        // The entry that ends first goes: that of h7, which now lasts nine seconds.
        #expect(store.entries.count == 10_000 && !store.entries.contains { $0.host == "h7.test" })
    }

    private func learn(_ store: HSTSStore, _ host: String, age: Int = 9, at now: Int64 = 1_700_000_000) throws {
        var headers = HTTPHeaders()
        headers.append("Strict-Transport-Security", value: "max-age=\(age)")
        store.learn(headers, from: try Endpoint(scheme: .https, host: host).host, under: proven, at: now)
    }

    @Test func `T-STS-04 the hosts of one site drive out none of another, and not the site's own name`() throws {
        let store = HSTSStore(suffixes: PublicSuffixSource(.builtIn))
        for host in ["bank.test", "www.bank.test", "evil.test", "h.co.uk"] { try learn(store, host) }

        for number in 0..<10_000 { try learn(store, "h\(number).guest.evil.test", age: 99) }
        for number in 0..<200 { try learn(store, "h\(number).co.uk", age: 9 + number) }

        let hosts = store.entries.map(\.host)
        #expect(Set(hosts).isSuperset(of: ["bank.test", "www.bank.test", "evil.test", "h.co.uk", "h199.co.uk"]))
        #expect(hosts.count { $0.hasSuffix("evil.test") } == HSTSHosts.capacityForSite)
        #expect(hosts.count == 203 + HSTSHosts.capacityForSite)
    }

    @Test func `T-STS-04 of a full store the site with the most hosts loses one, and what has ended goes first`() throws
    {
        let store = HSTSStore(suffixes: PublicSuffixSource(.builtIn))
        for number in 0..<HSTSHosts.capacity - 52 { try learn(store, "h\(number).test") }
        for number in 0..<51 { try learn(store, "h\(number).many.test", age: 99 + number) }
        try learn(store, "ended.test", age: 1)

        try learn(store, "new1.test", at: 1_700_000_001)
        try learn(store, "new2.test", at: 1_700_000_001)

        let hosts = Set(store.entries.map(\.host))
        #expect(hosts.count == HSTSHosts.capacity && hosts.isSuperset(of: ["new1.test", "new2.test", "h0.test"]))
        #expect(!hosts.contains("ended.test") && !hosts.contains("h0.many.test") && hosts.contains("h1.many.test"))
    }

    @Test func `T-STS-04 what a server says anew takes the place of what it said before`() throws {
        let store = HSTSStore(suffixes: PublicSuffixSource(.builtIn))
        for number in 0..<HSTSHosts.capacityForSite { try learn(store, "h\(number).a.test", age: 10 + number) }
        try learn(store, "h0.a.test", age: 999)
        try learn(store, "new.a.test", age: 999)

        let ends = Dictionary(uniqueKeysWithValues: store.entries.map { ($0.host, $0.expires) })
        #expect(ends["h0.a.test"] == Date(timeIntervalSince1970: 1_700_000_999))
        #expect(ends.count == HSTSHosts.capacityForSite && ends["h1.a.test"] == nil)
    }

    @Test func `T-STS-04 a site whose hosts are gone has none to give when the store is full`() throws {
        let store = HSTSStore(suffixes: PublicSuffixSource(.builtIn))
        for age in [9, 0] {
            for number in 0..<50 { try learn(store, "h\(number).gone.test", age: age) }
        }
        for number in 0...HSTSHosts.capacity { try learn(store, "h\(number).test") }

        #expect(store.entries.count == HSTSHosts.capacity)
    }

    @Test func `T-STS-04 a program may add as many hosts as it wants, of any site`() throws {
        let store = HSTSStore(suffixes: PublicSuffixSource(.builtIn))
        for number in 0..<200 {
            let entry = HSTSStore.Entry(host: "h\(number).a.test", includesSubdomains: false, expires: .distantFuture)
            store.insert(try #require(entry))
        }
        #expect(store.entries.count == 200)
        try learn(store, "new.a.test")
        #expect(store.entries.count == 200 && store.entries.contains { $0.host == "new.a.test" })
        for entry in store.entries { store.remove(host: entry.host) }
        try learn(store, "a.test")
        #expect(store.entries.map(\.host) == ["a.test"])
    }

    @Test func `what a host costs does not grow with those that are known`() throws {
        let growth = try CPUTime.growth(from: HSTSHosts.capacity / 20, to: 2 * HSTSHosts.capacity) { count in
            let store = HSTSStore(suffixes: PublicSuffixSource(.builtIn))
            for number in 0..<count { try learn(store, "h\(number).test", age: 99 + count - number) }
        }
        #expect(growth < 8)
    }

    @Test func `hosts that were saved are read again, and no others`() throws {
        let wide = try store("example.com", subdomains: true)
        let data = try JSONEncoder().encode(wide.entries)

        let read = try JSONDecoder().decode([HSTSStore.Entry].self, from: data)
        #expect(HSTSStore(entries: read).entries == wide.entries)
        let forged = String(decoding: data, as: UTF8.self).replacing("example.com", with: "192.0.2.1")
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([HSTSStore.Entry].self, from: Data(forged.utf8))
        }
    }

    @Test func `T-STS-03 it is learned over TLS only, from names only, and for 400 days at most`() throws {
        let field = Array("Strict-Transport-Security: max-age=99999999; includeSubDomains\r\n".utf8)
        let headers = try #require(HTTPHeaders(checkingBlock: field))
        store.learn(headers, from: try Endpoint(scheme: .https, host: "a.test").host, under: proven, at: 1000)
        store.learn(headers, from: try Endpoint(scheme: .https, host: "192.0.2.1").host, under: proven, at: 1000)

        #expect(store.entries.map(\.host) == ["a.test"])
        #expect(store.entries.first?.expires == Date(timeIntervalSince1970: 1000 + 400 * 86_400))
        let end = try #require(HTTPHeaders(checkingBlock: Array("strict-transport-security: max-age=0\r\n".utf8)))
        store.learn(end, from: try Endpoint(scheme: .https, host: "a.test").host, under: proven, at: 1001)
        #expect(store.entries.isEmpty)
    }

    @Test func `nothing is left of a site whose last host goes`() throws {
        var hosts = HSTSHosts()
        let entries = try (0..<20).map { number in
            try #require(
                HSTSStore.Entry(
                    host: "h\(number).s\(number / 2).test",
                    includesSubdomains: false,
                    expires: .distantFuture
                )
            )
        }
        for entry in entries { hosts.insert(entry) { String($0.split(separator: ".")[1]) } }
        #expect(hosts.siteCount == 10)
        for (number, entry) in entries.enumerated() {
            hosts.remove(entry.host)
            #expect(hosts.siteCount == 10 - (number + 1) / 2)
        }
        #expect(hosts.isEmpty)
    }

    @Test func `T-STS-04 a server cannot fill the memory`() throws {
        let headers = try #require(
            HTTPHeaders(checkingBlock: Array("Strict-Transport-Security: max-age=100\r\n".utf8))
        )
        for number in 0..<(HSTSHosts.capacity + 10) {
            store.learn(
                headers,
                from: try Endpoint(scheme: .https, host: "h\(number).test").host,
                under: proven,
                at: Int64(number)
            )
        }

        #expect(store.entries.count == HSTSHosts.capacity)
        #expect(!store.entries.contains { $0.host == "h0.test" })
    }
}
