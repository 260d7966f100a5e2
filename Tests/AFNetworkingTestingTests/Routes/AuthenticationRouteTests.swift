import AFNetworkingTesting
import Foundation
import Testing

@Suite struct AuthenticationRouteTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.authentication)
    }

    @Test func `Basic compares user and password byte by byte`() throws {
        func visit(_ path: String, _ credentials: String?) throws -> Visit {
            let encoded = credentials.map { "Authorization: basic " + Data($0.utf8).base64EncodedString() }
            return try Visit(server, path, encoded.map { [$0] } ?? [])
        }
        let refusal = try visit("/basic-auth/ann/s%3Acret?realm=a%22b", nil)
        #expect(refusal.status == 401)
        #expect(refusal["www-authenticate"] == #"Basic realm="a\"b""#)
        let good = try visit("/basic-auth/ann/s%3Acret", "ann:s:cret")
        #expect(good.status == 200)
        #expect(good.text == #"{"authenticated": true, "user": "ann"}"# + "\n")
        for wrong in ["ann:s:Cret", "Ann:s:cret", "ann", ":", "ann:s:cret "] {
            #expect(try visit("/basic-auth/ann/s%3Acret", wrong).status == 401)
        }
        #expect(try visit("/basic-auth/%C3%A9/x", "e\u{301}:x").status == 401)
        #expect(try visit("/hidden-basic-auth/a/b", nil).status == 404)
        #expect(try visit("/hidden-basic-auth/a/b", "a:b").status == 200)
        #expect(try Visit(server, "/basic-auth/a/b", ["Authorization: Basic !!!"]).status == 401)
    }

    @Test func `Bearer accepts any token, or one token`() throws {
        #expect(try Visit(server, "/bearer")["www-authenticate"] == "Bearer realm=\"test\"")
        #expect(try Visit(server, "/bearer", ["Authorization: Bearer t0"]).json()["token"] as? String == "t0")
        #expect(try Visit(server, "/bearer/t1", ["Authorization: Bearer t1"]).status == 200)
        let wrong = try Visit(server, "/bearer/t1", ["Authorization: Bearer t0"])
        #expect(wrong.status == 401)
        #expect(wrong["www-authenticate"]?.contains("invalid_token") == true)
    }
}

@Suite struct DigestRouteTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.digestAuthentication)
    }

    private func challenge(_ path: String) throws -> DigestClient {
        let reply = try Visit(server, path)
        #expect(reply.status == 401)
        return try DigestClient(try #require(reply["www-authenticate"]), user: "ann", password: "secret")
    }

    @Test(arguments: ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess"])
    func `every algorithm works with auth and auth-int`(algorithm: String) throws {
        for quality in ["auth", "auth-int"] {
            let path = "/digest-auth/\(quality)/ann/secret/\(algorithm)"
            var client = try challenge(path)
            #expect(client.parameters["algorithm"] == algorithm)
            let field = client.answer("POST", path, quality, body: "a body")
            let good = try Visit(server, path, method: "POST", ["Authorization: \(field)"], body: "a body".utf8)
            #expect(good.status == 200, "\(good.text)")
            let info = try #require(good["authentication-info"])
            #expect(info.contains("rspauth=\"\(client.proof(path, quality, body: good.text))\""))
            #expect(info.contains("nc=00000001"))

            let again = client.answer("POST", path, quality, body: "a body")
            let other = try Visit(server, path, method: "POST", ["Authorization: \(again)"], body: "A body".utf8)
            #expect(other.status == (quality == "auth" ? 200 : 401))
        }
    }

    @Test func `the example of RFC 7616 has the same response`() {
        let challenge =
            "Digest realm=\"http-auth@example.org\", algorithm=SHA-256, "
            + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe\""
        var client = DigestClient(parsing: challenge, user: "Mufasa", password: "Circle of Life")
        client.cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        let field = client.answer("GET", "/dir/index.html", "auth", body: "")
        #expect(field.contains("753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"))
    }

    @Test func `without qop the challenge is that of RFC 2069`() throws {
        let path = "/digest-auth/none/ann/secret"
        var client = try challenge(path)
        #expect(client.parameters["qop"] == nil)
        #expect(try Visit(server, path, ["Authorization: \(client.answer("GET", path, nil))"]).status == 200)
        #expect(try Visit(server, path, ["Authorization: \(client.answer("GET", path, nil))"]).status == 200)
        #expect(try Visit(server, path, ["Authorization: \(client.answer("GET", path, "auth"))"]).status == 401)
    }

    @Test func `a count can be used once`() throws {
        let path = "/digest-auth/auth/ann/secret"
        var client = try challenge(path)
        let first = client.answer("GET", path, "auth")
        #expect(try Visit(server, path, ["Authorization: \(first)"]).status == 200)
        let repeated = try Visit(server, path, ["Authorization: \(first)"])
        #expect(repeated.status == 401)
        #expect(repeated.text == "the nonce was used with this count before\n")
        #expect(repeated["www-authenticate"]?.contains("stale") == false)
        _ = client.answer("GET", path, "auth")
        let third = client.answer("GET", path, "auth")
        #expect(third.contains("nc=00000003"))
        #expect(try Visit(server, path, ["Authorization: \(third)"]).status == 200)
    }

    @Test func `a nonce that is used up, or of another server, is stale`() throws {
        let path = "/digest-auth/auth/ann/secret/MD5/2"
        var client = try challenge(path)
        for _ in 0..<2 {
            #expect(try Visit(server, path, ["Authorization: \(client.answer("GET", path, "auth"))"]).status == 200)
        }
        let stale = try Visit(server, path, ["Authorization: \(client.answer("GET", path, "auth"))"])
        #expect(stale.status == 401)
        #expect(stale["www-authenticate"]?.contains("stale=true") == true)
        var fresh = try DigestClient(try #require(stale["www-authenticate"]), user: "ann", password: "secret")
        #expect(fresh.parameters["nonce"] != client.parameters["nonce"])
        #expect(try Visit(server, path, ["Authorization: \(fresh.answer("GET", path, "auth"))"]).status == 200)

        let other = try TestServer()
        other.install(.digestAuthentication)
        let field = fresh.answer("GET", path, "auth")
        #expect(try Visit(other, path, ["Authorization: \(field)"]).text == "the nonce is not one of ours\n")
    }

    @Test func `with next=1 the reply has the next nonce`() throws {
        let path = "/digest-auth/auth/ann/secret/SHA-256/1?next=1"
        var client = try challenge(path)
        for _ in 0..<3 {
            let good = try Visit(server, path, ["Authorization: \(client.answer("GET", path, "auth"))"])
            #expect(good.status == 200)
            let info = DigestClient(parsing: try #require(good["authentication-info"]), user: "", password: "")
            client.use(nonce: try #require(info.parameters["nextnonce"]))
        }
    }

    @Test func `several algorithms are several challenges`() throws {
        let path = "/digest-auth/auth,auth-int/ann/secret/SHA-256,MD5"
        let challenges = try Visit(server, path).values("www-authenticate")
        #expect(challenges.count == 2)
        #expect(challenges[0].contains("algorithm=SHA-256"))
        #expect(challenges[1].contains("qop=\"auth, auth-int\", algorithm=MD5"))
        for challenge in challenges {
            var client = try DigestClient(challenge, user: "ann", password: "secret")
            #expect(try Visit(server, path, ["Authorization: \(client.answer("GET", path, "auth"))"]).status == 200)
        }
    }

    @Test func `the reply says what is wrong`() throws {
        let path = "/digest-auth/auth/ann/secret/MD5"
        func reason(_ change: (inout DigestClient) -> Void, target: String? = nil) throws -> String {
            var client = try challenge(path)
            change(&client)
            let field = client.answer("GET", target ?? path, "auth")
            return try Visit(server, path, ["Authorization: \(field)"]).text
        }
        #expect(try Visit(server, path).text == "there are no credentials\n")
        #expect(try Visit(server, path, ["Authorization: Basic YQ=="]).text == "the scheme is not Digest\n")
        #expect(try reason({ $0.user = "bob" }) == "the user is another\n")
        #expect(try reason({ $0.password = "Secret" }) == "the response is wrong\n")
        #expect(try reason({ _ in }, target: "/other") == "uri is not the target of the request\n")
        #expect(try reason({ $0.parameters["realm"] = "x" }) == "the realm is another\n")
        #expect(try reason({ $0.parameters["opaque"] = "x" }) == "opaque is not what was given\n")
        #expect(try reason({ $0.parameters["algorithm"] = "SHA-256" }) == "the algorithm is another\n")
        #expect(try reason({ $0.cnonce = "" }) == "cnonce is missing\n")
        #expect(try reason({ $0.count = -1 }) == "nc is not a count of eight digits\n")
        #expect(try Visit(server, path, ["Authorization: Digest ,=\"\\"]).status == 401)
        for wrong in ["/digest-auth/x/a/b", "/digest-auth/auth/a/b/CRC", "/digest-auth/auth/a/b/MD5/x"] {
            #expect(try Visit(server, wrong).status == 400)
        }
    }
}
