import Foundation
import Testing

@testable import AFURLTypes

@Suite struct ChallengeValueTests {
    private static let secret = "canary-password-5d21"

    private static func space(
        host: String = "example.com",
        port: Int = 80,
        protocol: String? = NSURLProtectionSpaceHTTP,
        realm: String? = "staff",
        method: String? = NSURLAuthenticationMethodHTTPBasic
    ) -> URLProtectionSpace {
        URLProtectionSpace(host: host, port: port, protocol: `protocol`, realm: realm, authenticationMethod: method)
    }

    private static func identity(_ name: String = "alice") throws -> ClientIdentity {
        let client = try CertificateAuthority().makeIntermediate().issueClient(name)
        return try ClientIdentity(certificates: client.chain, privateKeyPEM: client.privateKeyPEM.utf8)
    }

    // MARK: - Protection spaces

    @Test("spaces are equal when the same place asks in the same way")
    func equalSpaces() throws {
        let space = Self.space()
        let others = [
            Self.space(host: "example.org"), Self.space(port: 8080), Self.space(protocol: NSURLProtectionSpaceHTTPS),
            Self.space(protocol: nil), Self.space(realm: "guests"), Self.space(realm: nil),
            Self.space(method: NSURLAuthenticationMethodHTTPDigest), Self.space(method: nil),
            URLProtectionSpace(
                proxyHost: "example.com",
                port: 80,
                type: NSURLProtectionSpaceHTTPProxy,
                realm: "staff",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic
            ),
        ]
        #expect(space == Self.space() && space.hash == Self.space().hash)
        #expect(Set(others + [space, Self.space()]).count == others.count + 1)
        #expect(try #require(space.copy() as? URLProtectionSpace) === space)
        #expect(!space.isEqual("example.com") && !space.isEqual(nil))
    }

    @Test("a space keeps what it was made from; without a method it has the standard one")
    func parts() {
        let space = Self.space(port: 443, protocol: NSURLProtectionSpaceHTTPS, method: nil)
        #expect(space.host == "example.com" && space.port == 443 && space.protocol == "https" && space.realm == "staff")
        #expect(space.authenticationMethod == NSURLAuthenticationMethodDefault)
        #expect(!space.isProxy() && space.proxyType == nil)
        #expect(space.serverTrust == nil && space.distinguishedNames == nil)

        let proxy = URLProtectionSpace(
            proxyHost: "proxy",
            port: 3128,
            type: NSURLProtectionSpaceSOCKSProxy,
            realm: nil,
            authenticationMethod: nil
        )
        #expect(proxy.isProxy() && proxy.proxyType == "SOCKS" && proxy.protocol == nil)
    }

    @Test("a password is safe on a secured connection, or with a method that does not send it")
    func securely() {
        let readable = [
            NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTMLForm,
            "something new",
        ]
        let hidden = [
            NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust,
        ]
        for method in readable + hidden {
            let isHidden = hidden.contains(method)
            #expect(Self.space(method: method).receivesCredentialSecurely == isHidden)
            #expect(Self.space(protocol: NSURLProtectionSpaceHTTPS, method: method).receivesCredentialSecurely)
            // A proxy for https is spoken to in the clear.
            let proxy = URLProtectionSpace(
                proxyHost: "proxy",
                port: 80,
                type: NSURLProtectionSpaceHTTPSProxy,
                realm: nil,
                authenticationMethod: method
            )
            #expect(proxy.receivesCredentialSecurely == isHidden)
        }
    }

    @Test("the description shows a realm in visible characters only")
    func describedSpace() {
        let space = Self.space(realm: "a\r\nSet-Cookie: b\u{1B}[2J")
        #expect(space.description.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        #expect(space.description.hasPrefix("http://example.com:80 realm \"a"))
        #expect(space.description.hasSuffix(NSURLAuthenticationMethodHTTPBasic))
    }

    // MARK: - Credentials

    @Test("credentials are equal when they say the same")
    func equalCredentials() throws {
        let (alice, bob) = (try Self.identity(), try Self.identity("bob"))
        let trust = ServerTrust(servedChain: alice.certificates, host: "a.example", anchors: .certificates([]))
        let elsewhere = ServerTrust(servedChain: alice.certificates, host: "b.example", anchors: .certificates([]))
        let all = [
            URLCredential(user: "u", password: "p", persistence: .forSession),
            URLCredential(user: "u", password: "p", persistence: .permanent),
            URLCredential(user: "u", password: "q", persistence: .forSession),
            URLCredential(user: "v", password: "p", persistence: .forSession),
            URLCredential(identity: alice), URLCredential(identity: bob),
            URLCredential(identity: alice, certificates: []),
            URLCredential(identity: alice, persistence: .none), URLCredential(trust: trust),
            URLCredential(trust: elsewhere),
        ]
        #expect(Set(all).count == all.count)
        let again = URLCredential(user: "u", password: "p", persistence: .forSession)
        #expect(again == all[0] && again.hash == all[0].hash && again !== all[0])
        #expect(URLCredential(trust: trust) == all[8] && URLCredential(identity: alice) == all[4])
        #expect(try #require(again.copy() as? URLCredential) === again)
        #expect(!again.isEqual("u") && !again.isEqual(nil))
    }

    @Test("a credential has the parts of its kind and no others")
    func kinds() throws {
        let identity = try Self.identity()
        let user = URLCredential(user: "u", password: "", persistence: .synchronizable)
        #expect(user.user == "u" && user.password?.isEmpty == true && user.hasPassword)
        #expect(user.persistence == .synchronizable && user.identity == nil && user.trust == nil)
        #expect(user.certificates.isEmpty)

        let own = URLCredential(identity: identity)
        #expect(own.identity == identity && own.certificates == Array(identity.certificates.dropFirst()))
        #expect(own.persistence == .forSession && own.user == nil && !own.hasPassword && own.trust == nil)

        let trust = ServerTrust(servedChain: [], host: "a.example", anchors: .certificates([]))
        let word = URLCredential(trust: trust)
        #expect(word.trust == trust && word.persistence == .none && word.identity == nil && !word.hasPassword)
    }

    @Test("the certificates given with an identity are sent in place of its own authorities")
    func authorities() throws {
        var identity = try Self.identity()
        identity.hosts = ["*.example.com"]
        let others = try Self.identity("bob").certificates
        let leaf = identity.certificates[0]

        let replaced = URLCredential(identity: identity, certificates: [leaf] + others, persistence: .none)
        #expect(replaced.identity?.certificates == [leaf] + others)
        #expect(replaced.certificates == others && replaced.persistence == .none)
        #expect(replaced.identity?.hosts == ["*.example.com"])
        #expect(URLCredential(identity: identity, certificates: [], persistence: .none).certificates.isEmpty)
        let kept = URLCredential(identity: identity, certificates: nil, persistence: .none)
        #expect(kept.identity == identity)
    }

    @Test("an archive brings back a user's credential, and nothing of any other")
    func archive() throws {
        let user = URLCredential(user: "u", password: Self.secret, persistence: .permanent)
        let bytes = try NSKeyedArchiver.archivedData(withRootObject: user, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: URLCredential.self, from: bytes) == user)

        let identity = URLCredential(identity: try Self.identity())
        let empty = try NSKeyedArchiver.archivedData(withRootObject: identity, requiringSecureCoding: true)
        let back = try? NSKeyedUnarchiver.unarchivedObject(ofClass: URLCredential.self, from: empty)
        #expect(back == nil)
    }

    @Test func `an archive without keys has no credential`() {
        final class Unkeyed: NSCoder {}
        #expect(URLCredential(coder: Unkeyed()) == nil)
    }

    @Test func `a description says which kind of credential it is`() throws {
        let trust = ServerTrust(servedChain: [], host: "a.example", anchors: .certificates([]))
        let identity = try Self.identity()
        #expect(URLCredential(trust: trust).description == "URLCredential(trust: a.example)")
        #expect(URLCredential(bearerToken: Self.secret).description == "URLCredential(bearerToken: not shown)")
        #expect(URLCredential(identity: identity).description == "URLCredential(identity: \(identity))")
        #expect(URLCredential(bearerToken: Self.secret).bearerToken == Self.secret)
        #expect(URLCredential(trust: trust).bearerToken == nil)
    }

    @Test("no description or dump shows a password, T-TLS-83")
    func secrecy() throws {
        let credential = URLCredential(user: "alice", password: Self.secret, persistence: .forSession)
        let url = try #require(URL(string: "https://example.com"))
        let challenge = URLAuthenticationChallenge(
            protectionSpace: Self.space(),
            proposedCredential: credential,
            previousFailureCount: 2,
            failureResponse: URLResponse(
                url: url,
                mimeType: Self.secret,
                expectedContentLength: 0,
                textEncodingName: nil
            ),
            error: URLError(.userAuthenticationRequired, userInfo: ["secret": Self.secret]),
            sender: Sender()
        )
        for value in [credential, challenge, challenge.proposedCredential as Any, [credential]] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [String(describing: value), String(reflecting: value), dumped] {
                #expect(!text.contains(Self.secret), "\(text)")
            }
        }
        #expect(credential.description == "URLCredential(user: alice, password: not shown)")
        #expect(challenge.description.contains("http://example.com:80"))
        #expect(challenge.description.contains("after 2 refused"))
    }

    // MARK: - Challenges

    @Test("a challenge keeps its parts, and a second one differs in its sender only")
    func challenge() {
        let (first, second) = (Sender(), Sender())
        let challenge = URLAuthenticationChallenge(
            protectionSpace: Self.space(),
            proposedCredential: URLCredential(user: "u", password: "p", persistence: .none),
            previousFailureCount: 3,
            failureResponse: nil,
            error: URLError(.timedOut),
            sender: first
        )
        let copy = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: second)

        #expect(challenge.sender === first && copy.sender === second)
        #expect(copy.protectionSpace === challenge.protectionSpace)
        #expect(copy.proposedCredential === challenge.proposedCredential && copy.previousFailureCount == 3)
        #expect(copy.failureResponse == nil && (copy.error as? URLError)?.code == .timedOut)
    }
}

/// Takes no answer.
private final class Sender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
