import AFTransport
import AFWire
import Foundation

// What a session says of requests without TLS. Only this file asks its evaluator, and the hosts that asked for TLS.

extension SessionCore: DepartureRules {
    /// Whether the evaluator must decide about the server, and cannot, or the server asked for TLS (RFC 6797).
    func forbids(_ request: WireRequest) -> Bool {
        mayForbid && (isForbidden(request.endpoint) || asksForTLS(request.endpoint))
    }

    func forbidsTunnel(to endpoint: Endpoint) -> Bool {
        followRules()
        return isForbidden(endpoint) || asksForTLS(endpoint)
    }

    /// Whether a stream may not carry bytes without TLS. RFC 6797 is about HTTP.
    func forbidsStream(to endpoint: Endpoint) -> Bool {
        followRules()
        return isForbidden(endpoint)
    }

    /// The same URL with TLS, if its server asked for that and it has none.
    func withTLS(_ url: URL, to endpoint: Endpoint) -> URL? { asksForTLS(endpoint) ? url.withTLS : nil }

    /// Whether anything can be forbidden, under the rules of this moment.
    var mayForbid: Bool {
        followRules()
        return security.hasEvaluator || settings.transportSecurity != nil
    }

    private func isForbidden(_ endpoint: Endpoint) -> Bool {
        !endpoint.isSecured && security.hasEvaluator && security.forbidsPlainText(to: endpoint.host.text)
    }

    private func asksForTLS(_ endpoint: Endpoint) -> Bool {
        guard !endpoint.isSecured, let store = settings.transportSecurity else { return false }
        return store.covers(endpoint.host, at: world.wallClock().seconds)
    }
}
