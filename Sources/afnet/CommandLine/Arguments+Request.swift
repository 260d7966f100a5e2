import AFURLSession
import Foundation

extension Arguments {
    /// With the passwords that are not on the command line.
    func askingForPasswords() -> Arguments {
        var arguments = self
        arguments.login = login?.asking(for: "the server")
        arguments.proxy.login = proxy.login?.asking(for: "the proxy")
        return arguments
    }

    /// - Parameters:
    ///   - form: what `--data` and `--data-file` make up, if it is in memory.
    ///   - type: the media type of a multipart form.
    ///   - part: where a download goes on.
    func request(
        for url: URL,
        _ login: Login?,
        form: Data?,
        type: String? = nil,
        from part: PartialTransfer?
    ) -> URLRequest {
        var request = URLRequest(url: url)
        // They stand first, as curl has them.
        request.setValue(userAgent ?? "afnet/\(Usage.version)", forHTTPHeaderField: "User-Agent")
        request.setValue("*/*", forHTTPHeaderField: "Accept")
        request.usesHTTP10 = usesHTTP10
        request.redirectPolicy = redirectPolicy
        if cache != nil { request.cachePolicy = cacheMode.policy }
        if isHead { request.httpMethod = "HEAD" }
        switch isQuery ? nil : body {
        case nil: break
        case .upload:
            request.httpMethod = "PUT"
            request.httpBody = form
            // Nor does curl say what a file is, also if --request says POST.
            request.withheldHeaderFields.insert("Content-Type")
        case .text, .pieces, .file:
            request.httpMethod = "POST"
            request.httpBody = form
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        case .json:
            request.httpMethod = "POST"
            request.httpBody = form
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.setValue("application/json", forHTTPHeaderField: "Accept")
        case .form:
            request.httpMethod = "POST"
            request.setValue(type, forHTTPHeaderField: "Content-Type")
        }
        if let method { request.httpMethod = method }
        if isCompressed {
            // Named here as well, for --verbose. Offsets are those of a body that is not coded.
            let isPart = range != nil || part != nil
            request.setValue(isPart ? "identity" : Self.codings, forHTTPHeaderField: "Accept-Encoding")
        }
        if let referer { request.setValue(referer, forHTTPHeaderField: "Referer") }
        if let range { request.setValue("bytes=\(range)", forHTTPHeaderField: "Range") }
        part?.prepare(&request)
        if let bearer { request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization") }
        if let login, loginScheme == .basic { request.setValue(login.basic, forHTTPHeaderField: "Authorization") }
        if !cookies.extra.isEmpty {
            request.setValue(cookies.extra.joined(separator: "; "), forHTTPHeaderField: "Cookie")
        }
        request.addsStoredCookies = true
        apply(to: &request)
        if let type { addBoundary(of: type, to: &request) }
        return request
    }

    /// Another kind of multipart that was asked for has the same parts, and needs to say what is between them.
    private func addBoundary(of type: String, to request: inout URLRequest) {
        guard let given = request.value(forHTTPHeaderField: "Content-Type"), given != type,
            let boundary = type.components(separatedBy: "; ").last
        else { return }
        request.setValue("\(given); \(boundary)", forHTTPHeaderField: "Content-Type")
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
            case .removed(let name):
                request.setValue(nil, forHTTPHeaderField: name)
                request.withheldHeaderFields.insert(name)
            case .set(let name, let value) where seen.insert(name.lowercased()).inserted:
                // Behind ours, in the order they were given.
                request.setValue(nil, forHTTPHeaderField: name)
                request.setValue(value, forHTTPHeaderField: name)
            case .set(let name, let value): request.addValue(value, forHTTPHeaderField: name)
            }
        }
    }
}

/// What the program says of itself.
enum Usage {
    static let version = "0.1-dev"
}
