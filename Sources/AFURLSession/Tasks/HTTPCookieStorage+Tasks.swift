import AFState
import Foundation

extension HTTPCookieStorage {
    /// Stores cookies that came with the response of a task.
    public func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
        guard let request = task.currentRequest, let url = request.url else { return }
        setCookies(cookies, for: url, mainDocumentURL: request.mainDocumentURL)
    }

    /// Calls back with the cookies that a task's current request would carry, on a queue of the library's own; nil if
    /// the session could not load the request's URL.
    @preconcurrency
    public func getCookiesFor(
        _ task: URLSessionTask,
        completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
    ) {
        let cookies = cookies(of: task)
        CookieNotifications.queue.async { completionHandler(cookies) }
    }

    /// The cookies that a task's current request would carry; nil if the session could not load the request's URL.
    public func cookies(for task: URLSessionTask) async -> [HTTPCookie]? {
        cookies(of: task)
    }

    private func cookies(of task: URLSessionTask) -> [HTTPCookie]? {
        guard let request = task.currentRequest, let url = request.url else { return nil }
        return CookieQuestion(url, mainDocument: .init(request.mainDocumentURL)).map { cookies(for: $0) }
    }
}
