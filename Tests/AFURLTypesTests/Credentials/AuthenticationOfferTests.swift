import AFState
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite("Offers of authentication")
struct AuthenticationOfferTests {
    private static func offers(_ value: String, mayHashBody: Bool = true) -> [AuthenticationOffer] {
        AuthenticationOffer.list(Challenge.list(value), from: "a.test", mayHashBody: mayHashBody)
    }

    private static func realms(_ value: String) -> [String?] {
        offers(value).map { $0.realm.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(arguments: [4095, 4096, 4097])
    func `a realm of up to 4 KiB is sent back`(length: Int) {
        let realm = String(repeating: "r", count: length)
        for challenge in ["Basic realm=", "Bearer realm=", "Digest nonce=n, realm="] {
            #expect(Self.offers("\(challenge)\"\(realm)\"").isEmpty == (length > 4096), "\(challenge)")
        }
    }

    @Test func `offers of equal strength stay in the server's order`() {
        #expect(Self.realms("Basic realm=1, Bearer realm=2, Basic realm=3") == ["1", "2", "3"])
        #expect(
            Self.realms(
                "Basic realm=1, Digest realm=2, nonce=n, Digest realm=3, nonce=n, algorithm=SHA-256, "
                    + "Digest realm=4, nonce=n, algorithm=MD5-sess, qop=auth, Digest realm=5, nonce=n, "
                    + "algorithm=SHA-512-256, Bearer realm=6"
            ) == ["5", "3", "2", "4", "1", "6"]
        )
        #expect(Self.realms("Basic, Bearer") == ["a.test", nil])
    }

    @Test func `what offers the same in the same realm is the same offer`() {
        let offers = [
            "Basic realm=r", "Bearer realm=r", "Digest realm=r, nonce=n", "Digest realm=r, nonce=n, algorithm=SHA-256",
            "Basic realm=q", "Bearer realm=q", "Digest realm=q, nonce=n", "Bearer",
        ].flatMap { Self.offers($0) }
        for (place, offer) in offers.enumerated() {
            for (other, second) in offers.enumerated() { #expect(offer.isSame(as: second) == (place == other)) }
        }
        #expect(offers[2].isSame(as: Self.offers("Digest realm=r, nonce=m, qop=auth, stale=true")[0]))
    }

    @Test func `an offer fits a credential of its kind`() {
        let (token, password) = (URLCredential(bearerToken: "t"), URLCredential.user())
        for (offer, isBearer) in [("Basic", false), ("Digest realm=r, nonce=n", false), ("Bearer", true)] {
            #expect(Self.offers(offer)[0].fits(token) == isBearer)
            #expect(Self.offers(offer)[0].fits(password) == !isBearer)
            #expect(Self.offers(offer)[0].sendsSecret == !offer.hasPrefix("Digest"))
        }
    }

    @Test func `the scope is what a token must be for, and of no other offer`() {
        #expect(Self.offers("Bearer scope=\"a b\"")[0].scope == Array("a b".utf8))
        #expect(Self.offers("Bearer")[0].scope == nil)
        #expect(Self.offers("Basic realm=r, scope=x")[0].scope == nil)
        #expect(Self.offers("Digest realm=r, nonce=n, scope=x")[0].scope == nil)
    }

    @Test(
        arguments: [
            (nil, "there is no WWW-Authenticate"),
            ("=", "WWW-Authenticate cannot be read: \"=\""),
            ("Digest realm=r", "the challenge of digest cannot be answered"),
            ("NTLM, Bearer YWJj", "the challenge of bearer cannot be answered"),
            ("Basic realm=a, realm=b", "the challenge of basic cannot be answered"),
            ("NTLM, Negotiate", "the session answers Basic, Digest and Bearer, and the challenge is ntlm, negotiate"),
        ] as [(String?, String)]
    )
    func `a complaint says why nothing can be answered`(value: String?, complaint: String) {
        var headers = HTTPHeaders()
        if let value { headers.append("WWW-Authenticate", value: value) }
        let challenges = Challenge.list(in: headers, name: "WWW-Authenticate")
        #expect(AuthenticationOffer.list(challenges, from: "a.test", mayHashBody: true).isEmpty)
        #expect(AuthenticationOffer.complaint(about: challenges, in: headers, field: "WWW-Authenticate") == complaint)
    }
}
