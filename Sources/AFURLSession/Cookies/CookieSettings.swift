import AFWire
import Foundation

/// The settings of a configuration that concern cookies.
struct CookieSettings: Sendable {
    var storage: HTTPCookieStorage? = .shared
    var policy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    var setsCookies = true

    /// For sessions that leave nothing behind.
    static var ephemeral: CookieSettings { CookieSettings(storage: HTTPCookieStorage()) }
}

/// What a request says about cookies.
struct RequestCookies: Hashable, Sendable {
    var isHandled = true
    var mainDocumentURL: URL?
}

/// The cookies of one task: asked before each of its requests, told of each of its responses.
struct CookieDoor: Sendable {
    private let storage: HTTPCookieStorage
    private let policy: HTTPCookie.AcceptPolicy
    private let mainDocument: CookieQuestion.MainDocument

    /// Nil if cookies are neither sent nor stored.
    init?(_ settings: CookieSettings, _ request: RequestCookies) {
        guard settings.setsCookies, request.isHandled, settings.policy != .never, let storage = settings.storage else {
            return nil
        }
        self.storage = storage
        policy = settings.policy
        mainDocument = .init(request.mainDocumentURL)
    }

    /// The value of the `Cookie` field, byte for byte.
    func field(for url: RequestURL, now: Int64) -> [UInt8]? {
        storage.isEmpty ? nil : storage.cookieFieldBytes(for: question(url), now: now)
    }

    /// Calls `body`, on another thread, when cookies that have arrived may be sent; false if they may already.
    func mustWait(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard storage.hasWaiting else { return false }
        storage.whenJudged(body)
        return true
    }

    /// Judges what has arrived. Waits for the disk, the first time: never called on the network thread.
    func judgeWaiting() { storage.judgeWaiting() }

    /// Takes the cookies of a final response to a request for that URL; not of an interim one, trailers or a proxy.
    func receive(_ headers: HTTPHeaders, from url: RequestURL, now: Int64) {
        storage.receive(headers, for: question(url), now: now)
    }

    private func question(_ url: RequestURL) -> CookieQuestion {
        CookieQuestion(url: url, mainDocument: mainDocument, policy: policy)
    }
}
