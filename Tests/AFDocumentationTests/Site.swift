import AFNetworking
import AFNetworkingTesting
import Foundation

/// A server with ready-made routes for the snippets of one article, and sessions that end with it.
final class Site: Sendable {
    let server: TestServer
    let authority: CertificateAuthority?
    private let ends = Notes<@Sendable () -> Void>()

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

/// What callbacks said, in order.
final class Notes<Element: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []

    var all: [Element] { lock.withLock { elements } }

    func add(_ element: Element) {
        lock.withLock { elements.append(element) }
    }

    /// Waits until there are so many, a minute at most.
    @discardableResult
    func wait(for count: Int = 1) async throws -> [Element] {
        try await eventually { all.count >= count }
        return all
    }
}

struct WaitedInVain: Error {}

/// Returns when the condition holds; throws after a minute.
func eventually(_ condition: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
        guard ContinuousClock.now < end else { throw WaitedInVain() }
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// A folder that goes away with the value.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("pages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func file(_ name: String, holding text: String) throws -> URL {
        let file = url.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        return file
    }
}
