import AFNetworkingTesting
import AFURLSession
import Foundation

/// The hosts that a server for this machine answers for.
///
/// A page of another site whose name leads to 127.0.0.1 (DNS rebinding) could otherwise read the folder: to the browser
/// it would be the page's own site, and only `Host` tells.
struct ServedHosts: Sendable {
    /// Names that were given, beside those of this machine.
    private let names: [URL]

    init(_ names: [String]) throws(TransferFailure) {
        self.names = try names.map { name throws(TransferFailure) in
            guard let url = Self.url(of: name), url.port == nil else {
                throw TransferFailure(.badArgument, "serve: --host \(name) is no host without a port")
            }
            return url
        }
    }

    /// Whether the request is for one of them. One without `Host`, as HTTP/1.0 allows it, comes from no browser.
    func contain(hostOf request: RecordedRequest) -> Bool {
        let fields = request.headers.values(of: "Host")
        // RFC 9112 §3.2.2: what stands in an absolute target goes before Host; here, both have to fit.
        let target = request.target.hasPrefix("/") ? nil : URL(string: request.target)
        let urls = fields.map { Self.url(of: $0) } + (request.target.hasPrefix("/") ? [] : [target])
        return fields.count <= 1 && urls.allSatisfy { $0.map(contain) ?? false }
    }

    private func contain(_ url: URL) -> Bool {
        guard let bare = Self.withoutPort(url) else { return false }
        return Self.isOfThisMachine(bare) || names.contains { RedirectPolicy.haveSameOrigin($0, bare) }
    }

    private static func url(of host: String) -> URL? {
        // Only what is all host: the rest of a URL would be read as something else.
        guard !host.isEmpty, !host.utf8.contains(where: { "/?#@\\".utf8.contains($0) }) else { return nil }
        return URL(string: "http://\(host)/")
    }

    private static func withoutPort(_ url: URL) -> URL? {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        components?.port = nil
        components?.scheme = "http"
        return components?.url
    }

    /// `localhost`, what is below it (RFC 6761 §6.3), and the addresses of this machine.
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
