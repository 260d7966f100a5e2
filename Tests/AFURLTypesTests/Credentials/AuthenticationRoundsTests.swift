import AFState
import AFTLS
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite("The machine of authentication, round by round")
struct AuthenticationRoundsTests {
    private static let basic = "Basic realm=r"
    private static let digest = "Digest realm=r, nonce=n, qop=auth"
    private let proven = ProvenCredentials.ofTest(nil)
    private let storage = URLCredentialStorage()

    private static func space(_ method: String) throws -> URLProtectionSpace {
        ChallengingParty.origin(try Endpoint(scheme: .https, host: "a.test")).space(
            realm: Array("r".utf8),
            method: method
        )
    }

    @Test func `a credential that is accepted begins the count of rounds anew`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(.ofTest(nil))
        for failures in [0, 2] {
            var step = task.challenge(Self.basic, to: exchange)
            #expect(step.question?.previousFailureCount == failures)
            for password in ["wrong \(failures)", "also wrong \(failures)", "right"] {
                #expect(step.question != nil)
                #expect(task.answer(.user("alice", password, .none)).name == "again")
                _ = task.send(exchange)
                if password != "right" { step = task.receive(401, [("WWW-Authenticate", Self.basic)], to: exchange) }
            }
            _ = task.receive(200, to: exchange)
        }
    }

    @Test func `a complaint is about the last response only`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(.ofTest(nil))
        #expect(task.challenge("New realm=r", to: exchange).name == "deliver")
        #expect(task.machine.complaint != nil)
        _ = task.send(exchange)
        #expect(task.receive(200, to: exchange).name == "deliver")
        #expect(task.machine.complaint == nil)
    }

    @Test func `the next response takes back a question that has no answer yet`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(.ofTest(nil))
        #expect(task.challenge(Self.basic, to: exchange).question != nil)
        #expect(task.challenge("New realm=r", to: exchange).name == "deliver")
        #expect(task.answer(.user()).name == "deliver")
        #expect(task.send(exchange).authorization == nil)
    }

    @Test func `what a server refused is not learnt from a later response`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.challenge(Self.basic, to: exchange)
        _ = task.answer(.user())
        _ = task.send(exchange)
        _ = task.receive(401, [("WWW-Authenticate", Self.basic)], to: exchange)
        _ = task.receive(200, to: exchange)

        var later = TaskTalk(proven)
        #expect(later.send(exchange).authorization == nil)
    }

    @Test func `a response proves the credential of its own request only`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.pass(Self.basic, .user(), to: exchange)
        proven.forgetAll()
        _ = task.receive(200, to: exchange)

        var later = TaskTalk(proven)
        #expect(later.send(exchange).authorization == nil)
    }

    @Test func `only an answer of Digest is proven by a server`() throws {
        var task = TaskTalk(proven)
        _ = task.pass("Basic realm=b", .user(), to: try .get("https://a.test/b/"))
        #expect(task.machine.proof == .absent)
        _ = task.pass("\(Self.digest), domain=\"/d/\"", .user(), to: try .get("https://a.test/d/"))
        #expect(task.machine.proof == .absent)

        // The answer to the first folder was the last one by Digest.
        let exchange = try AuthenticationExchange.get("https://a.test/b/")
        #expect(task.send(exchange).authorization == TaskTalk.basic("alice", "canary-word"))
        _ = task.receive(200, [("Authentication-Info", "rspauth=\"0\"")], to: exchange)
        #expect(task.machine.proof == .absent)
    }

    @Test func `an answer that cannot be written is not sent, and so is not refused`() throws {
        var exchange = try AuthenticationExchange.get("https://a.test/")
        exchange.path = [UInt8(ascii: "/"), 0]
        var task = TaskTalk(.ofTest(nil))
        _ = task.challenge(Self.digest, to: exchange)
        #expect(task.answer(.user()).name == "again")
        #expect(task.send(exchange) == .init(.init()))

        let question = task.receive(401, [("WWW-Authenticate", Self.digest)], to: exchange).question
        #expect(question?.previousFailureCount == 0)
    }

    @Test func `a credential learnt and forgotten under way is not learnt again`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.pass(Self.basic, .user(), to: exchange)
        #expect(task.send(exchange).authorization != nil)
        proven.forgetAll()
        _ = task.receive(200, to: exchange)

        #expect(task.send(exchange).authorization == nil)
    }

    // MARK: - Nonces

    @Test(
        "only the nonce is new where the realm and the algorithm are those that were sent",
        arguments: [
            ("Digest realm=r, nonce=m, qop=auth, stale=true", nil),
            ("Digest realm=r, nonce=n, qop=auth, stale=true", nil),
            ("Digest realm=r, nonce=m, qop=auth, stale=false", 1), ("Digest realm=r, nonce=m, qop=auth", 1),
            ("Digest realm=r, nonce=m, qop=auth, algorithm=SHA-256, stale=true", 1),
            ("Digest realm=q, nonce=m, qop=auth, stale=true, Digest realm=r, nonce=m, qop=auth", 0),
            ("Digest realm=q, nonce=m, qop=auth, stale=true", 0), ("Basic realm=r", nil),
        ] as [(String, Int?)]
    )
    func stale(challenge: String, failures: Int?) throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(.ofTest(nil))
        _ = task.challenge(Self.digest, to: exchange)
        _ = task.answer(.user())
        let first = task.send(exchange)
        let step = task.receive(401, [("WWW-Authenticate", challenge)], to: exchange)
        #expect(step.question?.previousFailureCount == failures)
        guard failures == nil else { return }
        // A server that has shown Digest gets no Basic.
        #expect(step.name == (challenge == Self.basic ? "deliver" : "again"))
        let second = task.send(exchange)
        #expect((second.authorization == nil) == (challenge == Self.basic))
        #expect(second.parameter("cnonce") != first.parameter("cnonce"))
        // A nonce that comes again goes on counting.
        if second.parameter("nonce") == "n" { #expect(second.parameter("nc") == "00000002") }
    }

    @Test func `an answer sent unasked with the nonce that the server still names is refused`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.pass(Self.digest, .user(), to: exchange)
        var later = TaskTalk(proven)

        #expect(later.challenge(Self.digest, to: exchange).question?.previousFailureCount == 1)
    }

    @Test func `a task that sent Digest unasked answers nothing weaker`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.pass(Self.digest, .user(), to: exchange)
        var later = TaskTalk(proven)
        #expect(later.challenge("Digest realm=r, nonce=m, qop=auth", to: exchange).name == "again")
        #expect(later.challenge(Self.basic, to: exchange).name == "deliver")
    }

    @Test func `a task that gave nothing to Digest answers nothing weaker`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(.ofTest(nil))
        #expect(task.challenge(Self.digest, to: exchange).name == "ask HTTPDigest")
        #expect(task.answer(nil).name == "deliver")
        #expect(task.challenge(Self.basic, to: exchange).name == "deliver")
    }

    @Test func `a stale nonce is not renewed for less than the server wanted last`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/x/")
        var task = TaskTalk(proven)
        _ = task.pass("\(Self.digest), domain=\"/x/\"", .user(), to: exchange)
        var later = TaskTalk(proven)
        let strong = "Digest realm=q, nonce=n, qop=auth, algorithm=SHA-256"
        #expect(later.challenge(strong, to: try .get("https://a.test/y/")).name == "ask HTTPDigest")
        #expect(later.answer(nil).name == "deliver")

        #expect(later.challenge("Digest realm=r, nonce=m, qop=auth, stale=true", to: exchange).name == "deliver")
    }

    @Test func `a body is digested only for auth-int`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/", method: "POST")
        for (quality, function) in [("auth", nil), ("auth-int", .md5), ("\"auth,auth-int\"", nil)]
            as [(String, DigestFunction?)]
        {
            var task = TaskTalk(.ofTest(nil))
            _ = task.challenge("Digest realm=r, nonce=n, qop=\(quality)", to: exchange)
            _ = task.answer(.user())
            #expect(task.prepare(exchange) == function)
        }
    }

    // MARK: - Proposals

    @Test func `a token is not sent unasked where the URL names a user`() throws {
        let space = ChallengingParty.origin(try Endpoint(scheme: .https, host: "a.test"))
            .space(realm: nil, method: NSURLAuthenticationMethodHTTPBearer)
        storage.setDefaultCredential(URLCredential(bearerToken: "t"), for: space)
        for (url, isSent) in [("https://a.test/", true), ("https://bob@a.test/", false)] {
            var task = TaskTalk(.ofTest(storage))
            #expect((task.send(try .get(url)).authorization != nil) == isSent)
        }
    }

    @Test func `a credential that one realm refused is proposed to another`() throws {
        let exchange = try AuthenticationExchange.get("https://bob:word@a.test/")
        var task = TaskTalk(.ofTest(nil))
        _ = task.challenge(Self.basic, to: exchange)
        #expect(task.answer(.performDefault).name == "again")
        #expect(task.challenge(Self.basic, to: exchange).question?.proposedCredential == nil)
        #expect(task.challenge("Basic realm=q", to: exchange).question?.proposedCredential?.user == "bob")
    }

    @Test func `the user information of the first URL is that of the task`() throws {
        var task = TaskTalk(.ofTest(nil))
        _ = task.challenge(Self.basic, to: try .get("https://bob:word@a.test/"))
        let question = task.challenge(Self.basic, to: try .get("https://carol:word@a.test/")).question
        #expect(question?.proposedCredential?.user == "bob")
        let other = task.challenge(Self.basic, to: try .get("https://carol:word@b.test/")).question
        #expect(other?.proposedCredential?.user == "carol")
    }

    @Test func `T-AUT-03 a proposal that the delegate takes is the storage's, and goes with it`() throws {
        let space = try Self.space(NSURLAuthenticationMethodHTTPBasic)
        storage.setDefaultCredential(.user(), for: space)
        let proven = ProvenCredentials.ofTest(storage)
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        let proposal = task.challenge(Self.basic, to: exchange).question?.proposedCredential
        #expect(proposal == .user())
        #expect(task.answer(proposal).name == "again")
        _ = task.send(exchange)
        storage.remove(.user(), for: space)
        _ = task.receive(200, to: exchange)

        #expect(storage.isEmpty)
        var later = TaskTalk(proven)
        #expect(later.send(exchange).authorization == nil)
    }

    @Test func `a credential of the delegate's own is learnt beside the one that was proposed`() throws {
        let space = try Self.space(NSURLAuthenticationMethodHTTPDigest)
        storage.set(.user("stored"), for: try Self.space(NSURLAuthenticationMethodHTTPBasic))
        let proven = ProvenCredentials.ofTest(storage)
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        #expect(task.challenge(Self.digest, to: exchange).question?.proposedCredential?.user == "stored")
        #expect(task.answer(.user("own")).name == "again")
        _ = task.send(exchange)
        _ = task.receive(200, to: exchange)

        #expect(storage.credentials(for: space)?.keys.sorted() == ["own"])
        var later = TaskTalk(proven)
        #expect(later.send(exchange).parameter("username") == "own")
    }
}
