import AFBase
import AFURLSession
import Foundation

extension Arguments {
    /// Asks on the terminal for passwords that are not on the command line.
    func askingForPasswords() -> Arguments {
        var arguments = self
        arguments.login = login?.asking(for: "the server")
        arguments.proxy.login = proxy.login?.asking(for: "the proxy")
        return arguments
    }

    /// The file of passwords, unless a login or a token of the command line goes before it.
    func netrcFile() throws(TransferFailure) -> NetrcFile? {
        login == nil && bearer == nil ? try netrc?.contents() : nil
    }

    /// - Parameters:
    ///   - form: The body of `--data` and its like, if it is in memory.
    ///   - type: The media type of a multipart form.
    ///   - part: The download to resume.
    func request(
        for url: URL,
        login: Login?,
        form: Data?,
        type: String? = nil,
        from part: PartialTransfer?
    ) -> URLRequest {
        var request = URLRequest(url: url)
        // curl sends these first, too.
        request.setValue(userAgent ?? "afnet/\(PackageVersion.current)", forHTTPHeaderField: "User-Agent")
        request.setValue("*/*", forHTTPHeaderField: "Accept")
        request.usesHTTP10 = usesHTTP10
        request.redirectPolicy = redirectPolicy
        request.httpShouldHandleCookies = cookies.isOn
        request.decodesContent = isCompressed
        request.sendsBodyWithAnyMethod = true
        limitTime(of: &request)
        if cache != nil { request.cachePolicy = cacheMode.policy }
        if isHead { request.httpMethod = "HEAD" }
        switch isQuery ? nil : body {
        case nil: break
        case .upload:
            request.httpMethod = "PUT"
            request.httpBody = form
            // curl sends no Content-Type either, even with --request POST.
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
        // Of an upload, the range is what is sent.
        let range = isUpload ? nil : range
        if isCompressed {
            // Set here for --verbose. Ranges count bytes of a body without coding.
            let isPart = range != nil || part != nil
            request.setValue(isPart ? "identity" : Self.codings, forHTTPHeaderField: "Accept-Encoding")
        }
        if let referer { request.setValue(referer, forHTTPHeaderField: "Referer") }
        if let range { request.setValue("bytes=\(range)", forHTTPHeaderField: "Range") }
        part?.prepare(&request)
        timeCondition?.prepare(&request)
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

    func limitTime(of request: inout URLRequest) {
        guard maximumTime > 0 else { return }
        request.timeoutInterval = maximumTime
        request.timeoutIntervalForResource = maximumTime
    }

    /// Adds the boundary to a multipart type that --header names.
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

    /// The first field of a name replaces afnet's own; further ones are added.
    private func apply(to request: inout URLRequest) {
        var seen: Set<String> = []
        for field in fields {
            switch field {
            case .removed(let name):
                request.setValue(nil, forHTTPHeaderField: name)
                request.withheldHeaderFields.insert(name)
            case .set(let name, let value) where seen.insert(name.lowercased()).inserted:
                // Removed first, so that fields stand after afnet's own, in the order of the command line.
                request.setValue(nil, forHTTPHeaderField: name)
                request.setValue(value, forHTTPHeaderField: name)
            case .set(let name, let value):
                // A list of cookies has semicolons (RFC 6265 §5.4).
                let former = name.lowercased() == "cookie" ? request.value(forHTTPHeaderField: name) : nil
                if let former {
                    request.setValue("\(former); \(value)", forHTTPHeaderField: name)
                } else {
                    request.addValue(value, forHTTPHeaderField: name)
                }
            }
        }
    }
}
