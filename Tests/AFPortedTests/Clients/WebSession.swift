import AFURLSession
import Foundation

/// Logs in to a site and stays logged in, with cookies.
final class WebSession {
    let storage: HTTPCookieStorage
    private let session: URLSession
    private let site: URL

    init(site: URL, acceptPolicy: HTTPCookie.AcceptPolicy = .always) {
        self.site = site
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = true
        configuration.httpCookieAcceptPolicy = acceptPolicy
        storage = configuration.httpCookieStorage ?? .shared
        session = URLSession(configuration: configuration)
    }

    var isLoggedIn: Bool {
        storage.cookies(for: site)?.contains { $0.name == "session" && !$0.value.isEmpty } ?? false
    }

    func logIn(user: String, password: String, completion: @escaping (Bool) -> Void) {
        var request = URLRequest(url: site.appendingPathComponent("login"))
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        var form = URLComponents()
        form.queryItems = [URLQueryItem(name: "user", value: user), URLQueryItem(name: "password", value: password)]
        request.httpBody = form.percentEncodedQuery?.data(using: .utf8)
        session.dataTask(with: request) { _, response, _ in
            completion((response as? HTTPURLResponse)?.statusCode == 200)
        }.resume()
    }

    func page(_ path: String, completion: @escaping (String?) -> Void) {
        session.dataTask(with: site.appendingPathComponent(path)) { data, _, _ in
            completion(data.flatMap { String(data: $0, encoding: .utf8) })
        }.resume()
    }

    func logOut() {
        for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) }
    }

    /// Puts in what another program has kept.
    func restore(session value: String, days: Int) {
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: "session",
            .value: value,
            .domain: site.host ?? "",
            .path: "/",
            .expires: Date(timeIntervalSinceNow: TimeInterval(days) * 86400),
        ]
        guard let cookie = HTTPCookie(properties: properties) else { return }
        storage.setCookie(cookie)
    }

    func headerForOtherClient() -> [String: String] {
        HTTPCookie.requestHeaderFields(with: storage.cookies(for: site) ?? [])
    }

    static func cookies(in response: HTTPURLResponse) -> [HTTPCookie] {
        guard let url = response.url, let fields = response.allHeaderFields as? [String: String] else { return [] }
        return HTTPCookie.cookies(withResponseHeaderFields: fields, for: url)
    }
}
