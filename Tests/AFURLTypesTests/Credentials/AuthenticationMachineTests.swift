import AFState
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite("The machine of authentication")
struct AuthenticationMachineTests {
    private static let digest = "Digest realm=r, nonce=n, qop=auth"
    private let storage = URLCredentialStorage()

    // MARK: - Asking and answering

    @Test("a request goes out bare, is asked, answered, and accepted")
    func plain() throws {
        var task = TaskTalk(.ofTest())
        let exchange = try AuthenticationExchange.get("https://a.test/x")
        #expect(task.send(exchange) == .init(.init()))
        let question = try #require(
            task.receive(401, [("WWW-Authenticate", "Basic realm=\"staff\"")], to: exchange).question
        )
        #expect(question.space.host == "a.test" && question.space.port == 443 && question.space.protocol == "https")
        #expect(question.space.realm == "staff" && question.previousFailureCount == 0)
        #expect(question.space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
        #expect(question.proposedCredential == nil)
        #expect(task.answer(.user()).name == "again")
        #expect(task.send(exchange).authorization == TaskTalk.basic("alice", "canary-word"))
        #expect(task.receive(200, to: exchange).name == "deliver")
    }

    @Test("without a credential the response is delivered, T-AUT-13")
    func nothingKnown() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/x")
        let answers: [CredentialAnswer] = [
            .performDefault, .use(nil), .reject, .use(URLCredential(bearerToken: "token")),
        ]
        for answer in answers {
            var task = TaskTalk(.ofTest())
            #expect(task.challenge(Self.digest, to: exchange).name == "ask HTTPDigest")
            #expect(task.answer(answer).name == "deliver")
        }
    }

    @Test("a challenge that cannot be answered reaches no delegate, T-AUT-13, T-AUT-06")
    func unanswerable() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/x")
        for challenge in [
            "", "New realm=a", "Digest realm=a", "Basic realm=\"a", "Basic realm=a, realm=b", "Basic YWJj",
            "Basic realm=a b=c", "Basic realm=\"a\" b", "Basic realm=", "Basic realm=a \"b\"",
            "Digest realm=a b, nonce=n",
        ] {
            var task = TaskTalk(.ofTest())
            #expect(task.challenge(challenge, to: exchange).name == "deliver", "\(challenge)")
            #expect(task.machine.complaint != nil, "\(challenge)")
        }
        var task = TaskTalk(.ofTest())
        _ = task.send(exchange)
        #expect(task.receive(401, to: exchange).name == "deliver")
    }

    @Test(
        "a Basic challenge with a small fault is answered",
        arguments: [
            ("Basic", "a.test"), ("basic", "a.test"), ("Basic realm=\"x\"; charset=\"UTF-8\"", "x"),
            ("Basic realm=My Realm", "My Realm"), ("Basic realm=My Realm; charset=UTF-8", "My Realm"),
            ("Basic realm = \"x\" ;charset", "x"), ("Basic charset=\"UTF-8\"", "a.test"), ("Basic realm=\"\"", ""),
        ]
    )
    func faulty(challenge: String, realm: String) throws {
        let exchange = try AuthenticationExchange.get("https://a.test/x")
        var task = TaskTalk(.ofTest())
        let question = try #require(task.challenge(challenge, to: exchange).question)
        #expect(question.space.realm == realm && question.space.host == "a.test")
        #expect(task.answer(.user()).name == "again" && task.machine.complaint == nil)
        #expect(task.send(exchange).authorization == TaskTalk.basic("alice", "canary-word"))
        // It was refused: the same credential does not go again.
        #expect(task.challenge(challenge, to: exchange).question?.previousFailureCount == 1)
    }

    @Test("behind a Basic challenge with a fault, a stronger one counts")
    func faultyBeforeDigest() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/x")
        var task = TaskTalk(.ofTest())
        #expect(task.challenge("Basic realm=My Realm, \(Self.digest)", to: exchange).name == "ask HTTPDigest")
    }

    @Test("the target of Digest is what its reader sees: a path for the origin, also through a proxy")
    func targets() throws {
        let proxy = try ChallengingParty.proxy("p.test")
        var exchange = try AuthenticationExchange.get("http://a.test/x?y=1", proxy: proxy)
        exchange.target = Array("http://a.test/x?y=1".utf8)
        var task = TaskTalk(.ofTest())
        _ = task.send(exchange)
        _ = task.challenge(Self.digest, to: exchange)
        _ = task.answer(.user())
        let sent = try #require(task.send(exchange).authorization.flatMap { Challenge.list($0).first })
        #expect(sent.parameter("uri") == "/x?y=1")
        _ = task.receive(407, [("Proxy-Authenticate", Self.digest)], to: exchange)
        _ = task.answer(.user())
        let asked = try #require(task.send(exchange).proxyAuthorization.flatMap { Challenge.list($0).first })
        #expect(asked.parameter("uri") == "http://a.test/x?y=1")
    }

    @Test("a delegate can cancel, and an answer without a question changes nothing, T-AUT-15")
    func cancelling() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/x")
        var task = TaskTalk(.ofTest())
        #expect(task.answer(.user()).name == "deliver")
        _ = task.challenge(Self.digest, to: exchange)
        #expect(task.answer(.cancel).name == "cancel")
        #expect(task.answer(.user()).name == "deliver")
        #expect(task.send(exchange) == .init(.init()))
    }

    @Test("a user name with a colon, and control characters, fail the task with their reason")
    func unsendable() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/x")
        for credential in [URLCredential.user("a:b", "canary"), .user("a", "canary\r\n"), .user("a\u{0}", "canary")] {
            var task = TaskTalk(.ofTest())
            _ = task.challenge("Basic realm=r", to: exchange)
            guard case .fail(let rejection) = task.answer(credential) else {
                Issue.record("sent")
                continue
            }
            #expect(rejection.component == .credentials && !rejection.description.contains("canary"))
        }
        // For Digest a colon is a letter like any other.
        var task = TaskTalk(.ofTest())
        _ = task.challenge(Self.digest, to: exchange)
        #expect(task.answer(.user("a:b", "c")).name == "again")
    }

    @Test("only 401 of an origin and 407 of a proxy ask for anything, T-AUT-16")
    func otherStatuses() throws {
        let exchange = try AuthenticationExchange.get("http://a.test/", proxy: try .proxy("p.test"))
        let fields = [("WWW-Authenticate", "Basic realm=r"), ("Proxy-Authenticate", "Basic realm=r")]
        for status in [200, 204, 301, 302, 304, 400, 402, 403, 404, 406, 408, 500, 503] {
            var task = TaskTalk(.ofTest())
            _ = task.send(exchange)
            #expect(task.receive(status, fields, to: exchange).name == "deliver")
            #expect(task.answer(.user()).name == "deliver")
        }
    }

    // MARK: - Who asks

    @Test("a 407 without a proxy, and a 401 of a proxy, are final and answered with nothing, T-AUT-17")
    func wrongParty() throws {
        let proxy = try ChallengingParty.proxy("p.test")
        storage.setDefaultCredential(
            .user(),
            for: proxy.space(realm: Array("r".utf8), method: NSURLAuthenticationMethodHTTPBasic)
        )
        let fields = [("WWW-Authenticate", "Basic realm=r"), ("Proxy-Authenticate", "Basic realm=r")]

        // Direct, or inside a tunnel.
        let direct = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(.ofTest(storage))
        _ = task.send(direct)
        #expect(task.receive(407, fields, to: direct).name == "deliver")
        #expect(task.send(direct) == .init(.init()))

        // The answer to CONNECT is the proxy's.
        let connect = AuthenticationExchange(connecting: Array("a.test:443".utf8), through: proxy, trust: .clear)
        task = TaskTalk(.ofTest(storage))
        _ = task.send(connect)
        #expect(task.receive(401, fields, to: connect).name == "deliver")
        let question = try #require(task.receive(407, fields, to: connect).question)
        #expect(question.space.isProxy() && question.space.host == "p.test" && question.space.port == 3128)
        #expect(task.answer(.performDefault).name == "again")
        let sent = task.send(connect)
        #expect(sent.authorization == nil && sent.proxyAuthorization == TaskTalk.basic("alice", "canary-word"))
        #expect(task.receive(200, to: connect).name == "deliver")
        // Inside the tunnel nothing of it is sent.
        #expect(task.send(direct) == .init(.init()))
    }

    @Test("origin and proxy are answered each for itself, T-AUT-02")
    func originAndProxy() throws {
        let proxy = try ChallengingParty.proxy("p.test")
        let exchange = try AuthenticationExchange.get("http://127.0.0.1/", proxy: proxy)
        var task = TaskTalk(.ofTest())
        _ = task.send(exchange)
        _ = task.receive(407, [("Proxy-Authenticate", "Basic realm=r")], to: exchange)
        _ = task.answer(.user("proxy-user"))
        var sent = task.send(exchange)
        #expect(sent.authorization == nil && sent.proxyAuthorization == TaskTalk.basic("proxy-user", "canary-word"))
        let question = task.receive(401, [("WWW-Authenticate", "Basic realm=r")], to: exchange).question
        #expect(question?.previousFailureCount == 0 && question?.proposedCredential == nil)
        _ = task.answer(.user("origin-user"))
        sent = task.send(exchange)
        #expect(sent.authorization == TaskTalk.basic("origin-user", "canary-word"))
        #expect(sent.proxyAuthorization == TaskTalk.basic("proxy-user", "canary-word"))
        #expect(task.receive(200, to: exchange).name == "deliver")
        // Another proxy gets neither.
        let other = try AuthenticationExchange.get("http://127.0.0.1/", proxy: try .proxy("q.test"))
        var next = TaskTalk(task.proven)
        #expect(next.send(other).proxyAuthorization == nil)
    }

    @Test("the password of a proxy goes to that proxy, and only when it asks, T-AUT-02, T-AUT-17")
    func configuredProxy() throws {
        let proxy = try ChallengingParty.proxy("p.test")
        var exchange = AuthenticationExchange(connecting: Array("a.test:443".utf8), through: proxy, trust: .clear)
        exchange.proxyCredential = .user("proxy-user")
        let proven = ProvenCredentials.ofTest(nil)
        var task = TaskTalk(proven)
        #expect(task.send(exchange) == .init(.init()))
        let question = task.receive(407, [("Proxy-Authenticate", Self.digest)], to: exchange).question
        #expect(question?.proposedCredential?.user == "proxy-user")
        #expect(task.answer(.performDefault).name == "again")
        let sent = task.send(exchange)
        let answer = try #require(sent.proxyAuthorization.flatMap { Challenge.list($0).first })
        #expect(answer.parameter("uri") == "a.test:443" && answer.parameter("username") == "proxy-user")
        #expect(sent.authorization == nil)
        _ = task.receive(200, to: exchange)
        // The origin behind it is offered nothing of it.
        let inside = try AuthenticationExchange.get("https://a.test/")
        #expect(task.challenge(Self.digest, to: inside).question?.proposedCredential == nil)
        // The next tunnel needs no second question, one through another proxy does.
        var later = TaskTalk(proven)
        #expect(later.send(exchange).proxyAuthorization != nil)
        #expect(
            later.send(.init(connecting: exchange.target, through: try .proxy("q.test"), trust: .clear))
                == .init(.init())
        )
    }

    @Test("a credential proven under one judgement goes unasked to no server of another, T-AUT-02")
    func otherJudgements() throws {
        let scopes: [TrustScope] = [
            .rules([1], isProven: false), .rules([2], isProven: false), .word(inSession: 1, reasons: [1]), .clear,
        ]
        for scope in scopes {
            let proven = ProvenCredentials.ofTest(nil)
            var task = TaskTalk(proven)
            _ = task.pass("Basic realm=r", .user("a"), to: try .get("https://a.test/", trust: scope))
            for other in scopes {
                var later = TaskTalk(proven)
                let sent = later.send(try .get("https://a.test/", trust: other)).authorization
                #expect((sent != nil) == (other == scope))
            }
        }
    }

    @Test("a secret for one origin goes to no other, T-AUT-01, T-AUT-02, T-AUT-22")
    func otherOrigins() throws {
        let proven = ProvenCredentials.ofTest()
        for challenge in ["Basic realm=r", Self.digest, "Bearer realm=r"] {
            var task = TaskTalk(proven)
            let exchange = try AuthenticationExchange.get("https://a.test/")
            let credential = challenge == "Bearer realm=r" ? URLCredential(bearerToken: "canary") : .user()
            #expect(task.pass(challenge, credential, to: exchange).authorization != nil)
            var later = TaskTalk(proven)
            #expect(later.send(exchange).authorization != nil)
            #expect(later.receive(200, to: exchange).name == "deliver")
            for other in [
                "https://b.test/", "https://a.test:8443/", "http://a.test/", "http://a.test:443/",
                "https://sub.a.test/",
                "https://xa.test/", "https://a.test.b.test/",
            ] {
                // The same task after a redirect, and a task of its own.
                let elsewhere = try AuthenticationExchange.get(other)
                #expect(task.send(elsewhere) == .init(.init()), "\(other)")
                var fresh = TaskTalk(proven)
                #expect(fresh.send(elsewhere) == .init(.init()), "\(other)")
                // Nor is it proposed there, though the realm has the same name.
                let question = fresh.receive(401, [("WWW-Authenticate", challenge)], to: elsewhere).question
                #expect(question?.proposedCredential == nil && question?.previousFailureCount == 0)
            }
            proven.forgetAll()
        }
    }

    @Test("an answer that is ready goes nowhere but where it was asked for, T-AUT-01")
    func readyAnswer() throws {
        var task = TaskTalk(.ofTest())
        _ = task.challenge("Basic realm=r", to: try .get("https://a.test/"))
        #expect(task.answer(.user()).name == "again")
        #expect(task.send(try .get("https://b.test/")) == .init(.init()))
        #expect(task.send(try .get("https://a.test/")).authorization != nil)
    }

    // MARK: - Strength

    @Test(
        "the strongest way comes first, T-AUT-04",
        arguments: [
            (["Basic realm=r", "Digest realm=r, nonce=n, qop=auth"], "MD5"),
            (["Digest realm=r, nonce=n", "Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256"], "SHA-256"),
            (
                [
                    "Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256", "Basic realm=r",
                    "Digest realm=r, nonce=n, qop=auth, algorithm=SHA-512-256-sess", "Digest realm=r, nonce=n",
                ], "SHA-512-256-sess"
            ),
            (["Digest realm=r, nonce=n, algorithm=NEW", "Basic realm=r"], nil),
            (["Negotiate", "NTLM", "Basic realm=r"], nil),
        ]
    )
    func strongest(challenges: [String], algorithm: String?) throws {
        var task = TaskTalk(.ofTest())
        let exchange = try AuthenticationExchange.get("https://a.test/")
        _ = task.send(exchange)
        let step = task.receive(401, challenges.map { ("WWW-Authenticate", $0) }, to: exchange)
        #expect(step.name == (algorithm == nil ? "ask HTTPBasic" : "ask HTTPDigest"))
        _ = task.answer(.user())
        let sent = task.send(exchange)
        #expect(sent.parameter("algorithm") == (algorithm == "MD5" ? nil : algorithm))
    }

    @Test("a server that refused the stronger method does not get the weaker one, T-AUT-04")
    func downgrade() throws {
        let rounds: [(String, String)] = [
            (Self.digest, "Basic realm=r"), (Self.digest, "Basic realm=other"),
            ("Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256", "Digest realm=r, nonce=m, qop=auth, stale=true"),
            ("Digest realm=r, nonce=n, qop=auth, algorithm=SHA-512-256", "Digest realm=r, nonce=m, algorithm=SHA-256"),
            (Self.digest, "Bearer realm=r"),
        ]
        for (first, second) in rounds {
            var task = TaskTalk(.ofTest())
            let exchange = try AuthenticationExchange.get("https://a.test/")
            _ = task.challenge(first, to: exchange)
            _ = task.answer(.user())
            _ = task.send(exchange)
            #expect(task.receive(401, [("WWW-Authenticate", second)], to: exchange).name == "deliver")
            #expect(task.send(exchange) == .init(.init()))
        }
    }

    @Test("a way the delegate declines is followed by the next one, and not asked about again")
    func declining() throws {
        var task = TaskTalk(.ofTest())
        let exchange = try AuthenticationExchange.get("https://a.test/")
        let both = "\(Self.digest), Basic realm=r"
        #expect(task.challenge(both, to: exchange).name == "ask HTTPDigest")
        #expect(task.answer(.reject).name == "ask HTTPBasic")
        #expect(task.answer(.user("alice", "wrong")).name == "again")
        _ = task.send(exchange)
        let again = task.receive(401, [("WWW-Authenticate", both)], to: exchange)
        #expect(again.name == "ask HTTPBasic" && again.question?.previousFailureCount == 1)
        #expect(task.answer(.reject).name == "deliver")
    }

    @Test("a password goes in the clear only where the caller said so, T-AUT-04")
    func inTheClear() throws {
        let basic = "Basic realm=r"
        let url = "http://alice:canary-word@a.test/"
        func handled(
            _ url: String,
            _ storage: URLCredentialStorage?,
            _ change: (inout CredentialSettings) -> Void = { _ in }
        )
            throws -> String
        {
            var task = TaskTalk(.ofTest(storage, change))
            let exchange = try AuthenticationExchange.get(url)
            _ = task.challenge(basic, to: exchange)
            return task.answer(.performDefault).name
        }
        #expect(try handled(url, nil) == "deliver")
        #expect(try handled("https://alice:canary-word@a.test/", nil) == "again")
        #expect(try handled("http://alice:canary-word@127.0.0.1/", nil) == "again")
        #expect(try handled("http://alice:canary-word@[::1]/", nil) == "again")
        #expect(try handled("http://alice:canary-word@localhost/", nil) == "again")
        #expect(try handled("http://alice:canary-word@notlocalhost/", nil) == "deliver")
        #expect(try handled("http://alice:canary-word@localhost.test/", nil) == "deliver")
        #expect(try handled(url, nil) { $0.sendsPasswordsInClear = true } == "again")

        let party = ChallengingParty.origin(try Endpoint(scheme: .http, host: "a.test"))
        let realm = Array("r".utf8)
        storage.setDefaultCredential(.user(), for: party.space(realm: realm, method: NSURLAuthenticationMethodDefault))
        #expect(try handled("http://a.test/", storage) == "deliver")
        storage.setDefaultCredential(
            .user(),
            for: party.space(realm: realm, method: NSURLAuthenticationMethodHTTPBasic)
        )
        #expect(try handled("http://a.test/", storage) == "again")

        // The delegate saw that the space does not receive it securely.
        var task = TaskTalk(.ofTest(nil))
        let question = task.challenge(basic, to: try .get(url)).question
        #expect(question?.space.receivesCredentialSecurely == false && question?.proposedCredential?.user == "alice")
        #expect(task.answer(question?.proposedCredential).name == "again")
    }

    @Test("schemes that belong to a connection are passed over, T-AUT-21")
    func connectionSchemes() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        for challenge in ["Negotiate", "NTLM", "Negotiate YII=, NTLM TlRM", "Kerberos", "Negotiate realm=r"] {
            var task = TaskTalk(.ofTest())
            #expect(task.challenge(challenge, to: exchange).name == "deliver")
            #expect(task.answer(.user()).name == "deliver")
            #expect(task.send(exchange) == .init(.init()))
        }
    }

    // MARK: - Failures and rounds

    @Test("each refused credential counts, and after three rounds the response is delivered, T-AUT-09")
    func rounds() throws {
        var task = TaskTalk(.ofTest())
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var step = task.challenge("Basic realm=r", to: exchange)
        for failures in 0..<3 {
            #expect(step.question?.previousFailureCount == failures)
            #expect(task.answer(.user("alice", "wrong \(failures)")).name == "again")
            _ = task.send(exchange)
            step = task.receive(401, [("WWW-Authenticate", "Basic realm=r")], to: exchange)
        }
        #expect(step.name == "deliver")
    }

    @Test(
        "the number of rounds is a setting with a ceiling",
        arguments: [(-1, 0), (0, 0), (1, 1), (20, 20), (1000, 20)]
    )
    func roundSetting(setting: Int, expected: Int) throws {
        var task = TaskTalk(.ofTest { $0.maximumRounds = setting })
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var step = task.challenge("Basic realm=r", to: exchange)
        var rounds = 0
        while case .ask = step, case .again = task.answer(.user("alice", "wrong \(rounds)")) {
            rounds += 1
            _ = task.send(exchange)
            step = task.receive(401, [("WWW-Authenticate", "Basic realm=r")], to: exchange)
        }
        #expect(rounds == expected)
    }

    @Test("a stale nonce repeats the credential without a failure, but not for ever, T-AUT-09")
    func stale() throws {
        var task = TaskTalk(.ofTest())
        let exchange = try AuthenticationExchange.get("https://a.test/")
        _ = task.challenge(Self.digest, to: exchange)
        var step = task.answer(.user())
        var nonces: [String?] = []
        while case .again = step {
            nonces.append(task.send(exchange).parameter("nonce"))
            let challenge = "Digest realm=r, nonce=n\(nonces.count), qop=auth, stale=true"
            step = task.receive(401, [("WWW-Authenticate", challenge)], to: exchange)
        }
        #expect(nonces == ["n", "n1", "n2"])
        #expect(step.name == "deliver")
    }

    @Test("a stale nonce does not count as a failure of what comes after it")
    func staleThenWrong() throws {
        var task = TaskTalk(.ofTest())
        let exchange = try AuthenticationExchange.get("https://a.test/")
        _ = task.challenge(Self.digest, to: exchange)
        _ = task.answer(.user())
        _ = task.send(exchange)
        let stale = task.receive(
            401,
            [("WWW-Authenticate", "Digest realm=r, nonce=m, qop=auth, stale=TRUE")],
            to: exchange
        )
        #expect(stale.name == "again")
        _ = task.send(exchange)
        let wrong = task.receive(401, [("WWW-Authenticate", "Digest realm=r, nonce=o, qop=auth")], to: exchange)
        #expect(wrong.question?.previousFailureCount == 1)
    }

    @Test("a refused credential is not proposed again, and default handling takes the next one")
    func nextSource() throws {
        let party = ChallengingParty.origin(try Endpoint(scheme: .https, host: "a.test"))
        let space = party.space(realm: Array("r".utf8), method: NSURLAuthenticationMethodHTTPDigest)
        storage.setDefaultCredential(.user("alice", "stored"), for: space)
        let netrc = try NetrcFile(text: "machine a.test login alice password from-file")
        var task = TaskTalk(.ofTest(storage) { $0.netrc = netrc })
        let exchange = try AuthenticationExchange.get("https://alice:from-url@a.test/")
        var passwords: [String?] = []
        var step = task.challenge(Self.digest, to: exchange)
        while let question = step.question {
            passwords.append(question.proposedCredential?.password)
            guard case .again = task.answer(.performDefault) else { break }
            _ = task.send(exchange)
            step = task.receive(401, [("WWW-Authenticate", Self.digest)], to: exchange)
        }
        #expect(passwords == ["from-url", "stored", "from-file"])
    }

    @Test("a user in the URL chooses among what is stored")
    func userOfURL() throws {
        let party = ChallengingParty.origin(try Endpoint(scheme: .https, host: "a.test"))
        let space = party.space(realm: Array("r".utf8), method: NSURLAuthenticationMethodHTTPDigest)
        storage.setDefaultCredential(.user("alice", "1"), for: space)
        storage.set(.user("bob@x", "2"), for: space)
        var task = TaskTalk(.ofTest(storage))
        #expect(
            task.challenge(Self.digest, to: try .get("https://bob%2540x@a.test/")).question?.proposedCredential == nil
        )
        task = TaskTalk(.ofTest(storage))
        #expect(
            task.challenge(Self.digest, to: try .get("https://a.test/")).question?.proposedCredential?.user == "alice"
        )
        storage.set(.user("bob", "3"), for: space)
        task = TaskTalk(.ofTest(storage))
        #expect(
            task.challenge(Self.digest, to: try .get("https://bob@a.test/")).question?.proposedCredential?.password
                == "3"
        )
    }

    @Test("credentials of the URL stay with their task and are not sent unasked, T-AUT-01")
    func urlCredentials() throws {
        let proven = ProvenCredentials.ofTest()
        var task = TaskTalk(proven)
        let exchange = try AuthenticationExchange.get("https://alice:a%3Ab%C3%A9@a.test/x")
        #expect(task.send(exchange) == .init(.init()))
        _ = task.receive(401, [("WWW-Authenticate", "Basic realm=r")], to: exchange)
        #expect(task.answer(.performDefault).name == "again")
        #expect(task.send(exchange).authorization == TaskTalk.basic("alice", "a:bé"))
        _ = task.receive(302, to: exchange)
        // The redirect has no credentials of its own: the server asks once more, and is answered.
        let next = try AuthenticationExchange.get("https://a.test/y")
        #expect(task.send(next) == .init(.init()))
        #expect(
            task.receive(401, [("WWW-Authenticate", "Basic realm=r")], to: next).question?.proposedCredential?.user
                == "alice"
        )
        #expect(task.answer(.performDefault).name == "again")
        // Another task is not proposed it.
        var other = TaskTalk(proven)
        #expect(other.challenge("Basic realm=r", to: next).question?.proposedCredential == nil)
        #expect(proven.settings.storage?.allCredentials.isEmpty == true)
    }

    // MARK: - Sent unasked

    @Test("a credential that worked is sent unasked, below the folder it worked in, T-AUT-22")
    func basicFolder() throws {
        let proven = ProvenCredentials.ofTest()
        var task = TaskTalk(proven)
        _ = task.pass("Basic realm=r", .user(), to: try .get("https://a.test/docs/index.html?q=/x/"))
        let expected = [
            "/docs/": true, "/docs/other": true, "/docs/deep/er": true, "/docs": false, "/doc": false, "/docsx/": false,
            "/": false, "/docs/../secret": false, "/docs/%2e%2E/secret": false, "/docs/a..b": true, "/Docs/": false,
            "/docs/?x=/../": true, "/docs%2f": false,
        ]
        for (path, isSent) in expected {
            var later = TaskTalk(proven)
            let sent = later.send(try .get("https://a.test\(path)"))
            #expect((sent.authorization != nil) == isSent, "\(path)")
        }
    }

    @Test("Digest goes where the server's domain says, and never elsewhere, T-AUT-22")
    func digestDomain() throws {
        let proven = ProvenCredentials.ofTest()
        var task = TaskTalk(proven)
        let domain = "/a /b/ https://a.test/c https://evil.test/d //evil.test/e"
        _ = task.pass("\(Self.digest), domain=\"\(domain)\"", .user(), to: try .get("https://a.test/x"))
        let expected = [
            "https://a.test/a": true, "https://a.test/a/b": true, "https://a.test/ab": false, "https://a.test/b": false,
            "https://a.test/b/x": true, "https://a.test/c?y": true, "https://a.test/x": false,
            "https://a.test/d": false, "https://evil.test/d": false, "https://evil.test/e": false,
            "https://a.test/a/../x": false,
        ]
        for (url, isSent) in expected {
            var later = TaskTalk(proven)
            #expect((later.send(try .get(url)).authorization != nil) == isSent, "\(url)")
        }
        // Without a list it is the whole origin.
        proven.forgetAll()
        _ = task.pass(Self.digest, .user(), to: try .get("https://a.test/x/y"))
        var later = TaskTalk(proven)
        #expect(later.send(try .get("https://a.test/")).authorization != nil)
    }

    @Test("two realms of one origin keep their own credentials, T-AUT-22")
    func twoRealms() throws {
        let proven = ProvenCredentials.ofTest()
        var task = TaskTalk(proven)
        _ = task.pass("Basic realm=one", .user("one"), to: try .get("https://a.test/one/x"))
        _ = task.pass("Basic realm=two", .user("two"), to: try .get("https://a.test/one/two/x"))
        var later = TaskTalk(proven)
        #expect(later.send(try .get("https://a.test/one/y")).authorization == TaskTalk.basic("one", "canary-word"))
        #expect(later.send(try .get("https://a.test/one/two/y")).authorization == TaskTalk.basic("two", "canary-word"))
        // A realm that gets another's credential has refused nothing.
        let exchange = try AuthenticationExchange.get("https://a.test/one/three/")
        _ = later.send(exchange)
        let question = later.receive(401, [("WWW-Authenticate", "Basic realm=three")], to: exchange).question
        #expect(question?.previousFailureCount == 0)
        #expect(later.send(try .get("https://a.test/one/y")).authorization == TaskTalk.basic("one", "canary-word"))
    }

    @Test("a refused credential is forgotten, T-AUT-03")
    func forgotten() throws {
        let proven = ProvenCredentials.ofTest()
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.pass("Basic realm=r", .user(), to: exchange)
        var later = TaskTalk(proven)
        #expect(later.send(exchange).authorization != nil)
        let question = later.receive(401, [("WWW-Authenticate", "Basic realm=r")], to: exchange).question
        #expect(question?.previousFailureCount == 1 && question?.proposedCredential == nil)
        var last = TaskTalk(proven)
        #expect(last.send(exchange).authorization == nil)
    }

    @Test func `T-AUT-03 a credential that is removed while it is under way is not sent again`() throws {
        let proven = ProvenCredentials.ofTest(storage)
        let exchange = try AuthenticationExchange.get("https://a.test/")
        let space = ChallengingParty.origin(try Endpoint(scheme: .https, host: "a.test"))
            .space(realm: Array("r".utf8), method: NSURLAuthenticationMethodHTTPDigest)
        for change in [{ storage.remove(.user(), for: space) }, { storage.set(.user("alice", "new"), for: space) }] {
            storage.setDefaultCredential(.user(), for: space)
            var task = TaskTalk(proven)
            #expect(task.challenge(Self.digest, to: exchange).name == "ask HTTPDigest")
            #expect(task.answer(.performDefault).name == "again")
            #expect(task.send(exchange).authorization != nil)
            change()
            #expect(task.receive(200, to: exchange).name == "deliver")

            var later = TaskTalk(proven)
            #expect(later.send(exchange).authorization == nil)
        }
    }

    @Test func `a URL that names a user gets the credential of no other unasked`() throws {
        let proven = ProvenCredentials.ofTest()
        var task = TaskTalk(proven)
        _ = task.pass("Basic realm=r", .user(), to: try .get("https://a.test/"))

        for (url, isSent) in [
            ("https://a.test/", true), ("https://alice@a.test/", true), ("https://bob@a.test/", false),
            ("https://bob:pw@a.test/", false), ("https://:pw@a.test/", true),
        ] {
            var later = TaskTalk(proven)
            #expect((later.send(try .get(url)).authorization != nil) == isSent, "\(url)")
        }
    }

    @Test("removing or replacing a credential takes effect with the next request, T-AUT-03")
    func removed() throws {
        let proven = ProvenCredentials.ofTest(storage)
        let exchange = try AuthenticationExchange.get("https://a.test/")
        let space = ChallengingParty.origin(try Endpoint(scheme: .https, host: "a.test"))
            .space(realm: Array("r".utf8), method: NSURLAuthenticationMethodHTTPDigest)
        let changes: [(URLCredentialStorage) -> Void] = [
            { $0.remove(.user(), for: space) }, { $0.set(.user("alice", "changed"), for: space) },
            { $0.setDefaultCredential(.user("bob", "other"), for: space) },
        ]
        for change in changes {
            var task = TaskTalk(proven)
            _ = task.pass(Self.digest, .user(), to: exchange)
            #expect(storage.defaultCredential(for: space) == .user())
            var later = TaskTalk(proven)
            #expect(later.send(exchange).authorization != nil)
            change(storage)
            #expect(later.send(exchange).authorization == nil)
            var last = TaskTalk(proven)
            #expect(last.send(exchange).authorization == nil)
            for credential in storage.credentials(for: space)?.values ?? [:].values {
                storage.remove(credential, for: space)
            }
        }
        // What has nothing to do with it changes nothing.
        var task = TaskTalk(proven)
        _ = task.pass(Self.digest, .user(), to: exchange)
        storage.set(
            .user("carol"),
            for: URLProtectionSpace(host: "b.test", port: 80, protocol: "http", realm: "r", authenticationMethod: nil)
        )
        #expect(task.send(exchange).authorization != nil)
    }

    @Test("a credential for one challenge is kept nowhere")
    func noPersistence() throws {
        let proven = ProvenCredentials.ofTest(storage)
        var task = TaskTalk(proven)
        let exchange = try AuthenticationExchange.get("https://a.test/")
        _ = task.pass("Basic realm=r", .user("alice", "canary", .none), to: exchange)
        var later = TaskTalk(proven)
        #expect(later.send(exchange).authorization == nil)
        #expect(storage.allCredentials.isEmpty)
    }

    @Test("the caller's own field goes before what is known, and gives way to an answer")
    func ownField() throws {
        let proven = ProvenCredentials.ofTest()
        var task = TaskTalk(proven)
        var exchange = try AuthenticationExchange.get("https://a.test/")
        _ = task.pass("Basic realm=r", .user(), to: exchange)
        exchange.hasOwnAuthorization = true
        var later = TaskTalk(proven)
        #expect(later.send(exchange).authorization == nil)
        let question = later.receive(401, [("WWW-Authenticate", "Basic realm=r")], to: exchange).question
        #expect(question?.previousFailureCount == 0 && question?.proposedCredential == .user())
        _ = later.answer(.performDefault)
        #expect(later.send(exchange).authorization != nil)
    }

    @Test("an error says nothing about a credential, success and not found do")
    func proofs() throws {
        for (status, isProof) in [
            (200, true), (302, true), (399, true), (404, true), (400, false), (403, false), (405, false), (500, false),
            (503, false),
        ] {
            let proven = ProvenCredentials.ofTest()
            var task = TaskTalk(proven)
            let exchange = try AuthenticationExchange.get("https://a.test/")
            _ = task.challenge("Basic realm=r", to: exchange)
            _ = task.answer(.user())
            _ = task.send(exchange)
            _ = task.receive(status, to: exchange)
            var later = TaskTalk(proven)
            #expect((later.send(exchange).authorization != nil) == isProof, "\(status)")
        }
    }

    // MARK: - Nonces

    @Test("a hundred tasks with one nonce use a hundred counts, T-AUT-08")
    func sharedNonce() throws {
        let proven = ProvenCredentials.ofTest()
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var tasks = (0..<100).map { _ in TaskTalk(proven) }
        var counts: [String?] = []
        // All of them are asked before the first is answered.
        for index in tasks.indices { _ = tasks[index].challenge(Self.digest, to: exchange) }
        for index in tasks.indices { _ = tasks[index].answer(.user()) }
        for index in tasks.indices { counts.append(tasks[index].send(exchange).parameter("nc")) }
        for index in tasks.indices { _ = tasks[index].receive(200, to: exchange) }
        for _ in 0..<100 {
            var later = TaskTalk(proven)
            counts.append(later.send(exchange).parameter("nc"))
        }
        #expect(Set(counts).count == 200 && counts.allSatisfy { $0?.utf8.count == 8 })
    }

    @Test("the server's next nonce is used by the next task, from one on, T-AUT-08, T-AUT-19")
    func nextNonce() throws {
        let proven = ProvenCredentials.ofTest()
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.challenge(Self.digest, to: exchange)
        _ = task.answer(.user())
        _ = task.send(exchange)
        _ = task.receive(200, [("Authentication-Info", "nextnonce=\"fresh\"")], to: exchange)
        var later = TaskTalk(proven)
        let sent = later.send(exchange)
        #expect(sent.parameter("nonce") == "fresh" && sent.parameter("nc") == "00000001")
    }

    @Test("a server that cannot prove itself is reported, and its credential not kept, T-AUT-19")
    func wrongProof() throws {
        let proven = ProvenCredentials.ofTest()
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.challenge(Self.digest, to: exchange)
        _ = task.answer(.user())
        _ = task.send(exchange)
        #expect(task.receive(200, [("Authentication-Info", "rspauth=\"0\"")], to: exchange).name == "deliver")
        #expect(task.machine.proof == .wrong)
        var later = TaskTalk(proven)
        #expect(later.send(exchange).authorization == nil)
    }

    @Test("the proof of one server does not count for the next one, T-AUT-19")
    func proofOfOneResponse() throws {
        let exchange = try AuthenticationExchange.get("https://a.test/")
        let other = try AuthenticationExchange.get("https://b.test/")
        var task = TaskTalk(ProvenCredentials.ofTest())
        _ = task.challenge(Self.digest, to: exchange)
        _ = task.answer(.user())
        _ = task.send(exchange)
        _ = task.receive(302, [("Authentication-Info", "rspauth=\"0\"")], to: exchange)
        #expect(task.machine.proof == .wrong)
        _ = task.send(other)
        _ = task.receive(200, to: other)
        #expect(task.machine.proof == .absent)
    }

    @Test("an old nonce that the server has forgotten costs one round and no failure, T-AUT-09")
    func forgottenNonce() throws {
        let proven = ProvenCredentials.ofTest()
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.pass(Self.digest, .user(), to: exchange)
        var later = TaskTalk(proven)
        _ = later.send(exchange)
        #expect(
            later.receive(401, [("WWW-Authenticate", "Digest realm=r, nonce=new, qop=auth")], to: exchange).name
                == "again"
        )
        #expect(later.send(exchange).parameter("nonce") == "new")
        let refused = later.receive(401, [("WWW-Authenticate", "Digest realm=r, nonce=newer, qop=auth")], to: exchange)
        #expect(refused.question?.previousFailureCount == 1)
    }

    @Test("auth-int asks for the digest of the body, and is left out where there is none to be had")
    func bodyDigest() throws {
        let only = "Digest realm=r, nonce=n, qop=auth-int, algorithm=SHA-256"
        var exchange = try AuthenticationExchange.get("https://a.test/", method: "POST")
        var task = TaskTalk(.ofTest())
        _ = task.challenge(only, to: exchange)
        _ = task.answer(.user())
        #expect(task.prepare(exchange) == .sha256)
        let one = task.send(exchange, bodyDigest: [UInt8](repeating: 1, count: 32))
        let other = task.send(exchange, bodyDigest: [UInt8](repeating: 2, count: 32))
        #expect(one.parameter("qop") == "auth-int" && one.parameter("response") != other.parameter("response"))

        exchange.mayHashBody = false
        #expect(task.send(exchange) == .init(.init()))
        task = TaskTalk(.ofTest())
        #expect(task.challenge(only, to: exchange).name == "deliver")
        #expect(task.challenge("\(only), Basic realm=r", to: exchange).name == "ask HTTPBasic")
    }

    @Test("without random numbers nothing is answered, T-AUT-10")
    func noRandomness() throws {
        var task = TaskTalk(ProvenCredentials(settings: CredentialSettings(storage: nil)) { nil })
        _ = task.challenge(Self.digest, to: try .get("https://a.test/"))
        #expect(task.answer(.user()).name == "deliver")
    }

    // MARK: - Tokens

    @Test("a token answers Bearer, and goes unasked only where it is kept for the whole host, T-AUT-01")
    func tokens() throws {
        let proven = ProvenCredentials.ofTest(storage)
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        let question = task.challenge("Bearer realm=r, scope=\"read write\"", to: exchange).question
        #expect(question?.space.authenticationMethod == NSURLAuthenticationMethodHTTPBearer)
        #expect(question?.space.scope == "read write" && question?.space.realm == "r")
        #expect(task.answer(.user()).name == "deliver")

        let space = URLProtectionSpace(
            host: "A.test",
            port: 443,
            protocol: "https",
            realm: nil,
            authenticationMethod: NSURLAuthenticationMethodHTTPBearer
        )
        storage.setDefaultCredential(URLCredential(bearerToken: "canary.1"), for: space)
        var later = TaskTalk(proven)
        #expect(later.send(exchange).authorization == "Bearer canary.1")
        for other in ["http://a.test/", "https://a.test:444/", "https://b.test/"] {
            #expect(later.send(try .get(other)).authorization == nil)
        }
        // The server refuses it: the challenge counts one failure, and does not propose the token again.
        _ = later.send(exchange)
        let refused = later.receive(
            401,
            [("WWW-Authenticate", "Bearer realm=r, error=\"invalid_token\"")],
            to: exchange
        )
        #expect(refused.question?.previousFailureCount == 1 && refused.question?.proposedCredential == nil)
        storage.remove(URLCredential(bearerToken: "canary.1"), for: space)
        var last = TaskTalk(proven)
        #expect(last.send(exchange).authorization == nil)
    }

    @Test("a token that is kept for a host in the clear is not sent unasked, unless the session allows it, T-AUT-01")
    func tokenInClear() throws {
        for host in ["a.test", "127.0.0.1"] {
            let space = URLProtectionSpace(
                host: host,
                port: 80,
                protocol: "http",
                realm: nil,
                authenticationMethod: NSURLAuthenticationMethodHTTPBearer
            )
            storage.setDefaultCredential(URLCredential(bearerToken: "canary.1"), for: space)
        }
        var settings = CredentialSettings(storage: storage)
        func sent(_ url: String) throws -> String? {
            var task = TaskTalk(ProvenCredentials(settings: settings))
            return task.send(try .get(url)).authorization
        }

        #expect(try sent("http://a.test/") == nil)
        // On the way to this very machine it cannot be read.
        #expect(try sent("http://127.0.0.1/") == "Bearer canary.1")
        // The token of one place is no token of another, whatever the session allows.
        let secured = ChallengingParty.origin(try Endpoint(scheme: .https, host: "b.test", port: 80))
        let space = secured.space(realm: nil, method: NSURLAuthenticationMethodHTTPBearer)
        storage.setDefaultCredential(URLCredential(bearerToken: "canary.2"), for: space)
        #expect(try sent("https://b.test:80/") == "Bearer canary.2")
        for isAllowed in [false, true] {
            settings.sendsPasswordsInClear = isAllowed
            #expect(try sent("http://b.test/") == nil && sent("http://b.test:443/") == nil)
            #expect(try sent("http://a.test/") == (isAllowed ? "Bearer canary.1" : nil))
            #expect(try sent("http://a.test:80/x") == (isAllowed ? "Bearer canary.1" : nil))
        }
    }

    @Test("a token that is kept for a proxy is not told to it unasked, T-AUT-01")
    func tokenOfProxy() throws {
        let proxy = ChallengingParty.proxy(try Endpoint(scheme: .http, host: "proxy.test"), for: .http)
        let space = proxy.space(realm: nil, method: NSURLAuthenticationMethodHTTPBearer)
        storage.setDefaultCredential(URLCredential(bearerToken: "canary.1"), for: space)
        var settings = CredentialSettings(storage: storage)
        settings.sendsPasswordsInClear = true

        #expect(
            ProvenCredentials(settings: settings).known.attempt(for: proxy, under: .clear, path: Array("/".utf8)) == nil
        )
    }

    @Test("a URL may have a password and no user, T-AUT-01")
    func emptyUser() throws {
        var task = TaskTalk(.ofTest())
        let exchange = try AuthenticationExchange.get("https://:token@a.test/")
        #expect(task.send(exchange).authorization == nil)
        _ = task.challenge("Basic realm=r", to: exchange)
        #expect(task.answer(.performDefault).name == "again")
        #expect(task.send(exchange).authorization == TaskTalk.basic("", "token"))

        for url in ["https://@a.test/", "https://:@a.test/"] {
            var task = TaskTalk(.ofTest())
            #expect(task.challenge("Basic realm=r", to: try .get(url)).question?.proposedCredential == nil)
            #expect(task.answer(.performDefault).name == "deliver")
        }
        // It does not say whose credentials of the storage are meant.
        let space = ChallengingParty.origin(try Endpoint(scheme: .https, host: "a.test"))
            .space(realm: Array("r".utf8), method: NSURLAuthenticationMethodHTTPBasic)
        storage.setDefaultCredential(.user(), for: space)
        var other = TaskTalk(.ofTest(storage))
        _ = other.challenge("Basic realm=r", to: try .get("https://:@a.test/"))
        #expect(other.answer(.performDefault).name == "again")
    }

    @Test("a token that is no token fails the task without being shown")
    func badToken() throws {
        var task = TaskTalk(.ofTest())
        _ = task.challenge("Bearer", to: try .get("https://a.test/"))
        guard case .fail(let rejection) = task.answer(URLCredential(bearerToken: "canary\r\nX: y")) else {
            Issue.record("sent")
            return
        }
        #expect(rejection.component == .token && !rejection.description.contains("canary"))
    }

    @Test("where a token and a password would do, who has no token is asked for the password")
    func bearerAndBasic() throws {
        var task = TaskTalk(.ofTest(storage))
        let exchange = try AuthenticationExchange.get("https://a.test/")
        #expect(task.challenge("Bearer realm=r, Basic realm=r", to: exchange).name == "ask HTTPBasic")
        #expect(task.answer(.reject).name == "ask HTTPBearer")
        let space = ChallengingParty.origin(try Endpoint(scheme: .https, host: "a.test"))
            .space(realm: Array("r".utf8), method: NSURLAuthenticationMethodHTTPBearer)
        storage.setDefaultCredential(URLCredential(bearerToken: "t"), for: space)
        task = TaskTalk(.ofTest(storage))
        #expect(task.challenge("Bearer realm=r, Basic realm=r", to: exchange).name == "ask HTTPBearer")
    }

    // MARK: - Nothing shown

    @Test("no dump of a machine or of what a session has learnt holds a secret, T-AUT-20")
    func secrets() throws {
        let proven = ProvenCredentials.ofTest()
        var text = ""
        for challenge in ["Basic realm=r", Self.digest, "Bearer realm=q"] {
            var task = TaskTalk(proven)
            let exchange = try AuthenticationExchange.get("https://a.test/")
            let credential = challenge == "Bearer realm=q" ? URLCredential(bearerToken: "canary-word") : .user()
            _ = task.pass(challenge, credential, to: exchange)
            dump(task.machine, to: &text)
            text += String(reflecting: task.machine)
            text += "\(credential) \(credential.debugDescription) \(String(reflecting: credential))"
        }
        dump(proven, to: &text)
        text += String(reflecting: proven)
        #expect(!text.contains("canary") && !text.contains(TaskTalk.basic("alice", "canary-word").dropFirst(6)))
    }
}
