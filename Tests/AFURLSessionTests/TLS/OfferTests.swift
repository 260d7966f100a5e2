extension SecuredTests {
    /// What a session offers to a server.
    struct Offers {
        @Test func `T-TLS-61 only suites with forward secrecy and authenticated encryption are offered`() async throws {
            let site = try SecuredSite()

            _ = try await site.session().outcome(of: site.server.url("/hello"))

            let offered = try #require(site.server.connections.first?.tls?.offeredCipherSuites)
            let good: Set<UInt16> = [
                0x1301, 0x1302, 0x1303, 0xC02B, 0xC02C, 0xC02F, 0xC030, 0xCCA8, 0xCCA9,
                // What says that renegotiation is bound to its connection, RFC 5746.
                0x00FF,
            ]
            #expect(Set(offered).isSubset(of: good), "\(offered.map { String($0, radix: 16) })")
            #expect(offered.count >= 9)
        }
    }
}
