import AFTransport
import AFWire
import Foundation

extension URLSessionTask {
    /// A command for a POSIX shell that sends the current request of the task with `curl`, with the fields of the
    /// session and the cookies it has now. See
    /// ``/AFURLTypes/URLRequest/curlCommand(masksSecrets:followsRedirects:sensitiveFields:)``.
    ///
    /// It has no options for proxies, and none for the servers that the session trusts.
    ///
    /// - Parameters:
    ///   - masksSecrets: Whether the command hides secrets.
    ///   - followsRedirects: Whether `curl` follows redirects too.
    ///   - sensitiveFields: Further header fields whose values are secrets, by name.
    public func curlCommand(
        masksSecrets: Bool = true,
        followsRedirects: Bool = false,
        sensitiveFields: Set<String> = []
    ) -> String {
        let mask = masksSecrets ? SecretMask(sensitiveFields: sensitiveFields) : nil
        guard let request = currentRequest else { return "" }
        return curlCommand(of: request).text(mask, followsRedirects: followsRedirects)
    }

    private func curlCommand(of request: URLRequest) -> CurlCommand {
        var command = CurlCommand(request: request, body: curlBody(of: request))
        command.socketPath = session.settings.unixDomainSocketPath
        // Any length does: `curl` finds the real one out.
        let plan = RequestFreezer.BodyPlan.length(command.sendsBytes ? 1 : 0)
        var request = request
        request.trailers = nil
        guard let frozen = try? RequestFreezer.freeze(request, defaults: defaults(for: request), plan: plan) else {
            return command
        }
        command.fields = frozen.sentFields.fields.filter { field in
            // `curl` sends the host of the URL by itself.
            !HTTPText.isSameName(field.name, other: "Host") || field.value != frozen.endpoint.hostField
        }
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            command.acceptsCodings = command.remove("Accept-Encoding")
        }
        addCookies(to: &command, for: request, frozen: frozen)
        return command
    }

    /// The session's fields for the request; for another origin without the secrets.
    private func defaults(for request: URLRequest) -> HeaderDefaults {
        let (first, now) = (originalRequest?.url, request.url)
        guard first?.scheme != now?.scheme || first?.host != now?.host || first?.port != now?.port else {
            return session.headers
        }
        let policy = request.redirectPolicy ?? session.settings.redirects
        return HeaderDefaults(session.headers) { policy.withholds($0) }
    }

    private func addCookies(to command: inout CurlCommand, for request: URLRequest, frozen: WireRequest) {
        guard let access = CookieAccess(session.settings.cookies, request: request.contents.cookies) else { return }
        access.judgeWaiting()
        guard let value = access.field(for: frozen.url, now: session.world.wallClock().seconds)
        else { return }
        _ = command.remove("Cookie")
        command.fields.append(("Cookie", HTTPText.decode(request.cookieField(value))))
    }

    private func curlBody(of request: URLRequest) -> CurlCommand.Body {
        // A redirect has dropped the body.
        let isBodiless = ["GET", "HEAD"].contains(request.contents.method) && !request.sendsBodyWithAnyMethod
        switch body {
        case .data(let data): return isBodiless ? .none : CurlCommand.Body(data, method: request.contents.method)
        case .file(let url): return isBodiless ? .none : .file(url.path)
        case .streamed: return isBodiless ? .none : .stream(length: request.announcedLength)
        case .request where request.bodyStream != nil: return .stream(length: request.announcedLength)
        case .request: return CurlCommand.Body(request.httpBody, method: request.contents.method)
        }
    }
}
