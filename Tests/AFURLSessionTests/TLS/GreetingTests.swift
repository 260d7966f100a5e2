import AFTLS

extension SecuredTests {
    /// What the first message says, byte by byte.
    struct Greetings {
        /// The extensions of a ClientHello (RFC 8446 section 4.1.2), by number.
        private static func extensions(in payload: [UInt8]) throws -> [UInt16: [UInt8]] {
            var rest = payload.dropFirst(4 + 2 + 32)
            func number(_ size: Int) throws -> Int {
                try #require(rest.count >= size)
                defer { rest = rest.dropFirst(size) }
                return rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
            }
            // The session id, the suites, the compression methods.
            for size in [1, 2, 1] {
                let count = try number(size)
                rest = rest.dropFirst(count)
            }
            let total = try number(2)
            #expect(total == rest.count)
            var found: [UInt16: [UInt8]] = [:]
            while !rest.isEmpty {
                let kind = UInt16(try number(2))
                let count = try number(2)
                found[kind] = Array(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            return found
        }

        @Test("nothing is offered that is not done wholly, T-TLS-09, 58, 61", arguments: TLSVersion.allCases)
        func extensions(version: TLSVersion) async throws {
            let site = try SecuredSite.parting { tls, _ in tls.invitesEarlyData = true }
            let session = site.session { $0.speak(version) }
            #expect(try await site.bye(session, 2).map(\.text) == ["bye", "bye"])

            for connection in try await site.server.waitUntilIdle() {
                let greeting = try #require(TLSRecord.all(in: connection.wire)?.first)
                let offered = try Self.extensions(in: greeting.payload)
                // Server name, groups, point formats, algorithms, ALPN, encrypt-then-MAC, extended secret,
                // ticket, padding, and of TLS 1.3: versions, modes of keys, shares, a key from before.
                let known: Set<UInt16> = [0, 10, 11, 13, 16, 21, 22, 23, 35, 43, 45, 51, 41, 0xFF01]
                #expect(Set(offered.keys).isSubset(of: known), "\(offered.keys.sorted())")
                // A stapled status (5), early data (42), a late certificate of ours (49), compressed ones (27).
                for kind in [5, 17, 42, 49, 27] as [UInt16] { #expect(offered[kind] == nil) }
                // Compression: none is the only method.
                let idEnd = 38 + 1 + Int(greeting.payload[38])
                let suites = Int(greeting.payload[idEnd]) << 8 | Int(greeting.payload[idEnd + 1])
                #expect(greeting.payload[(idEnd + 2 + suites)...].prefix(2) == [1, 0])
                // For an address there is no name.
                #expect(offered[0] == nil)
            }
        }

        @Test func `T-TLS-58 there is no switch for a check that is not made`() {
            let words = ["revo", "ocsp", "crl", "stapl", "status"]
            for field in Mirror(reflecting: TLSConfiguration()).children.compactMap(\.label) {
                #expect(!words.contains { field.lowercased().contains($0) }, "\(field)")
            }
        }
    }
}
