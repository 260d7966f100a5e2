import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite("Parties that ask for credentials")
struct ChallengingPartyTests {
    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.0.9", true), ("128.0.0.1", false), ("12.7.0.1", false), ("[::1]", true),
        ("[::2]", false), ("localhost", true), ("a.localhost", true), ("alocalhost", false), ("localhost.a", false),
    ])
    func `without TLS only this very machine may get a password`(host: String, isSafe: Bool) throws {
        let endpoint = try Endpoint(scheme: .http, host: host)
        #expect(ChallengingParty.origin(endpoint).mayReceivePasswords == isSafe)
        #expect(ChallengingParty.origin(try Endpoint(scheme: .https, host: host)).mayReceivePasswords)
        #expect(ChallengingParty.proxy(endpoint, for: .http).mayReceivePasswords)
    }

    @Test func `the space of a proxy says for which URLs it is one`() throws {
        let endpoint = try Endpoint(scheme: .http, host: "p.test", port: 3128)
        func space(_ party: ChallengingParty) -> URLProtectionSpace {
            party.space(realm: Array("r".utf8), method: NSURLAuthenticationMethodHTTPBasic, scope: Array("s".utf8))
        }
        #expect(space(.proxy(endpoint, for: .http)).proxyType == NSURLProtectionSpaceHTTPProxy)
        #expect(space(.proxy(endpoint, for: .https)).proxyType == NSURLProtectionSpaceHTTPSProxy)
        let origin = space(.origin(endpoint))
        #expect(!origin.isProxy() && origin.proxyType == nil)
        #expect(origin.host == "p.test" && origin.port == 3128 && origin.realm == "r" && origin.scope == "s")
        #expect(ChallengingParty.proxy(endpoint, for: .http) != .proxy(endpoint, for: .https))
    }
}
