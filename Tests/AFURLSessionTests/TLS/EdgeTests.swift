import AFWire

@testable import AFTLS
@testable import AFURLSession
@testable import AFURLTypes

extension SecuredTests {
    /// What is decided before, or beside, any handshake.
    struct Edge {
        /// The one conversion happens where text becomes a `URL`; every later layer sees ASCII.
        @Test(
            arguments: [
                ("https://b\u{FC}cher.example/", "xn--bcher-kva.example"),
                ("https://B\u{DC}CHER.example/", "xn--bcher-kva.example"),
                ("https://b\u{FC}cher\u{3002}example/", "xn--bcher-kva.example"),
                ("https://XN--BCHER-KVA.example/", "xn--bcher-kva.example"),
                // Not "fass": the transitional mapping would make it another host.
                ("https://fa\u{DF}.example/", "xn--fa-hia.example"),
            ]
        )
        func `T-TLS-45 an international host becomes one name, for the server as for its certificate`(
            text: String,
            name: String
        ) throws {
            let request = URLRequest(url: try #require(URL(string: text)))
            let certificate = try CertificateAuthority().issue(for: name).certificate
            let frozen = try RequestFreezer.freeze(request, defaults: URLSession.shared.headers)

            #expect(frozen.url.endpoint.host.serverName == name)
            #expect(HostnameMatcher.matches(certificate, try #require(PeerName(frozen.url.endpoint.host.text))))
        }
    }
}
