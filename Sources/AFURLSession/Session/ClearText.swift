import AFTransport
import AFWire
import Foundation

// What a session says of requests without TLS. Only this file asks its evaluator, and the hosts that asked for TLS.

extension SessionCore: DepartureRules {
    /// Whether the evaluator must decide about the server, and cannot, or the server asked for TLS (RFC 6797).
    func forbid(_ cargo: Departure.Cargo) -> Bool {
        followRules()
        switch cargo {
        case .request(let request):
            guard hasClearTextRules else { return false }
            return isForbidden(request.endpoint) || asksForTLS(request.endpoint)
        case .tunnel(let endpoint): return isForbidden(endpoint) || asksForTLS(endpoint)
        // RFC 6797 is about HTTP.
        case .stream(let endpoint): return isForbidden(endpoint)
        case .name: return false
        }
    }

    /// The same URL with TLS, if its server asked for that and it has none.
    func withTLS(_ url: URL, to endpoint: Endpoint) -> URL? { asksForTLS(endpoint) ? url.withTLS : nil }

    private var hasClearTextRules: Bool { security.hasEvaluator || settings.transportSecurity != nil }

    private func isForbidden(_ endpoint: Endpoint) -> Bool {
        endpoint.scheme == .http && security.hasEvaluator && security.forbidsPlainText(to: endpoint.host.text)
    }

    private func asksForTLS(_ endpoint: Endpoint) -> Bool {
        guard endpoint.scheme == .http, let store = settings.transportSecurity else { return false }
        return store.covers(endpoint.host, at: world.wallClock())
    }
}
