import Foundation

enum Redirect {
    static func reply(to location: String, for request: RecordedRequest) -> ServerReply {
        let status = request.argument("status_code").map { DecimalText.count($0) ?? 0 } ?? 302
        guard (200...999).contains(status) else { return .misuse("a status_code from 200 to 999") }
        let body = request.count("body") ?? 0
        var reply = ServerReply(status: status).header("Location", location)
        if body > 0 {
            reply.body = .repeating("the body of a redirect\n", count: body)
            reply.headers["Content-Type"] = "text/plain"
        }
        return reply
    }

    /// Scheme, host and port of a URL.
    static func origin(_ url: URL) -> String {
        var components = URLComponents()
        components.scheme = url.scheme
        components.percentEncodedHost = url.host(percentEncoded: true)
        components.port = url.port
        return components.string ?? url.absoluteString
    }
}
