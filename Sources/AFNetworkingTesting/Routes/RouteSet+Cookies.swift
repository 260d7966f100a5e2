import FoundationEssentials

extension RouteSet {
    /// Cookies.
    ///
    /// | route | answer |
    /// |---|---|
    /// | `/cookies` | JSON of the cookies of the request |
    /// | `/cookies/set?a=1&b=2`, `/cookies/set/NAME/VALUE` | sets them for `/`, and redirects to `/cookies` |
    /// | `/cookies/delete?a&b` | deletes them, and redirects to `/cookies` |
    /// | `/cookies/raw?line=…&line=…` | 200 with exactly these `Set-Cookie` fields |
    ///
    /// Use `raw` for attributes, and percent-encode characters that a query may not have. It also takes `status_code=`
    /// and, with a 3xx, `url=`:
    ///
    /// ```swift
    /// let url = server.url("/cookies/raw?line=a=1%3B%20Path=/deep%3B%20HttpOnly")
    /// ```
    public static var cookies: RouteSet {
        RouteSet { server in
            server.route("GET", "/cookies") { request in
                .json(.object([("cookies", .grouped(cookiePairs(of: request)))]))
            }
            server.route("GET", "/cookies/set") { request in
                settingCookies(request.queryItems.map { "\($0.name)=\($0.value ?? ""); Path=/" })
            }
            server.route("GET", "/cookies/set/:name/:value") { request in
                let (name, value) = (request.parameters["name"] ?? "", request.parameters["value"] ?? "")
                return settingCookies(["\(name)=\(value); Path=/"])
            }
            server.route("GET", "/cookies/delete") { request in
                settingCookies(
                    request.queryItems.map {
                        "\($0.name)=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0"
                    }
                )
            }
            server.route("*", "/cookies/raw") { request in
                let status = request.argument("status_code").map { DecimalText.count($0) ?? 0 } ?? 200
                guard (200...999).contains(status) else { return .misuse("a status_code from 200 to 999") }
                var reply = ServerReply(status: status)
                reply.headers["Location"] = request.argument("url")
                for item in request.queryItems where item.name == "line" {
                    reply.headers.append("Set-Cookie", item.value ?? "")
                }
                return reply
            }
        }
    }

    private static func settingCookies(_ lines: [String]) -> ServerReply {
        lines.reduce(ServerReply(status: 302).header("Location", "/cookies")) { $0.header("Set-Cookie", $1) }
    }

    private static func cookiePairs(of request: RecordedRequest) -> [(name: String, value: String)] {
        request.headers.values(of: "Cookie")
            .flatMap { Array($0.utf8).split(separator: UInt8(ascii: ";")) }
            .map { pair in
                let trimmed = pair.trimmed
                let parts = trimmed.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                let texts = parts.map { String(decoding: $0, as: UTF8.self) }
                return (texts.first ?? "", texts.count > 1 ? texts[1] : "")
            }
    }
}
