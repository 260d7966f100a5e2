import AFURLSession
import Foundation

extension Arguments {
    static let sessionFields = [("Accept", "*/*"), ("User-Agent", "afnet/\(Usage.version)")]

    /// - Parameters:
    ///   - form: what `--data` and `--data-file` make up, if it is in memory.
    ///   - offset: where a download goes on.
    func request(for url: URL, _ login: Login?, form: Data?, from offset: Int64?) -> URLRequest {
        var request = URLRequest(url: url)
        request.redirectPolicy = redirectPolicy
        if cache != nil { request.cachePolicy = cacheMode.policy }
        if isHead { request.httpMethod = "HEAD" }
        switch body {
        case nil: break
        case .upload:
            request.httpMethod = "PUT"
            request.httpBody = form
        case .text, .file:
            request.httpMethod = "POST"
            request.httpBody = form
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        }
        if let method { request.httpMethod = method }
        if isCompressed {
            // Named here as well, for --verbose. Offsets are those of a body that is not coded.
            let isPart = range != nil || offset != nil
            request.setValue(isPart ? "identity" : Self.codings, forHTTPHeaderField: "Accept-Encoding")
        }
        if let range { request.setValue("bytes=\(range)", forHTTPHeaderField: "Range") }
        if let offset { request.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range") }
        if let bearer { request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization") }
        if let login, loginScheme == .basic { request.setValue(login.basic, forHTTPHeaderField: "Authorization") }
        if !cookies.isOn, !cookies.extra.isEmpty {
            request.setValue(cookies.extra.joined(separator: "; "), forHTTPHeaderField: "Cookie")
        }
        apply(to: &request)
        return request
    }

    private static var codings: String {
        var codings = "gzip, deflate"
        #if Brotli
            codings += ", br"
        #endif
        #if Zstd
            codings += ", zstd"
        #endif
        return codings
    }

    private var redirectPolicy: RedirectPolicy {
        var policy = RedirectPolicy()
        policy.followsRedirects = redirects.isFollowing
        policy.maximumCount = redirects.maximum
        policy.allowsPlainText = true
        policy.sendsBodyToOtherOrigins = true
        return policy
    }

    /// The first of a name replaces what we would send, the next ones are added to it.
    private func apply(to request: inout URLRequest) {
        var seen: Set<String> = []
        for field in fields {
            switch field {
            case .removed(let name): request.setValue(nil, forHTTPHeaderField: name)
            case .set(let name, let value) where seen.insert(name.lowercased()).inserted:
                request.setValue(value, forHTTPHeaderField: name)
            case .set(let name, let value): request.addValue(value, forHTTPHeaderField: name)
            }
        }
    }
}
