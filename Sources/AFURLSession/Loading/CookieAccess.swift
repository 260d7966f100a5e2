import AFState
import AFWire
import Foundation

/// The cookies of one task: they are asked for before each of its requests, and taken from each of its responses.
struct CookieAccess: Sendable {
    private let storage: HTTPCookieStorage
    private let policy: CookiePolicy
    private let mainDocument: CookieQuestion.MainDocument

    /// Nil if cookies are neither sent nor stored.
    init?(_ settings: CookieSettings, request: RequestCookies) {
        guard settings.setsCookies, request.isHandled, settings.policy != .never, let storage = settings.storage else {
            return nil
        }
        self.storage = storage
        policy = CookiePolicy(settings.policy)
        mainDocument = .init(request.mainDocumentURL)
    }

    /// The value of the `Cookie` field, byte for byte.
    func field(for url: RequestURL, now: Int64) -> [UInt8]? {
        storage.isEmpty ? nil : storage.cookieFieldBytes(for: question(url), now: now)
    }

    /// Calls `body`, on another thread, when the cookies that have arrived are judged and may be sent; false if none
    /// wait.
    func waitForJudgement(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard storage.hasWaiting else { return false }
        storage.whenJudged(body)
        return true
    }

    /// Judges the cookies that have arrived. Waits for the disk the first time: never call it on the network thread.
    func judgeWaiting() { storage.judgeWaiting() }

    /// Takes the cookies of a final response to a request for that URL. Interim responses, trailers and the responses
    /// of proxies set none.
    func receive(_ headers: HTTPHeaders, from url: RequestURL, now: Int64) {
        storage.receive(headers, for: question(url), now: now)
    }

    private func question(_ url: RequestURL) -> CookieQuestion {
        CookieQuestion(url: url, mainDocument: mainDocument, policy: policy)
    }
}
