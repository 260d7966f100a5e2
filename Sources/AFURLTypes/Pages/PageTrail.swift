import AFWire
import Foundation

/// Follows `rel="next"` from page to page: decides what is asked for next. Pure.
///
/// | the next page                                        |                                                  |
/// |------------------------------------------------------|--------------------------------------------------|
/// | none, or the page's status is not 2xx                | the end                                          |
/// | loaded already                                       | the end: the links lead to nothing else          |
/// | http behind https, another origin, beyond the limit  | an error: there is more than has been loaded     |
package struct PageTrail: Sendable {
    private let origin: Endpoint
    private let policy: RedirectPolicy
    private let sessionSecrets: Set<String>
    private let limit: Int
    private let allowsOtherOrigins: Bool
    /// That of the last page. Secrets that it has lost do not come back, nor does the user of the first URL.
    private var request: URLRequest
    private var user: String?
    private var loaded: Set<String> = []
    private var count = 0

    /// Nil if the session does not load the request over HTTP: no page of it has links.
    ///
    /// - Parameters:
    ///   - request: For the first page.
    ///   - policy: Says what stays in the origin.
    ///   - sessionSecrets: Which of the fields that the session adds stay in the origin.
    ///   - limit: The most pages.
    ///   - allowsOtherOrigins: Whether a page may lead to another origin than that of the first.
    package init?(
        _ request: URLRequest,
        policy: RedirectPolicy,
        sessionSecrets: Set<String>,
        limit: Int,
        allowsOtherOrigins: Bool
    ) {
        guard let first = try? RequestURL(request.url?.absoluteString ?? "") else { return nil }
        (self.request, self.policy, origin) = (request, policy, first.endpoint)
        user = first.userInfo.map { String(decoding: $0, as: UTF8.self) }
        (self.sessionSecrets, self.limit, self.allowsOtherOrigins) = (sessionSecrets, limit, allowsOtherOrigins)
    }

    /// The request for the page behind this one; nil at the end.
    package mutating func next(after response: HTTPURLResponse) throws(PageRefusal) -> URLRequest? {
        count += 1
        guard 200..<300 ~= response.statusCode, let url = response.link("next"),
            let page = try? RequestURL(response.url?.absoluteString ?? "")
        else { return nil }
        guard let target = try? RequestURL(url.absoluteString) else {
            throw PageRefusal(reason: .notLoadable, url: url)
        }
        loaded.insert(page.text)
        if let asked = request.url, let asked = try? RequestURL(asked.absoluteString) { loaded.insert(asked.text) }
        if loaded.contains(target.text) { return nil }
        // A redirect may have led elsewhere: the links there do not choose where secrets go either.
        let ends = [page.endpoint, target.endpoint]
        if ends[0].isSecured, !ends[1].isSecured { throw PageRefusal(reason: .plainText, url: url) }
        if !allowsOtherOrigins, !ends.allSatisfy(isWithinOrigin) { throw PageRefusal(reason: .otherOrigin, url: url) }
        if count >= limit { throw PageRefusal(reason: .limit(count), url: url) }
        let keepsSecrets = ends.allSatisfy { RedirectRules.isSameOrigin(origin, to: $0, policy: policy) }
        request = request(to: url, keepsSecrets: keepsSecrets)
        return request
    }

    /// Whatever happens to secrets: the server of `http://host` often leads to `https://host`.
    private func isWithinOrigin(_ endpoint: Endpoint) -> Bool {
        var policy = policy
        policy.keepsSecretsOnUpgrade = true
        return RedirectRules.isSameOrigin(origin, to: endpoint, policy: policy)
    }

    /// What a request says of one page and not of the next.
    private static let fieldsOfPage = [
        "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range",
    ]

    private mutating func request(to url: URL, keepsSecrets: Bool) -> URLRequest {
        var next = RedirectRules.request(to: url, behind: request, leavesOrigin: !keepsSecrets, policy: policy)
        for field in Self.fieldsOfPage { next.setValue(nil, forHTTPHeaderField: field) }
        if keepsSecrets {
            // A link names no user: it is that of the first page.
            if let user {
                next.url = URL(string: url.absoluteString.replacing("://", with: "://\(user)@", maxReplacements: 1))
            }
        } else {
            user = nil
            next.withheldHeaderFields.formUnion(sessionSecrets)
            // An interceptor may add what is for the first origin.
            next.change { contents in
                contents.interception.value.kept = nil
                contents.interception.value.skipsSession = true
            }
        }
        return next
    }
}
