import AFWire

@testable import AFURLSession
@testable import AFURLTypes

@Suite("Challenges of servers, put to delegates")
struct CredentialChallengesTests {
    private static func question(_ method: String = NSURLAuthenticationMethodHTTPBasic) -> CredentialQuestion {
        let space = URLProtectionSpace(
            host: "a.test",
            port: 80,
            protocol: "http",
            realm: "r",
            authenticationMethod: method
        )
        return CredentialQuestion(space: space, proposedCredential: .user("proposed"), previousFailureCount: 2)
    }

    /// What arrives on the loop when a task with this delegate is asked.
    private static func answers(
        _ delegate: (any URLSessionTaskDelegate)?,
        _ question: CredentialQuestion = question()
    ) throws -> [String] {
        let world = VirtualWorld()
        let (session, _) = world.makeSession(delegate: delegate)
        let task = session.dataTask(with: try #require(URL(string: "http://a.test/")))
        let url = try #require(URL(string: "http://a.test/"))
        let response = try #require(HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: nil))
        let answers = Lock<[String]>([])
        session.world.enqueue {
            let challenges = CredentialChallenges(task: task, taskDelegate: delegate, in: session.core.value)
            challenges.ask(question, after: response) { disposition, credential in
                answers.withLock { $0.append("\(disposition.rawValue) \(credential?.user ?? "-")") }
            }
        }
        world.run()
        return answers.withLock { $0 }
    }

    @Test("a delegate is shown everything, and its answer comes back")
    func answer() throws {
        let delegate = TaskTrustDelegate { _ in (.useCredential, .user("chosen")) }
        #expect(try Self.answers(delegate) == ["0 chosen"])
        let challenge = try #require(delegate.challenges.value.first)
        #expect(challenge.protectionSpace.realm == "r" && challenge.proposedCredential?.user == "proposed")
        #expect(challenge.previousFailureCount == 2 && challenge.sender != nil && challenge.error == nil)
        #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401)
    }

    @Test("of several answers the first counts, in either way, T-AUT-15")
    func severalAnswers() throws {
        let twice = TaskTrustDelegate(answering: { _, completion in
            completion(.rejectProtectionSpace, nil)
            completion(.useCredential, .user())
        })
        #expect(try Self.answers(twice) == ["3 -"])
        let mixed = TaskTrustDelegate(answering: { challenge, completion in
            challenge.sender?.use(.user("by-sender"), for: challenge)
            challenge.sender?.cancel(challenge)
            completion(.performDefaultHandling, nil)
        })
        #expect(try Self.answers(mixed) == ["0 by-sender"])
    }

    @Test("the answer may come from another thread, T-AUT-15")
    func otherThread() throws {
        let delegate = TaskTrustDelegate(answering: { _, completion in
            let thread = Thread { completion(.cancelAuthenticationChallenge, nil) }
            thread.start()
            while !thread.isFinished { sched_yield() }
        })
        #expect(try Self.answers(delegate) == ["2 -"])
    }

    @Test("a delegate that never answers is waited for, and sends nothing, T-AUT-15")
    func noAnswer() throws {
        let delegate = TaskTrustDelegate(answering: { _, _ in })
        #expect(try Self.answers(delegate).isEmpty)
        #expect(delegate.count == 1)
    }

    @Test("without a method there is the default, and the session's method is for other questions")
    func noMethod() throws {
        #expect(try Self.answers(nil) == ["1 -"])
        let delegate = TrustDelegate { _ in (.cancelAuthenticationChallenge, nil) }
        #expect(try Self.answers(delegate) == ["1 -"])
        #expect(delegate.methods.value.count == 0)
        for method in [NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodHTTPBearer] {
            #expect(try Self.answers(delegate, Self.question(method)) == ["1 -"])
        }
        #expect(delegate.methods.value.count == 0)
        #expect(try Self.answers(delegate, Self.question(NSURLAuthenticationMethodNTLM)) == ["2 -"])
        #expect(try Self.answers(delegate, Self.question(NSURLAuthenticationMethodNegotiate)) == ["2 -"])
        #expect(delegate.methods.value.count == 2)
    }

    @Test("where the session has no method, the task's is asked about its connection")
    func secondLevel() throws {
        let delegate = TaskTrustDelegate { _ in (.useCredential, nil) }
        #expect(try Self.answers(delegate, Self.question(NSURLAuthenticationMethodNTLM)) == ["0 -"])
    }
}
