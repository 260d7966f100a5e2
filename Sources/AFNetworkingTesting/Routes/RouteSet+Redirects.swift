public import Foundation

extension RouteSet {
    /// Redirects to this server.
    ///
    /// | route, every method | answer |
    /// |---|---|
    /// | `/redirect/N`, `/relative-redirect/N` | a redirect to `/redirect/N-1`, as a path |
    /// | `/absolute-redirect/N` | the same with the scheme and host of the request |
    /// | `/redirect/0` and the like | 200 with JSON of the request, as from `echo` |
    /// | `/redirect-to?url=U` | a redirect to exactly U |
    /// | `/redirect/loop` | a redirect to itself |
    /// | `/redirect/growing?…` | a redirect to itself with a longer query each time |
    ///
    /// All take `status_code=`, by default 302, and `body=N` for a body of N bytes, and pass both on along the chain.
    public static var redirects: RouteSet {
        RouteSet { server in
            server.route("*", "/redirect/loop") { Redirect.reply(to: $0.target, for: $0) }
            server.route("*", "/redirect/growing") { request in
                Redirect.reply(to: request.path + "?" + (request.query ?? "n") + "+", for: request)
            }
            server.route("*", "/redirect-to") { request in
                guard let url = request.argument("url") else { return .misuse("?url=") }
                return Redirect.reply(to: url, for: request)
            }
            for (path, isAbsolute) in [("redirect", false), ("relative-redirect", false), ("absolute-redirect", true)] {
                server.route("*", "/\(path)/:count") { request in
                    guard let count = request.countInPath("count") else { return .misuse("/\(path)/NUMBER") }
                    guard count > 0 else { return .json(Echo.of(request)) }
                    let query = request.query.map { "?" + $0 } ?? ""
                    let next = "/\(path)/\(count - 1)\(query)"
                    return Redirect.reply(to: isAbsolute ? request.origin + next : next, for: request)
                }
            }
        }
    }

    /// Redirects over several origins, in the order that the path of the request gives.
    ///
    /// `/chain/1/0/2` redirects to `/chain/0/2` of the second origin, which redirects to `/chain/2` of the first, and
    /// so on. `/chain` answers 200 with JSON of the request. Install the set on all servers:
    ///
    /// ```swift
    /// let servers = try (0..<3).map { _ in try TestServer() }
    /// for server in servers { server.install(.redirects(over: servers.map { $0.url() })) }
    /// // a → b → a again
    /// let url = servers[0].url("/chain/1/0")
    /// ```
    ///
    /// - Parameter origins: URLs with the scheme, host and port of each server; the rest of the URLs does not count. A
    ///   host may be a name if the client knows its address.
    public static func redirects(over origins: [URL]) -> RouteSet {
        let prefixes = origins.map(Redirect.origin)
        return RouteSet { server in
            server.route("*", "/chain") { .json(Echo.of($0)) }
            server.route("*", "/chain/*") { request in
                let hops = (request.parameters["*"] ?? "").split(separator: "/").map(String.init)
                guard let first = hops.first.flatMap(DecimalText.count), prefixes.indices.contains(first) else {
                    return .misuse("/chain/ and numbers below \(prefixes.count), with slashes between them")
                }
                let query = request.query.map { "?" + $0 } ?? ""
                let rest = hops.dropFirst().map { "/" + $0 }.joined()
                return Redirect.reply(to: prefixes[first] + "/chain" + rest + query, for: request)
            }
        }
    }
}
