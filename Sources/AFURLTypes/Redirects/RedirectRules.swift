import AFBase
import AFState
package import AFWire
package import Foundation

/// Decides what to do about a response that redirects: one pure function.
///
/// | status        | method and body                                     |
/// |---------------|-----------------------------------------------------|
/// | 301, 302      | POST becomes GET without a body; others stay        |
/// | 303           | everything but HEAD becomes GET without a body      |
/// | 307, 308      | both stay                                           |
/// | all others    | not followed                                        |
///
/// If the session does not load the scheme, it proposes the redirect to the delegate, which may lead the task elsewhere
/// or take the response.
///
/// The next request is made from the present one, so that fields left out at one redirect never come back at a later
/// one.
package enum RedirectRules {
    /// The request, its response and the rules for it.
    package struct Question {
        package var request: URLRequest
        /// The URL that the response came from.
        package var source: RequestURL
        package var status: Int
        package var headers: HTTPHeaders
        package var body: Body
        /// How many redirects the task has followed so far.
        package var count: Int
        package var policy: RedirectPolicy
        /// The same URL with TLS, if its server asked for that and it has none.
        package var withTLS: (URL, Endpoint) -> URL?

        package init(
            request: URLRequest,
            source: RequestURL,
            status: Int,
            headers: HTTPHeaders,
            body: Body = Body.none,
            count: Int = 0,
            policy: RedirectPolicy = RedirectPolicy(),
            withTLS: @escaping (URL, Endpoint) -> URL? = { _, _ in nil }
        ) {
            self.request = request
            self.source = source
            self.status = status
            self.headers = headers
            self.body = body
            self.count = count
            self.policy = policy
            self.withTLS = withTLS
        }
    }

    /// The body that would have to be sent again.
    package enum Body {
        case none
        case replayable
        /// A stream that the session has read, without a delegate that could supply another.
        case once
    }

    package enum Decision {
        /// The response is the task's, and no redirect.
        case deliver
        case follow(Proposal)
        case refuse(RedirectFailure)
    }

    package struct Proposal {
        package let request: URLRequest
        package let keepsBody: Bool
        package let leavesOrigin: Bool
        /// Why the session does not follow it unless the delegate allows it.
        package let objection: RedirectFailure?
        /// Whether the session does not load the scheme: the delegate may only lead the task elsewhere.
        package var isForeign = false
    }

    package static func decide(_ question: Question) -> Decision {
        guard question.policy.followsRedirects else { return .deliver }
        guard let change = change(of: question.request.contents.method, by: question.status) else { return .deliver }
        let locations = question.headers.valuesInBytes("Location")
        guard let location = locations.first else { return .deliver }
        guard locations.allSatisfy({ $0 == location }) else { return .refuse(.ambiguous) }
        // As a relative reference it would name the same URL, again and again up to the limit.
        guard !location.isEmpty else { return .deliver }

        let reference: URLReference
        do throws(RequestRejection) {
            reference = try resolve(location, of: question)
        } catch {
            guard error.rule == .notHTTP, let scheme = error.excerpt else { return .refuse(.unusable(error)) }
            return decide(question, change: change, location: location, of: scheme)
        }
        let unusable = Decision.refuse(.unusable(RequestRejection(.url, rule: .empty)))
        guard let url = URL(string: reference.text) else { return unusable }
        guard let secured = question.withTLS(url, reference.url.endpoint) else {
            return decide(question, change: change, target: reference.url, url: url)
        }
        guard let target = try? RequestURL(secured.absoluteString) else { return unusable }
        return decide(question, change: change, target: target, url: secured)
    }

    /// Decides about a location whose scheme the session does not load.
    private static func decide(
        _ question: Question,
        change: Change,
        location: [UInt8],
        of scheme: EscapedText
    ) -> Decision {
        guard question.count < question.policy.maximumCount else { return .refuse(.tooMany(question.count)) }
        let failure = RedirectFailure.foreignScheme(scheme)
        if !change.dropsBody, case .once = question.body { return .refuse(failure) }
        guard let url = URL(string: String(decoding: location, as: UTF8.self)) else { return .refuse(failure) }
        let sendsBody = if case .none = question.body { false } else { !change.dropsBody }
        let proposal = Proposal(
            request: request(question.request, change: change, url: url, leavesOrigin: true, policy: question.policy),
            keepsBody: sendsBody,
            leavesOrigin: true,
            objection: failure,
            isForeign: true
        )
        return .follow(proposal)
    }

    private static func decide(
        _ question: Question,
        change: Change,
        target: RequestURL,
        url: URL
    ) -> Decision {
        let policy = question.policy
        let (from, to) = (question.source.endpoint, target.endpoint)
        guard question.count < policy.maximumCount else { return .refuse(.tooMany(question.count)) }
        if from.isSecured, !to.isSecured, !policy.allowsPlainText { return .refuse(.plainText(to)) }

        let keepsBody = !change.dropsBody
        if keepsBody, case .once = question.body { return .refuse(.bodyIsGone(to)) }
        let leavesOrigin = !isSameOrigin(from, to: to, policy: policy)
        let sendsBody = if case .none = question.body { false } else { keepsBody }
        let needsConsent = sendsBody && leavesOrigin && !policy.sendsBodyToOtherOrigins
        let proposal = Proposal(
            request: request(question.request, change: change, url: url, leavesOrigin: leavesOrigin, policy: policy),
            keepsBody: sendsBody,
            leavesOrigin: leavesOrigin,
            objection: needsConsent ? .bodyLeavesOrigin(to) : nil
        )
        return .follow(proposal)
    }

    private static func resolve(_ location: [UInt8], of question: Question) throws(RequestRejection) -> URLReference {
        var location = location
        if question.request.contents.wire.webSocket != nil {
            location = location.withUnsafeBytes { RequestURL.httpBytes(ofWebSocket: $0) }
        }
        let present = Array((question.request.url?.absoluteString ?? "").utf8)
        let hash = present.firstIndex(of: UInt8(ascii: "#"))
        let fragment = hash.map { Array(present[($0 + 1)...]) }
        let reference = location.withUnsafeBytes { bytes in
            Result { () throws(RequestRejection) in
                try URLReference(ByteScanning.trimmingOWS(bytes), relativeTo: question.source, fragment: fragment)
            }
        }
        return try reference.get()
    }

    // MARK: - Origins

    package static func isSameOrigin(_ from: Endpoint, to: Endpoint, policy: RedirectPolicy) -> Bool {
        if from == to { return true }
        return policy.keepsSecretsOnUpgrade && from.host == to.host && !from.isSecured && to.isSecured
            && from.isDefaultPort && to.isDefaultPort
    }

    // MARK: - Methods

    private struct Change {
        let method: String
        let dropsBody: Bool
    }

    /// - Returns: Nil if the status is no redirect.
    private static func change(of method: String, by status: Int) -> Change? {
        switch status {
        case 301, 302:
            method == "POST" ? Change(method: "GET", dropsBody: true) : Change(method: method, dropsBody: false)
        case 303: seeOther(method)
        case 307, 308: Change(method: method, dropsBody: false)
        default: nil
        }
    }

    private static func seeOther(_ method: String) -> Change {
        Change(method: method == "HEAD" ? method : "GET", dropsBody: true)
    }

    // MARK: - The next request

    private static let bodyFields = [
        "Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-MD5",
        "Content-Range", "Content-Digest", "Repr-Digest", "Digest", "Transfer-Encoding", "Trailer", "Expect",
    ]

    private static func request(
        _ former: URLRequest,
        change: Change,
        url: URL,
        leavesOrigin: Bool,
        policy: RedirectPolicy
    ) -> URLRequest {
        var request = former
        request.url = request.contents.wire.webSocket == nil ? url : url.ofWebSocket
        request.httpMethod = change.method
        if change.dropsBody {
            request.httpBody = nil
            request.sendsBodyWithAnyMethod = false
            request.trailers = nil
            for field in bodyFields { request.setValue(nil, forHTTPHeaderField: field) }
        }
        if leavesOrigin {
            for field in request.contents.fields where policy.withholds(field.name) {
                request.setValue(nil, forHTTPHeaderField: field.name)
            }
            request.trailers = request.trailers?.leavingOrigin(policy)
            // It names the former host.
            request.setValue(nil, forHTTPHeaderField: "Host")
            request = withoutSubprotocols(request)
        }
        return request
    }

    /// The request for what a response links to: by GET, or HEAD, as behind a 303.
    package static func request(
        to url: URL,
        behind request: URLRequest,
        leavesOrigin: Bool,
        policy: RedirectPolicy
    ) -> URLRequest {
        let change = seeOther(request.contents.method)
        return self.request(request, change: change, url: url, leavesOrigin: leavesOrigin, policy: policy)
    }

    /// The delegate's request for another origin than the proposed one, without the secrets of the proposal and its
    /// `Host`. The fields that the delegate has set itself stay.
    package static func withoutSecrets(_ request: URLRequest, known proposal: URLRequest, policy: RedirectPolicy)
        -> URLRequest
    {
        var request = request
        for field in proposal.contents.fields where policy.withholds(field.name) {
            if request.value(forHTTPHeaderField: field.name) == field.value {
                request.setValue(nil, forHTTPHeaderField: field.name)
            }
        }
        if request.trailers == proposal.trailers { request.trailers = request.trailers?.leavingOrigin(policy) }
        if request.value(forHTTPHeaderField: "Host") == proposal.value(forHTTPHeaderField: "Host") {
            request.setValue(nil, forHTTPHeaderField: "Host")
        }
        return withoutSubprotocols(request)
    }

    /// A request for another origin without the subprotocols of the task, which the handshake adds to those of the field.
    package static func withoutSubprotocols(_ request: URLRequest) -> URLRequest {
        guard let handshake = request.contents.wire.webSocket else { return request }
        var request = request
        request.change { $0.wire.value.webSocket = handshake.with(subprotocols: []) }
        return request
    }
}

extension URL {
    /// With the scheme that the URL of a WebSocket has.
    fileprivate var ofWebSocket: URL {
        let text = absoluteString
        return text.utf8.starts(with: "http".utf8) ? URL(string: "ws\(text.dropFirst(4))") ?? self : self
    }

    /// RFC 6797 §8.3: the port stays, unless it is that of http.
    package var withTLS: URL? {
        let text = RequestURL.httpText(ofWebSocket: absoluteString)
        guard let endpoint = try? RequestURL(text).endpoint, !endpoint.isSecured else { return nil }
        var bytes = Array(text.utf8)
        let start = "http://".utf8.count
        let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        if endpoint.isDefaultPort, let colon = bytes[start..<end].lastIndex(of: UInt8(ascii: ":")),
            bytes[(colon + 1)..<end].allSatisfy({ (0x30...0x39).contains($0) })
        {
            bytes.removeSubrange(colon..<end)
        }
        bytes.replaceSubrange(..<"http".utf8.count, with: "https".utf8)
        return URL(string: String(decoding: bytes, as: UTF8.self))
    }
}
