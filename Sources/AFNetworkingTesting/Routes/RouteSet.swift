/// Ready-made routes that many tests need, installed with one call.
///
/// ```swift
/// let server = try TestServer()
/// server.install(.redirects, .cookies)
/// let (data, _) = try await session.data(from: server.url("/redirect/3"))
/// ```
///
/// Each set works alone, and keeps its state (nonces, counters) for one installation on one server. A route of your
/// own has precedence if you register it before. One with the same method and pattern that you register afterwards
/// replaces the ready-made route.
///
/// A set of your own is a closure that registers routes:
///
/// ```swift
/// let users = RouteSet { $0.route("GET", "/users/:id") { .text($0.parameters["id"] ?? "") } }
/// server.install(.echo, users)
/// ```
public struct RouteSet: Sendable {
    private let register: @Sendable (TestServer) -> Void

    /// Makes a set from a closure that registers its routes. Each installation calls it once.
    public init(_ register: @escaping @Sendable (_ server: TestServer) -> Void) {
        self.register = register
    }

    /// Makes a set of several, installed in this order.
    public init(_ sets: RouteSet...) {
        register = { server in
            for set in sets { set.register(server) }
        }
    }

    /// Every ready-made set.
    public static var everything: RouteSet {
        RouteSet(.redirects, .authentication, .cookies, .caching, .ranges, .compression, .slowness, .bytes, .echo)
    }

    fileprivate func install(on server: TestServer) {
        register(server)
    }
}

extension TestServer {
    /// Registers ready-made routes.
    ///
    /// ```swift
    /// server.install(.everything)
    /// server.install(.digestAuthentication, .ranges)
    /// ```
    public func install(_ sets: RouteSet...) {
        for set in sets { set.install(on: self) }
    }
}
