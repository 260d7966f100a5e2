@testable import AFURLSession
@testable import AFURLTypes

/// Takes the answer to a challenge of a class, and lets the load go on with it.
private final class AnswerTaker: NSObject, URLAuthenticationChallengeSender {
    let answers = Watched<[String]>([])
    fileprivate let stub: StubProtocol

    init(_ stub: StubProtocol) {
        self.stub = stub
    }

    private func answered(_ what: String) {
        answers.change { $0.append(what) }
        stub.answer(what)
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        answered("user \(credential.user ?? "")")
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answered("without") }
    func cancel(_ challenge: URLAuthenticationChallenge) { answers.change { $0.append("cancel") } }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answered("default") }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { answered("reject") }
}

@Suite("Challenges of classes of the program")
struct ProtocolChallengeTests {
    private let takers = Lock<[AnswerTaker]>([])
    private let challenges = Watched<[URLAuthenticationChallenge]>([])

    private func site() -> StubSite {
        StubSite { [takers, challenges] stub in
            let taker = AnswerTaker(stub)
            takers.withLock { $0.append(taker) }
            let challenge = URLAuthenticationChallenge(
                protectionSpace: URLProtectionSpace(
                    host: "h",
                    port: 80,
                    protocol: "http",
                    realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic
                ),
                proposedCredential: nil,
                previousFailureCount: 0,
                failureResponse: nil,
                error: nil,
                sender: taker
            )
            stub.client?.urlProtocol(stub, didReceive: challenge)
            challenges.change { $0.append(challenge) }
        }
    }

    @Test(
        arguments: [
            (.useCredential, "user", "user user"), (.useCredential, nil, "without"),
            (.performDefaultHandling, nil, "default"), (.rejectProtectionSpace, nil, "reject"),
        ] as [(URLSession.AuthChallengeDisposition, String?, String)]
    )
    func `the sender gets the delegate's answer`(
        disposition: URLSession.AuthChallengeDisposition,
        user: String?,
        expected: String
    ) async throws {
        let site = site()
        let delegate = TaskTrustDelegate(answering: { _, completion in
            completion(disposition, user.map { URLCredential(user: $0, password: "p", persistence: .none) })
            completion(.cancelAuthenticationChallenge, nil)
        })
        let session = StubSite.session(delegate: delegate)
        #expect(try await session.outcome(of: site.url()).text == expected)
        try await site.stopped()
    }

    @Test func `without a delegate, or one with a method for it, handling is the default`() async throws {
        let site = site()
        #expect(try await StubSite.session().outcome(of: site.url()).text == "default")
        #expect(try await StubSite.session(delegate: EventLog()).outcome(of: site.url()).text == "default")
    }

    @Test func `a delegate that cancels cancels the task`() async throws {
        let site = site()
        let session = StubSite.session(delegate: TaskTrustDelegate { _ in (.cancelAuthenticationChallenge, nil) })
        #expect(try await session.outcome(of: site.url()).error?.code == .cancelled)
        try await site.stopped()
        #expect(takers.withLock { $0.first?.answers.value } == ["cancel"])
    }

    @Test func `the answer to a withdrawn challenge does not reach the protocol`() async throws {
        let site = site()
        let late = Watched<ChallengeCompletion?>(nil)
        let delegate = TaskTrustDelegate(answering: { _, completion in late.change { $0 = completion } })
        let session = StubSite.session(delegate: delegate)
        let outcomes = Outcomes()
        session.dataTask(with: site.url(), completionHandler: outcomes.handler).resume()
        let completion = try #require(try await late.wait("the question") { $0 != nil })
        let challenge = try #require(try await challenges.wait("the challenge") { !$0.isEmpty }.first)
        let stub = try #require(challenge.sender as? AnswerTaker)
        stub.withdraw(challenge)
        await session.settled()
        completion(.cancelAuthenticationChallenge, nil)
        await session.settled()
        stub.finish()
        #expect(try await outcomes.first().text == "done")
        #expect(stub.answers.value == [])
    }
}

extension AnswerTaker {
    fileprivate func withdraw(_ challenge: URLAuthenticationChallenge) {
        stub.client?.urlProtocol(stub, didCancel: challenge)
    }

    fileprivate func finish() { stub.answer("done") }
}
