import AFWire
import Foundation

extension RouteSet {
    /// Answers for caches, with the `Date` of the wall clock.
    public static var caching: RouteSet { caching { Int64(Date().timeIntervalSince1970) } }

    /// Answers for caches.
    ///
    /// | route | answer |
    /// |---|---|
    /// | `/cache` | `ETag` and `Last-Modified`; 304 to any condition |
    /// | `/cache/N` | fresh for N seconds, by `Cache-Control` |
    /// | `/expires/N` | fresh for N seconds, by `Expires`; `/expires/-1` is stale |
    /// | `/etag/TAG` | this tag: 304 to `If-None-Match`, 412 to `If-Match` of other tags; `weak=1` for a weak tag |
    /// | `/last-modified/T` | T seconds since 1970: 304 to `If-Modified-Since`, 412 to `If-Unmodified-Since` |
    /// | `/vary/NAME,NAME` | `Vary` with these fields, and their values in the body |
    ///
    /// Each answer has a `Date`, and JSON with a `visit`, which counts the answers with a body for each path: the same
    /// number twice means that a cache kept the answer. All take `control=` for another `Cache-Control`, and `age=` for
    /// an `Age`.
    ///
    /// - Parameter now: The time in seconds since 1970, asked for each answer. No other part of the server uses the
    ///   time of day.
    public static func caching(at now: @escaping @Sendable () -> Int64) -> RouteSet {
        RouteSet { server in
            let answers = CacheableAnswers(now: now)
            server.route("GET", "/cache") { answers.answer(to: $0, with: CacheableAnswers.Item(isAlwaysSame: true)) }
            server.route("GET", "/cache/:seconds") { request in
                guard let seconds = request.countInPath("seconds") else { return .misuse("/cache/SECONDS") }
                return answers.answer(to: request, with: .init(fields: ["Cache-Control": "public, max-age=\(seconds)"]))
            }
            server.route("GET", "/expires/:seconds") { request in
                guard let seconds = request.parameters["seconds"].flatMap({ Int32($0) }) else {
                    return .misuse("/expires/SECONDS")
                }
                return answers.answer(to: request, with: .init(lifetime: Int64(seconds)))
            }
            server.route("GET", "/etag/:tag") { request in
                let tag = DigestRules.quoted(request.parameters["tag"] ?? "")
                return answers.answer(to: request, with: .init(tag: request.argument("weak") == "1" ? "W/" + tag : tag))
            }
            server.route("GET", "/last-modified/:time") { request in
                guard let time = request.countInPath("time"), time < 253_402_300_800 else {
                    return .misuse("/last-modified/SECONDS before the year 10000")
                }
                return answers.answer(to: request, with: .init(modified: Int64(time)))
            }
            server.route("GET", "/vary/:names") { request in
                answers.answer(to: request, with: .init(fields: ["Vary": request.parameters["names"] ?? ""]))
            }
        }
    }
}

/// Makes the answers, and counts them.
private final class CacheableAnswers: Sendable {
    struct Item: Sendable {
        var tag: String?
        var modified: Int64?
        var lifetime: Int64?
        var fields: HeaderFields = [:]
        /// Whether every condition is met.
        var isAlwaysSame = false
    }

    private let now: @Sendable () -> Int64
    private let visits = Lock<[String: Int]>([:])

    init(now: @escaping @Sendable () -> Int64) {
        self.now = now
    }

    func answer(to request: RecordedRequest, with wanted: Item) -> ServerReply {
        var item = wanted
        if item.isAlwaysSame { (item.tag, item.modified) = ("\"the same\"", 784_111_777) }
        let fields = fields(of: item, for: request)
        if let status = Self.status(of: item, for: request) { return .status(status).headers(fields) }
        let visit = visits.change { visits in
            visits[request.path, default: 0] += 1
            return visits[request.path, default: 0]
        }
        let names = (item.fields["Vary"] ?? "").split(separator: ",").map { $0.filter { $0 != " " } }
        let values = names.map { ($0, request.headers[$0].map { JSONDocument.string($0) } ?? .null) }
        let content = JSONDocument.object([("visit", .number(visit)), ("varied", .object(values))])
        return .json(content).headers(fields)
    }

    private func fields(of item: Item, for request: RecordedRequest) -> HeaderFields {
        let now = now()
        var fields = item.fields
        fields.append("Date", HTTPDate.text(now))
        if let tag = item.tag { fields.append("ETag", tag) }
        if let modified = item.modified { fields.append("Last-Modified", HTTPDate.text(modified)) }
        if let lifetime = item.lifetime { fields.append("Expires", HTTPDate.text(now + lifetime)) }
        if let control = request.argument("control") { fields["Cache-Control"] = control }
        if let age = request.argument("age") { fields.append("Age", age) }
        return fields
    }

    /// The status by RFC 9110 section 13.2.2. Nil if the conditions ask for the body.
    private static func status(of item: Item, for request: RecordedRequest) -> Int? {
        let headers = request.headers
        if item.isAlwaysSame {
            return headers["If-None-Match"] != nil || headers["If-Modified-Since"] != nil ? 304 : nil
        }
        if let tag = item.tag {
            if let list = headers.list("If-Match"), !EntityTag.isAny(list, like: tag, strongly: true) { return 412 }
            if let list = headers.list("If-None-Match") {
                return EntityTag.isAny(list, like: tag, strongly: false) ? 304 : nil
            }
        }
        guard let modified = item.modified else { return nil }
        if let limit = headers["If-Unmodified-Since"].flatMap({ HTTPDate.seconds($0) }), modified > limit { return 412 }
        if let limit = headers["If-Modified-Since"].flatMap({ HTTPDate.seconds($0) }), modified <= limit { return 304 }
        return nil
    }
}

/// Entity tags (RFC 9110 section 8.8.3).
enum EntityTag {
    /// - Parameter list: The value of a condition: tags, or `*`.
    static func isAny(_ list: String, like tag: String, strongly: Bool) -> Bool {
        if list == "*" { return true }
        return tags(in: list).contains { other in
            strongly ? other == tag && !other.hasPrefix("W/") : opaque(other) == opaque(tag)
        }
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// Cuts at commas outside of quotes.
    private static func tags(in list: String) -> [String] {
        var isQuoted = false
        let parts = Array(list.utf8).split { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        return parts.map { String(decoding: $0.trimmed, as: UTF8.self) }
    }
}

extension HeaderFields {
    /// All values of that name as one list; nil if there is none.
    fileprivate func list(_ name: String) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
