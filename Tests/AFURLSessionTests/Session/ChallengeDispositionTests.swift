@testable import AFURLSession
@testable import AFURLTypes

struct ChallengeDispositionTests {
    @Test("numbers and texts are those of Apple's loader")
    func constants() {
        typealias Disposition = URLSession.AuthChallengeDisposition
        #expect(
            (0...3).map { Disposition(rawValue: $0) } == [
                .useCredential, .performDefaultHandling, .cancelAuthenticationChallenge, .rejectProtectionSpace,
            ]
        )
        typealias Persistence = URLCredential.Persistence
        let all: [Persistence] = [.none, .forSession, .permanent, .synchronizable]
        #expect(all.map(\.rawValue) == [0, 1, 2, 3])
        #expect(NSURLAuthenticationMethodServerTrust == "NSURLAuthenticationMethodServerTrust")
        #expect([NSURLProtectionSpaceHTTP, NSURLProtectionSpaceHTTPS] == ["http", "https"])
    }

    @Test func `each disposition is an answer of its own, and only one takes the credential`() {
        let credential = URLCredential(user: "u", password: "p", persistence: .none)

        func name(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) -> String {
            switch CredentialAnswer(disposition, credential: credential) {
            case .use(let given): given.map { "use \($0.user ?? "")" } ?? "use none"
            case .performDefault: "perform default"
            case .cancel: "cancel"
            case .reject: "reject"
            }
        }

        #expect(name(.useCredential, credential) == "use u")
        #expect(name(.useCredential, nil) == "use none")
        #expect(name(.performDefaultHandling, credential) == "perform default")
        #expect(name(.cancelAuthenticationChallenge, credential) == "cancel")
        #expect(name(.rejectProtectionSpace, credential) == "reject")
    }
}
