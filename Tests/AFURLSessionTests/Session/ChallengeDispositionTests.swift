import AFURLSession
import Foundation
import Testing

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
}
