import AFNetworkingTesting
import AFTLS
import AFTestSupport
import AFURLSession
import AFVirtualWorld
import Foundation
import Testing

/// Requests through proxies, in a world of their own.
enum ProxyTests {}

/// A virtual world with a proxy at `proxy.test`, which plays one script per connection, and the last one on all further
/// ones. A connection past the proxy is `log`ged as well, by the name of `direct`.
final class ProxyBench {
    typealias Stage = LayeredServer.Stage

    let world = VirtualWorld()
    let log = LayeredServer.Log()
    let direct = LayeredServer.Log()

    static let granted = "HTTP/1.1 200 OK\r\n\r\n"

    /// - Parameters:
    ///   - url: The proxy for everything.
    ///   - change: What else the configuration says.
    init(_ url: String, _ change: (inout ProxyConfiguration) throws -> Void = { _ in }) throws {
        var proxies = ProxyConfiguration(try ProxyServer(url))
        try change(&proxies)
        world.configure { [proxies] in $0.proxies = proxies }
    }

    init(_ configure: (URLSessionConfiguration) -> Void) {
        world.configure(configure)
    }

    func proxy(_ stages: Stage..., host: String = "proxy.test", port: UInt16 = 3128) {
        proxy(scripts: [stages], host: host, port: port)
    }

    func proxy(scripts: [[Stage]], host: String = "proxy.test", port: UInt16 = 3128, log: LayeredServer.Log? = nil) {
        var next = 0
        let log = log ?? self.log
        world.serve(host, port: port) {
            defer { next += 1 }
            return LayeredServer(scripts[min(next, scripts.count - 1)], log)
        }
    }

    /// A server that is there to be reached without a proxy.
    func serveDirectly(_ host: String, port: UInt16 = 80) {
        let log = direct
        world.serve(host, port: port) { LayeredServer([.echo], log) }
    }

    func send(_ url: String, fields: [String: String] = [:]) -> TaskEvents {
        let events = world.send("GET", url, fields: fields)
        world.run { events.isComplete }
        return events
    }

    /// Where connections led, in order.
    var hosts: [String] { world.network.connections.map(\.host) }

    func finish() -> [String] { world.finish() }
}

extension TaskEvents {
    var failure: LoadFailure? { error?.loadFailure }
    var isRefusedByProxy: Bool { failure?.reason == .proxy && failure?.phase == .proxy }
}

/// A server that speaks TLS in memory, and the authority that vouches for it.
struct MemorySite {
    let authority: CertificateAuthority
    let issued: IssuedCertificate
    let context: MemoryServer.Context

    init(_ host: String, _ version: TLSVersion = .v1_3, tickets: Int32 = 0, by authority: CertificateAuthority? = nil)
        throws
    {
        let authority = try authority ?? CertificateAuthority()
        try self.init(try authority.issue(for: host), version, tickets: tickets, by: authority)
    }

    init(
        _ issued: IssuedCertificate,
        _ version: TLSVersion = .v1_3,
        tickets: Int32 = 0,
        by authority: CertificateAuthority
    ) throws {
        self.authority = authority
        self.issued = issued
        context = try MemoryServer.Context(issued, version, tickets: tickets)
    }

    var tls: TLSConfiguration {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority.certificate])
        return tls
    }
}

/// What Basic authentication sends.
enum HTTPBasic {
    static func value(_ user: String, _ password: String) -> String {
        "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
    }
}
