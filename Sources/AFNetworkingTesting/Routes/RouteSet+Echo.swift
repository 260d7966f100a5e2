import FoundationEssentials

extension RouteSet {
    /// Routes that answer with the request.
    ///
    /// | route | answer |
    /// |---|---|
    /// | `/anything`, `/anything/…`, every method | JSON of the request |
    /// | `/get`, `/post`, `/put`, `/patch`, `/delete`, of the method they are named after | the same |
    /// | `/headers`, `/user-agent` | the header fields, or that one |
    /// | `/response-headers?Name=value&…` | the query as header fields of the reply, in order |
    /// | `/status/CODE`, every method | that status; with `/status/503,503,200` one after the other, the last repeats |
    ///
    /// The JSON has `args`, `data`, `files`, `form`, `headers`, `json`, `method` and `url`. A name that
    /// occurs several times has an array. Bytes that are not UTF-8 become a `data:` URL in base64. `json` is
    /// the body unchanged if it is JSON that Foundation reads, null if not.
    public static var echo: RouteSet {
        RouteSet { server in
            for pattern in ["/anything", "/anything/*"] { server.route("*", pattern) { .json(Echo.of($0)) } }
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
                server.route(method, "/" + method.lowercased()) { .json(Echo.of($0)) }
            }
            server.route("GET", "/headers") { .json(.object([("headers", Echo.headers(of: $0))])) }
            server.route("GET", "/user-agent") { request in
                .json(.object([("user-agent", request.headers["User-Agent"].map { .string($0) } ?? .null)]))
            }
            server.route("*", "/response-headers") { request in
                let fields = request.queryItems.map { HeaderFields.Field(name: $0.name, value: $0.value ?? "") }
                return .json(Echo.arguments(of: request)).replacing(fields)
            }
            installStatuses(on: server)
        }
    }

    private static func installStatuses(on server: TestServer) {
        let turns = Lock<[String: Int]>([:])
        server.route("*", "/status/:codes") { request in
            let list = request.parameters["codes"] ?? ""
            let codes = list.split(separator: ",").compactMap { DecimalText.count(String($0)) }
            guard !codes.isEmpty, codes.allSatisfy({ (200...999).contains($0) }) else {
                return .misuse("statuses from 200 to 999, with commas between them")
            }
            let turn = turns.change { turns in
                defer { turns[list, default: 0] += 1 }
                return turns[list, default: 0]
            }
            return .status(codes[min(turn, codes.count - 1)])
        }
    }
}

extension ServerReply {
    /// With these header fields in place of those with the same names.
    func replacing(_ fields: [HeaderFields.Field]) -> ServerReply {
        changed { reply in
            for field in fields { reply.headers[field.name] = nil }
            for field in fields { reply.headers.append(field.name, field.value) }
        }
    }
}
