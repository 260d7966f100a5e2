import FoundationEssentials

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
    fileprivate let register: @Sendable (TestServer) -> Void

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
        RouteSet(
            .redirects,
            .authentication,
            .cookies,
            .caching,
            .ranges,
            .compression,
            .slowness,
            .bytes,
            .events,
            .webSockets,
            .echo
        )
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
        for set in sets { set.register(self) }
    }
}

// MARK: - Requests and replies of ready-made routes

extension RecordedRequest {
    /// The first query item of that name, percent-decoded.
    func argument(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// A number in the query, 0 or more.
    func count(_ name: String) -> Int? {
        argument(name).flatMap(DecimalText.count)
    }

    /// A number of seconds in the query, such as `0.25`.
    func duration(_ name: String) -> Duration? {
        argument(name).flatMap(DecimalText.duration)
    }

    /// A number that a `:name` of the pattern stands for, 0 or more.
    func countInPath(_ name: String) -> Int? {
        parameters[name].flatMap(DecimalText.count)
    }

    /// Scheme and authority of this server as the client sent them.
    var origin: String {
        (isSecure ? "https" : "http") + "://" + (headers["Host"] ?? "localhost")
    }

    /// The whole URL that the client asked for.
    var absoluteTarget: String {
        target.utf8.first == UInt8(ascii: "/") ? origin + target : target
    }
}

extension ServerReply {
    /// The answer to a malformed request for a ready-made route.
    static func misuse(_ what: String) -> ServerReply {
        .text("this route wants \(what)\n").status(400)
    }

    /// A JSON document of a ready-made route.
    static func json(_ value: JSONDocument) -> ServerReply {
        .json(value.text + "\n")
    }
}
