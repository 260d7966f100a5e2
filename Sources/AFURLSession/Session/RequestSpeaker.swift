import AFState
import AFTransport
import AFWire
import Foundation

/// For whom a request is sent, as far as its fields say it.
package enum RequestSpeaker: Hashable, Sendable {
    case nobody
    /// The digest of the fields that name the user.
    case user([UInt8])
    /// An interceptor of the program's says so when the request is sent.
    case unknown

    init(_ headers: HTTPHeaders) {
        self =
            switch RequestIdentity(of: headers) {
            case .unnamed: .nobody
            case .named(let digest): .user(digest.bytes)
            }
    }
}

/// An interceptor of which is known beforehand what it makes of a request.
protocol ForeseenInterceptor: TaskInterceptor {
    /// The request as it would be adapted now. Nil if that is not known yet.
    func foreseen(_ request: URLRequest) -> URLRequest?
}

extension URLSession {
    /// For whom a request would be sent now: by its own fields, those of the session, its cookies, and what the library's
    /// own interceptors add. Asked before the request is sent, so an answer of other interceptors is not known.
    ///
    /// Does not tell what the session answers to challenges. ``URLSessionTaskMetrics/speakers`` tells what was sent.
    package func speaker(of request: URLRequest) -> RequestSpeaker {
        guard let request = foreseen(marked(request)) else { return .unknown }
        // The request fails without being sent.
        guard let frozen = try? RequestFreezer.freeze(request, defaults: headers) else { return .nobody }
        var fields = frozen.head.fields
        if let access = CookieAccess(settings.cookies, request: request.contents.cookies) {
            guard settings.cookies.storage?.hasWaiting != true else { return .unknown }
            if let value = access.field(for: frozen.url, now: world.wallClock().seconds) {
                var added = HTTPHeaders()
                added.append("Cookie", value: request.cookieField(value))
                fields.replace(with: added)
            }
        }
        return RequestSpeaker(fields)
    }

    /// For whom a request says by itself that it is sent.
    package static func ownSpeaker(of request: URLRequest) -> RequestSpeaker {
        (try? RequestFreezer.freeze(request)).map { RequestSpeaker($0.head.fields) } ?? .nobody
    }

    /// Which credentials the session has for servers that ask for some; nil if none.
    package var credentialSource: String? {
        guard let storage = settings.credentials.storage, !storage.isEmpty else { return nil }
        return "\(UInt(bitPattern: ObjectIdentifier(storage))) \(storage.generation)"
    }

    private func foreseen(_ request: URLRequest) -> URLRequest? {
        let interceptors = request.interceptors(before: settings.interception.kept.interceptors)
        guard !interceptors.isEmpty else { return request }
        // Interceptors, and cookies, get the request as it is after the upgrade.
        if let store = settings.transportSecurity, let endpoint = request.target?.endpoint, !endpoint.isSecured,
            store.covers(endpoint.host, at: world.wallClock().seconds)
        {
            return nil
        }
        var foreseen = request
        for interceptor in interceptors {
            guard let known = (interceptor as? any ForeseenInterceptor)?.foreseen(foreseen) else { return nil }
            foreseen = known
        }
        return foreseen
    }
}

extension URLSessionTaskMetrics {
    /// For whom the task's requests were sent, those that the cache has answered included. A request that a class of the
    /// program has loaded counts with its own fields.
    package var speakers: Set<RequestSpeaker> {
        Set(
            sentRequests.map { sent, request in
                sent.map { RequestSpeaker($0.head.fields) } ?? URLSession.ownSpeaker(of: request)
            }
        )
    }
}
