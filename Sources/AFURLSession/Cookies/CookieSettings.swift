import AFState
import AFWire
import Foundation

/// The settings of a configuration that concern cookies.
struct CookieSettings: Sendable {
    var storage: HTTPCookieStorage? = .shared
    var policy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    var setsCookies = true

    /// For sessions that keep nothing after their end.
    static var ephemeral: CookieSettings { CookieSettings(storage: HTTPCookieStorage()) }
}

/// The cookies of one task: they are asked for before each of its requests, and taken from each of its responses.
struct CookieDoor: Sendable {
    private let storage: HTTPCookieStorage
    private let policy: CookiePolicy
    private let mainDocument: CookieQuestion.MainDocument

    /// Nil if cookies are neither sent nor stored.
    init?(_ settings: CookieSettings, _ request: RequestCookies) {
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
    func mustWait(_ body: @escaping @Sendable () -> Void) -> Bool {
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

extension URLSessionConfiguration {
    /// The store of the cookies; nil for none. The default configuration uses ``/AFURLTypes/HTTPCookieStorage/shared``. An
    /// ephemeral one has a store of its own, which its copies and all their sessions share.
    public var httpCookieStorage: HTTPCookieStorage? {
        get { self[\.cookies.storage] }
        set { self[\.cookies.storage] = newValue }
    }

    /// The sites whose cookies are stored and sent: the main document's, unless set. The store has a policy of its own,
    /// and the stricter one counts.
    public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { self[\.cookies.policy] }
        set { self[\.cookies.policy] = newValue }
    }

    /// Whether sessions send and store cookies themselves. True.
    public var httpShouldSetCookies: Bool {
        get { self[\.cookies.setsCookies] }
        set { self[\.cookies.setsCookies] = newValue }
    }
}
