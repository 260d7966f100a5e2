import AFNetworkingTesting
import AFURLSession
import Foundation

/// The hosts that the server answers for.
///
/// Otherwise a page of a site whose name resolves to 127.0.0.1 (DNS rebinding) could read the folder: for the browser
/// both have the same origin, and only `Host` shows the difference.
struct ServedHosts: Sendable {
    /// The hosts of --host, in addition to those of this machine.
    private let names: [URL]

    init(_ names: [String]) throws(TransferFailure) {
        self.names = try names.map { name throws(TransferFailure) in
            guard let url = Self.url(of: name), url.port == nil else {
                throw TransferFailure(.badArgument, "serve: --host \(name) is no host without a port")
            }
            return url
        }
    }

    /// Whether the request is for one of them. A request without `Host`, which HTTP/1.0 allows, is not a browser's.
    func contain(hostOf request: RecordedRequest) -> Bool {
        let fields = request.headers.values(of: "Host")
        // RFC 9112 §3.2.2: an absolute target overrides Host. Here both must match.
        let target = request.target.hasPrefix("/") ? nil : URL(string: request.target)
        let urls = fields.map { Self.url(of: $0) } + (request.target.hasPrefix("/") ? [] : [target])
        return fields.count <= 1 && urls.allSatisfy { $0.map(contain) ?? false }
    }

    private func contain(_ url: URL) -> Bool {
        guard let bare = Self.withoutPort(url) else { return false }
        return Self.isOfThisMachine(bare) || names.contains { RedirectPolicy.haveSameOrigin($0, bare) }
    }

    private static func url(of host: String) -> URL? {
        // The text must be a host only, without other parts of a URL.
        guard !host.isEmpty, !host.utf8.contains(where: { "/?#@\\".utf8.contains($0) }) else { return nil }
        return URL(string: "http://\(host)/")
    }

    private static func withoutPort(_ url: URL) -> URL? {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        components?.port = nil
        components?.scheme = "http"
        return components?.url
    }

    /// `localhost` and names below it (RFC 6761 §6.3), and the loopback addresses.
    private static func isOfThisMachine(_ url: URL) -> Bool {
        let host = (url.host() ?? "").lowercased()
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if name == "localhost" || name.hasSuffix(".localhost") { return true }
        guard let loopback = URL(string: "http://[::1]/") else { return false }
        return isIPv4Loopback(name) || RedirectPolicy.haveSameOrigin(url, loopback)
    }

    private static func isIPv4Loopback(_ name: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, name, &address) == 1 && UInt32(bigEndian: address.s_addr) >> 24 == 127
    }
}
