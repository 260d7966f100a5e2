import AFNetworking
import AFNetworkingTesting
import Foundation

/// A server with ready-made routes for the snippets of one article, and sessions that end with it.
final class Site: Sendable {
    let server: TestServer
    let authority: CertificateAuthority?
    private let ends = Heard<@Sendable () -> Void>()

    init(tls: Bool = false) throws {
        if tls {
            let authority = try CertificateAuthority()
            self.authority = authority
            server = try TestServer(tls: ServerTLS(try authority.issue(for: "localhost", "127.0.0.1")))
        } else {
            authority = nil
            server = try TestServer()
        }
        server.install(.everything)
    }

    deinit {
        for end in ends.all { end() }
        server.stop()
    }

    var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        if let authority { configuration.tls.anchors = .certificates([authority.certificate]) }
        return configuration
    }

    var session: URLSession { owned(URLSession(configuration: configuration)) }

    var manager: HTTPSessionManager {
        owned(HTTPSessionManager(baseURL: url("/"), sessionConfiguration: configuration))
    }

    func url(_ path: String) -> URL { server.url(path, host: authority == nil ? nil : "localhost") }

    /// The session itself; it ends with the site.
    func owned(_ session: URLSession) -> URLSession {
        ends.add { session.invalidateAndCancel() }
        return session
    }

    /// The manager itself; its session ends with the site.
    func owned<Manager: URLSessionManager>(_ manager: Manager) -> Manager {
        ends.add { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
        return manager
    }
}
