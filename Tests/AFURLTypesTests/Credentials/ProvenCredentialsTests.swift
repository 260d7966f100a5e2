import AFState
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite("What a session remembers of credentials")
struct ProvenCredentialsTests {
    private let proven = ProvenCredentials.ofTest(nil)
    private let storage = URLCredentialStorage()

    private static func origin(_ host: String) throws -> ChallengingParty {
        .origin(try Endpoint(scheme: .https, host: host))
    }

    /// What a task sends that was not asked.
    private static func sent(_ proven: ProvenCredentials, to url: String) throws -> TaskTalk.Sent {
        var task = TaskTalk(proven)
        return task.send(try .get(url))
    }

    @Test("our nonces are 128 bits of the system's randomness, T-AUT-10")
    func randomness() throws {
        let proven = ProvenCredentials(settings: CredentialSettings(storage: nil))
        let nonces = (0..<200).compactMap { _ in proven.known.clientNonce() }
        #expect(nonces.allSatisfy { $0.count == 32 })
        #expect(Set(nonces).count == 200)
        // Every digit at every place: none of it is constant.
        for place in 0..<32 { #expect(Set(nonces.map { $0[place] }).count > 8) }
    }

    // MARK: - Learning

    @Test func `a password that worked in two folders goes to both`() throws {
        for url in ["https://a.test/one/x", "https://a.test/two/x"] {
            var task = TaskTalk(proven)
            _ = task.pass("Basic realm=r", .user(), to: try .get(url))
        }
        for (path, isSent) in [("/one/y", true), ("/two/y", true), ("/three/y", false)] {
            #expect((try Self.sent(proven, to: "https://a.test\(path)").authorization != nil) == isSent, "\(path)")
        }
    }

    @Test func `a new password of a realm takes the place of the old one, and of its folders`() throws {
        for (url, user) in [("https://a.test/one/x", "old"), ("https://a.test/two/x", "new")] {
            var task = TaskTalk(proven)
            _ = task.pass("Basic realm=r", .user(user), to: try .get(url))
        }
        #expect(try Self.sent(proven, to: "https://a.test/one/y").authorization == nil)
        let sent = try Self.sent(proven, to: "https://a.test/two/y")
        #expect(sent.authorization == TaskTalk.basic("new", "canary-word"))
    }

    @Test func `a new nonce takes the place of the old one, and of its domain`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/x")
        var tasks = [TaskTalk(proven), TaskTalk(proven)]
        // Both are asked before the first is accepted.
        for (place, challenge) in ["nonce=n, domain=\"/a\"", "nonce=m, domain=\"/b\""].enumerated() {
            #expect(tasks[place].challenge("Digest realm=r, qop=auth, \(challenge)", to: exchange).question != nil)
            #expect(tasks[place].answer(.user()).name == "again")
            #expect(tasks[place].send(exchange).authorization != nil)
        }
        for place in tasks.indices { _ = tasks[place].receive(200, to: exchange) }

        #expect(try Self.sent(proven, to: "https://a.test/a").authorization == nil)
        #expect(try Self.sent(proven, to: "https://a.test/b").parameter("nonce") == "m")
    }

    @Test func `of more than 256 realms the one that was proven first is forgotten`() throws {
        func prove(_ number: Int) throws {
            var task = TaskTalk(proven)
            _ = task.pass("Basic realm=r", .user(), to: try .get("https://h\(number).test/"))
        }
        for number in 0..<256 { try prove(number) }
        #expect(try Self.sent(proven, to: "https://h0.test/").authorization != nil)
        try prove(256)

        #expect(try Self.sent(proven, to: "https://h0.test/").authorization == nil)
        for number in [1, 255, 256] {
            #expect(try Self.sent(proven, to: "https://h\(number).test/").authorization != nil)
        }
    }

    @Test func `a credential for a host that the caller names is not given to the storage`() throws {
        let proven = ProvenCredentials.ofTest(storage)
        func exchange(_ host: String) throws -> AuthenticationExchange {
            AuthenticationExchange(
                url: try RequestURL("https://a.test/"),
                method: "GET",
                namedHost: Array(host.utf8),
                trust: .clear
            )
        }
        var task = TaskTalk(proven)
        _ = task.pass("Basic realm=r", .user(), to: try exchange("one.test"))

        #expect(storage.isEmpty)
        var later = TaskTalk(proven)
        #expect(later.send(try exchange("one.test")).authorization != nil)
        #expect(later.send(try exchange("two.test")).authorization == nil)
        #expect(try Self.sent(proven, to: "https://a.test/").authorization == nil)
    }

    @Test func `a session knows nothing until there is something to send unasked`() throws {
        #expect(ProvenCredentials.ofTest(nil).isEmpty)
        let proven = ProvenCredentials.ofTest(storage)
        #expect(proven.isEmpty)
        storage.set(.user(), for: try Self.origin("a.test").space(realm: nil, method: NSURLAuthenticationMethodDefault))
        #expect(!proven.isEmpty)

        let other = ProvenCredentials.ofTest(nil)
        var task = TaskTalk(other)
        _ = task.pass("Basic realm=r", .user(), to: try .get("https://a.test/"))
        #expect(!other.isEmpty)
    }

    @Test func `an accepted token goes to the whole host`() throws {
        var task = TaskTalk(proven)
        _ = task.pass("Bearer realm=r", URLCredential(bearerToken: "t"), to: try .get("https://a.test/one/x"))
        #expect(try Self.sent(proven, to: "https://a.test/two/x").authorization == "Bearer t")
        #expect(try Self.sent(proven, to: "https://b.test/one/x").authorization == nil)
    }

    @Test func `a credential of a netrc file is sent again, and not given to the storage`() throws {
        let netrc = try NetrcFile(text: "machine a.test login u password p")
        let proven = ProvenCredentials.ofTest(storage) { $0.netrc = netrc }
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.challenge("Basic realm=r", to: exchange)
        #expect(task.answer(.performDefault).name == "again")
        _ = task.send(exchange)
        _ = task.receive(200, to: exchange)

        #expect(try Self.sent(proven, to: "https://a.test/").authorization == TaskTalk.basic("u", "p"))
        #expect(storage.isEmpty)
    }

    // MARK: - Forgetting

    /// A credential at `a.test` and another at `b.test`, whose space it returns.
    private static func provenAtTwoHosts() throws -> (URLCredentialStorage, ProvenCredentials, URLProtectionSpace) {
        let storage = URLCredentialStorage()
        let proven = ProvenCredentials.ofTest(storage)
        for host in ["a.test", "b.test"] {
            var task = TaskTalk(proven)
            _ = task.pass("Basic realm=r", .user(host), to: try .get("https://\(host)/"))
        }
        let space = try origin("b.test").space(realm: Array("r".utf8), method: NSURLAuthenticationMethodHTTPBasic)
        return (storage, proven, space)
    }

    @Test func `T-AUT-03 a credential that is removed is not sent, whatever hosts were asked since`() throws {
        let (storage, proven, space) = try Self.provenAtTwoHosts()
        storage.remove(.user("b.test"), for: space)

        #expect(try Self.sent(proven, to: "https://a.test/").authorization != nil)
        #expect(try Self.sent(proven, to: "https://b.test/").authorization == nil)
        #expect(try Self.sent(proven, to: "https://a.test/").authorization != nil)
    }

    @Test func `T-AUT-03 a credential that is removed and kept again has to be proven again`() throws {
        let proven = ProvenCredentials.ofTest(storage)
        var task = TaskTalk(proven)
        _ = task.pass("Basic realm=r", .user(), to: try .get("https://a.test/"))
        let space = try Self.origin("a.test").space(
            realm: Array("r".utf8),
            method: NSURLAuthenticationMethodHTTPBasic
        )
        storage.remove(.user(), for: space)
        #expect(try Self.sent(proven, to: "https://a.test/").authorization == nil)
        storage.set(.user(), for: space)
        #expect(try Self.sent(proven, to: "https://a.test/").authorization == nil)
    }

    @Test func `a credential that is removed and kept again between two requests stays known`() throws {
        let (storage, proven, space) = try Self.provenAtTwoHosts()
        storage.remove(.user("b.test"), for: space)
        #expect(try Self.sent(proven, to: "https://a.test/").authorization != nil)
        storage.set(.user("b.test"), for: space)
        #expect(try Self.sent(proven, to: "https://b.test/").authorization != nil)
    }

    @Test(arguments: ["https://a.test/two/x", "https://b.test/one/x"])
    func `T-AUT-22 what one realm refuses is not forgotten elsewhere`(other: String) throws {
        for (url, realm) in [("https://a.test/one/x", "one"), (other, other.contains("a.test") ? "two" : "one")] {
            var task = TaskTalk(proven)
            _ = task.pass("Basic realm=\(realm)", .user(), to: try .get(url))
        }
        var task = TaskTalk(proven)
        #expect(task.challenge("Basic realm=one", to: try .get("https://a.test/one/x")).question != nil)

        #expect(try Self.sent(proven, to: "https://a.test/one/x").authorization == nil)
        #expect(try Self.sent(proven, to: other).authorization != nil)
    }

    @Test func `what is forgotten is not sent, and its nonce goes on counting`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        let challenge = "Digest realm=r, nonce=n, qop=auth"
        var task = TaskTalk(proven)
        let first = task.pass(challenge, .user(), to: exchange)
        proven.forgetAll()
        #expect(try Self.sent(proven, to: "https://a.test/").authorization == nil)

        var later = TaskTalk(proven)
        let second = later.pass(challenge, .user(), to: exchange)
        #expect(first.parameter("nc") == "00000001" && second.parameter("nc") == "00000002")
        #expect(first.parameter("cnonce") != second.parameter("cnonce"))
    }

    // MARK: - Nonces

    /// Answers a challenge of a host.
    private static func answer(
        _ challenge: String,
        of host: String = "a.test",
        as credential: URLCredential,
        in proven: ProvenCredentials
    ) throws -> TaskTalk.Sent {
        var task = TaskTalk(proven)
        let exchange = try AuthenticationExchange.get("https://\(host)/")
        _ = task.challenge("Digest \(challenge)", to: exchange)
        #expect(task.answer(credential).name == "again")
        return task.send(exchange)
    }

    @Test func `T-AUT-08 tasks share an answer to the same question, and to no other`() throws {
        let question = "realm=r, nonce=n, qop=auth"
        let user = URLCredential.user("jos\u{E9}")
        let first = try Self.answer(question, as: user, in: proven)
        var nonces = [first.parameter("cnonce")]
        var counts = [first.parameter("nc")]
        for (challenge, field, value) in [
            ("realm=q, nonce=n, qop=auth", "realm", "q"), ("\(question), opaque=o", "opaque", "o"),
            ("realm=r, nonce=n, qop=auth-int", "qop", "auth-int"), ("\(question), algorithm=MD5", "algorithm", "MD5"),
            ("\(question), algorithm=SHA-256", "algorithm", "SHA-256"),
            ("\(question), userhash=true", "userhash", "true"),
            ("\(question), charset=utf-8", "username*", "UTF-8''jos%C3%A9"),
            ("realm=r, nonce=m, qop=auth", "nonce", "m"),
        ] {
            let sent = try Self.answer(challenge, as: user, in: proven)
            #expect(sent.parameter(field) == value, "\(challenge)")
            #expect(!nonces.contains(sent.parameter("cnonce")), "\(challenge)")
            nonces.append(sent.parameter("cnonce"))
            if field != "nonce" { counts.append(sent.parameter("nc")) }
        }
        for other in [URLCredential.user("bob"), .user("jos\u{E9}", "other")] {
            let sent = try Self.answer(question, as: other, in: proven)
            #expect(sent.parameter("username") == other.user && !nonces.contains(sent.parameter("cnonce")))
            counts.append(sent.parameter("nc"))
        }
        let elsewhere = try Self.answer(question, of: "b.test", as: user, in: proven)
        #expect(!nonces.contains(elsewhere.parameter("cnonce")) && elsewhere.parameter("nc") == "00000001")

        // How long a credential is kept is nothing that the server sees.
        for same in [user, .user("jos\u{E9}", "canary-word", .none)] {
            let again = try Self.answer("\(question), stale=true", as: same, in: proven)
            #expect(again.parameter("cnonce") == nonces[0])
            counts.append(again.parameter("nc"))
        }
        #expect(Set(counts).count == counts.count && counts.count == 12)
    }

    @Test func `T-AUT-08 a nonce that the server named next has one count for all who are given it`() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.challenge("Digest realm=r, nonce=n, qop=auth", to: exchange)
        _ = task.answer(.user())
        _ = task.send(exchange)
        _ = task.receive(200, [("Authentication-Info", "nextnonce=fresh")], to: exchange)
        let sent = task.send(exchange)
        #expect(sent.parameter("nonce") == "fresh" && sent.parameter("nc") == "00000001")

        let other = try Self.answer("realm=r, nonce=fresh, qop=auth", as: .user("bob"), in: proven)
        // That task has sent what is known before it was asked.
        #expect(other.parameter("username") == "bob" && other.parameter("nc") == "00000003")
    }

    @Test func `of more than 256 sessions of Digest the first is forgotten`() throws {
        func nonce(_ number: Int) throws -> String? {
            let sent = try Self.answer("realm=r, nonce=n\(number), qop=auth", as: .user(), in: proven)
            return sent.parameter("cnonce")
        }
        let first = try (0..<256).map(nonce)
        #expect(Set(first).count == 256)
        #expect(try nonce(0) == first[0])
        _ = try nonce(256)

        #expect(try nonce(1) == first[1])
        #expect(try nonce(0) != first[0])
    }

    @Test func `T-AUT-08 of more than 256 nonces of all parties the first is forgotten`() throws {
        var known = ProvenCredentials.ofTest(nil).known
        let (one, other) = (try Self.origin("a.test"), try Self.origin("b.test"))
        func uses(_ number: Int, of party: ChallengingParty) -> NonceUses {
            let nonce = Array("\(number)".utf8)
            let uses = known.uses(of: nonce, by: party) ?? NonceUses(nonce)
            known.count(uses, of: party)
            return uses
        }
        let first = (0..<256).map { uses($0, of: $0 % 2 == 0 ? one : other) }
        #expect(uses(0, of: one) === first[0] && uses(1, of: other) === first[1])
        #expect(uses(0, of: other) !== first[0])
        #expect(uses(1, of: other) === first[1])
        #expect(uses(0, of: one) !== first[0])
    }
}
