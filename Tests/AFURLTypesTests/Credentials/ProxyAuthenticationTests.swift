import AFState
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite("The machine of authentication, with a proxy")
struct ProxyAuthenticationTests {
    private static let basic = "Basic realm=r"
    private static let digest = "Digest realm=r, nonce=n, qop=auth"
    private let proven = ProvenCredentials.ofTest(nil)

    private static func exchange(_ url: String = "http://a.test/") throws -> AuthenticationExchange {
        try .get(url, proxy: try .proxy("p.test"))
    }

    /// Of a proxy whose credential is in the configuration, and goes along unasked.
    private static func configured() throws -> AuthenticationExchange {
        var exchange = try exchange()
        exchange.proxyCredential = .user("configured")
        exchange.sendsProxyCredential = true
        return exchange
    }

    @Test func `a request that the proxy does not pass on proves no credential of the origin`() throws {
        let exchange = try Self.exchange("http://127.0.0.1/")
        var task = TaskTalk(proven)
        _ = task.challenge(Self.basic, to: exchange)
        _ = task.answer(.user("origin"))
        _ = task.send(exchange)
        #expect(task.proxyAsks(Self.basic, for: exchange).name == "ask HTTPBasic")

        var other = TaskTalk(proven)
        #expect(other.send(exchange).authorization == nil)
        // The origin has not seen it yet, so it goes once more.
        _ = task.answer(.user("proxy"))
        let sent = task.send(exchange)
        #expect(sent.authorization == TaskTalk.basic("origin", "canary-word"))
        #expect(sent.proxyAuthorization == TaskTalk.basic("proxy", "canary-word"))
    }

    @Test func `a request that the origin refuses has passed the proxy`() throws {
        let exchange = try Self.exchange("http://a.test/one/x")
        var task = TaskTalk(proven)
        _ = task.send(exchange)
        _ = task.proxyAsks(Self.basic, for: exchange)
        _ = task.answer(.user("proxy"))
        _ = task.send(exchange)
        _ = task.receive(401, [("WWW-Authenticate", Self.basic)], to: exchange)

        // What a proxy has accepted is for all that it passes on.
        var other = TaskTalk(proven)
        let sent = other.send(try Self.exchange("http://b.test/two/x"))
        #expect(sent.proxyAuthorization == TaskTalk.basic("proxy", "canary-word"))
    }

    @Test func `the user of the URL does not choose a credential of the proxy`() throws {
        let storage = URLCredentialStorage()
        let space = try ChallengingParty.proxy("p.test")
            .space(realm: Array("r".utf8), method: NSURLAuthenticationMethodHTTPBasic)
        storage.setDefaultCredential(.user("default"), for: space)
        storage.set(.user("bob"), for: space)
        let exchange = try Self.exchange("http://bob:word@a.test/")
        var task = TaskTalk(.ofTest(storage))
        _ = task.send(exchange)

        #expect(task.proxyAsks(Self.basic, for: exchange).question?.proposedCredential?.user == "default")
    }

    @Test func `a netrc file has no credential for a proxy`() throws {
        let netrc = try NetrcFile(text: "machine p.test login u password p")
        let exchange = try Self.exchange()
        var task = TaskTalk(.ofTest(nil) { $0.netrc = netrc })
        _ = task.send(exchange)

        #expect(task.proxyAsks(Self.basic, for: exchange).question?.proposedCredential == nil)
    }

    @Test func `a configured credential that went along is what the proxy refused`() throws {
        let exchange = try Self.configured()
        var task = TaskTalk(.ofTest(nil))
        _ = task.send(exchange)
        let question = task.proxyAsks("\(Self.digest), \(Self.basic)", for: exchange).question
        #expect(question?.previousFailureCount == 1 && question?.proposedCredential == nil)
        // The same request goes once more: the proxy refuses what it has refused.
        #expect(task.answer(nil).name == "deliver")
        _ = task.send(exchange)
        #expect(task.proxyAsks("\(Self.digest), \(Self.basic)", for: exchange).question?.previousFailureCount == 1)

        // A proxy that wants no Basic has not looked at it.
        task = TaskTalk(.ofTest(nil))
        _ = task.send(exchange)
        let other = task.proxyAsks(Self.digest, for: exchange).question
        #expect(other?.previousFailureCount == 0 && other?.proposedCredential?.user == "configured")

        var quiet = try Self.exchange()
        quiet.proxyCredential = exchange.proxyCredential
        task = TaskTalk(.ofTest(nil))
        _ = task.send(quiet)
        let unsent = task.proxyAsks(Self.basic, for: quiet).question
        #expect(unsent?.previousFailureCount == 0 && unsent?.proposedCredential?.user == "configured")
    }

    @Test func `what a task sends to a proxy goes in place of the configured credential`() throws {
        var exchange = try Self.exchange()
        var task = TaskTalk(proven)
        _ = task.send(exchange)
        _ = task.proxyAsks(Self.basic, for: exchange)
        _ = task.answer(.user("proven"))
        _ = task.send(exchange)
        _ = task.receive(200, to: exchange)

        exchange = try Self.configured()
        var later = TaskTalk(proven)
        #expect(later.send(exchange).proxyAuthorization == TaskTalk.basic("proven", "canary-word"))
        let question = later.proxyAsks(Self.basic, for: exchange).question
        #expect(question?.previousFailureCount == 1 && question?.proposedCredential?.user == "configured")
        var last = TaskTalk(proven)
        #expect(last.send(exchange).proxyAuthorization == nil)
    }

    @Test func `the proof of a proxy is in a field of its own, and is no proof of the origin`() throws {
        for (field, isKept) in [("Authentication-Info", true), ("Proxy-Authentication-Info", false)] {
            let proven = ProvenCredentials.ofTest(nil)
            let exchange = try Self.exchange()
            var task = TaskTalk(proven)
            _ = task.send(exchange)
            _ = task.proxyAsks(Self.digest, for: exchange)
            _ = task.answer(.user())
            _ = task.send(exchange)
            _ = task.receive(200, [(field, "rspauth=\"0\"")], to: exchange)
            #expect(task.machine.proof == .absent)
            var later = TaskTalk(proven)
            #expect((later.send(exchange).proxyAuthorization != nil) == isKept)
        }
    }

    @Test(arguments: ["MD5", "SHA-256"])
    func `origin and proxy get the digest of a body by one function`(algorithm: String) throws {
        let exchange = try Self.exchange("http://127.0.0.1/")
        let body = "Digest realm=r, nonce=n, qop=auth-int, algorithm="
        var task = TaskTalk(proven)
        _ = task.send(exchange)
        _ = task.proxyAsks(body + algorithm, for: exchange)
        _ = task.answer(.user("proxy"))
        _ = task.send(exchange)
        _ = task.receive(401, [("WWW-Authenticate", "\(body)SHA-256")], to: exchange)
        _ = task.answer(.user("origin"))

        #expect(task.prepare(exchange) == .sha256)
        let sent = task.send(exchange, bodyDigest: [UInt8](repeating: 1, count: 32))
        #expect(sent.parameter("username") == "origin")
        #expect((sent.proxyAuthorization != nil) == (algorithm == "SHA-256"))
    }
}

extension TaskTalk {
    fileprivate mutating func proxyAsks(
        _ challenge: String,
        for exchange: AuthenticationExchange
    ) -> AuthenticationMachine.Step {
        receive(407, [("Proxy-Authenticate", challenge)], to: exchange)
    }
}
