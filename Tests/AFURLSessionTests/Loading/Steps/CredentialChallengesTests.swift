import AFBase
import AFLoop
import AFTestFixtures
import AFVirtualWorld
import AFWire
import Foundation
import Testing

@testable import AFURLSession
@testable import AFURLTypes

@Suite("Challenges of servers, put to delegates")
struct CredentialChallengesTests {
    /// Answers in a way a test chooses.
    private final class TaskLevel: URLSessionDataDelegate {
        let challenges = Lock<[URLAuthenticationChallenge]>([])
        let body: @Sendable (URLAuthenticationChallenge, @escaping ChallengeCompletion) -> Void

        init(_ body: @escaping @Sendable (URLAuthenticationChallenge, @escaping ChallengeCompletion) -> Void) {
            self.body = body
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping ChallengeCompletion
        ) {
            challenges.withLock { $0.append(challenge) }
            body(challenge, completionHandler)
        }
    }

    /// Has no method for challenges of tasks.
    private final class SessionLevel: URLSessionDataDelegate {
        let count = Lock(0)

        func urlSession(
            _ session: URLSession,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping ChallengeCompletion
        ) {
            count.withLock { $0 += 1 }
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }

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
            let challenges = CredentialChallenges(task, taskDelegate: delegate, in: session.core.value)
            challenges.ask(question, after: response) { disposition, credential in
                answers.withLock { $0.append("\(disposition.rawValue) \(credential?.user ?? "-")") }
            }
        }
        world.run()
        return answers.withLock { $0 }
    }

    @Test("a delegate is shown everything, and its answer comes back")
    func answer() throws {
        let delegate = TaskLevel { $1(.useCredential, .user("chosen")) }
        #expect(try Self.answers(delegate) == ["0 chosen"])
        let challenge = try #require(delegate.challenges.withLock { $0.first })
        #expect(challenge.protectionSpace.realm == "r" && challenge.proposedCredential?.user == "proposed")
        #expect(challenge.previousFailureCount == 2 && challenge.sender != nil && challenge.error == nil)
        #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401)
    }

    @Test("of several answers the first counts, in either way, T-AUT-15")
    func severalAnswers() throws {
        let twice = TaskLevel { _, completion in
            completion(.rejectProtectionSpace, nil)
            completion(.useCredential, .user())
        }
        #expect(try Self.answers(twice) == ["3 -"])
        let mixed = TaskLevel { challenge, completion in
            challenge.sender?.use(.user("by-sender"), for: challenge)
            challenge.sender?.cancel(challenge)
            completion(.performDefaultHandling, nil)
        }
        #expect(try Self.answers(mixed) == ["0 by-sender"])
    }

    @Test("the answer may come from another thread, T-AUT-15")
    func otherThread() throws {
        let delegate = TaskLevel { _, completion in
            let thread = Thread { completion(.cancelAuthenticationChallenge, nil) }
            thread.start()
            while !thread.isFinished { sched_yield() }
        }
        #expect(try Self.answers(delegate) == ["2 -"])
    }

    @Test("a delegate that never answers is waited for, and sends nothing, T-AUT-15")
    func noAnswer() throws {
        let delegate = TaskLevel { _, _ in }
        #expect(try Self.answers(delegate).isEmpty)
        #expect(delegate.challenges.withLock { $0.count } == 1)
    }

    @Test("without a method there is the default, and the session's method is for other questions")
    func noMethod() throws {
        #expect(try Self.answers(nil) == ["1 -"])
        let delegate = SessionLevel()
        #expect(try Self.answers(delegate) == ["1 -"])
        #expect(delegate.count.withLock { $0 } == 0)
        for method in [NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodHTTPBearer] {
            #expect(try Self.answers(delegate, Self.question(method)) == ["1 -"])
        }
        #expect(delegate.count.withLock { $0 } == 0)
        #expect(try Self.answers(delegate, Self.question(NSURLAuthenticationMethodNTLM)) == ["2 -"])
        #expect(try Self.answers(delegate, Self.question(NSURLAuthenticationMethodNegotiate)) == ["2 -"])
        #expect(delegate.count.withLock { $0 } == 2)
    }

    @Test("where the session has no method, the task's is asked about its connection")
    func secondLevel() throws {
        let delegate = TaskLevel { $1(.useCredential, nil) }
        #expect(try Self.answers(delegate, Self.question(NSURLAuthenticationMethodNTLM)) == ["0 -"])
    }
}
