import AFURLSession
import Foundation
import Glibc

/// The lines of `--verbose`: `>` was sent, `<` was received, `*` is a note of afnet.
struct Trace {
    private let console: Console
    private let secrets: SecretText

    init(_ console: Console, secrets: SecretText) {
        self.console = console
        self.secrets = secrets
    }

    /// - Parameter length: The length of the body, if it is known.
    func request(_ request: URLRequest, length: Int64) {
        for line in head(of: request, length: length) { console.say("> \(line)") }
        console.say(">")
    }

    /// The request of a task without a response, if it was sent.
    func request(_ metrics: URLSessionTaskMetrics) {
        guard let transaction = metrics.transactionMetrics.last, transaction.requestStartDate != nil else { return }
        request(transaction.request, length: transaction.countOfRequestBodyBytesSent)
    }

    func response(_ response: HTTPURLResponse) {
        for line in head(of: response) { console.say("< \(line)") }
        console.say("<")
    }

    func head(of response: HTTPURLResponse) -> [String] {
        [response.statusLine]
            + response.headerFields.map { "\($0.name): \(secrets.value($0.value, of: $0.name))" }
    }

    /// - Parameter server: The server, if its trust was evaluated.
    func times(_ metrics: URLSessionTaskMetrics, server: ServerTrust?) {
        guard let transaction = metrics.transactionMetrics.last else { return }
        let report = TimingReport(transaction, server: server, total: metrics.taskInterval.duration)
        for line in report.lines { console.say("* \(line)") }
    }

    /// The head as the library sends it: Host, the request's fields, framing.
    func head(of request: URLRequest, length: Int64) -> [String] {
        let (host, target) = Self.parts(of: request.url?.absoluteString ?? "")
        let version = request.usesHTTP10 ? "1.0" : "1.1"
        var lines = ["\(request.httpMethod ?? "GET") \(secrets.target(target)) HTTP/\(version)"]
        lines.append("Host: \(request.value(forHTTPHeaderField: "Host") ?? host)")
        for field in request.headerFields where !Self.unsent.contains(field.name.lowercased()) {
            lines.append("\(field.name): \(secrets.value(field.value, of: field.name))")
        }
        let isAnnounced = request.httpBodyStream != nil && request.value(forHTTPHeaderField: "Content-Length") != nil
        if let body = request.httpBody {
            lines.append("Content-Length: \(body.count)")
        } else if request.httpBodyStream != nil {
            if !isAnnounced { lines.append("Transfer-Encoding: chunked") }
        } else if length > 0, !isAnnounced {
            lines.append("Content-Length: \(length)")
        }
        return lines
    }

    /// Fields that have lines elsewhere, or belong to the connection.
    private static let unsent: Set<String> = ["host", "transfer-encoding", "connection", "keep-alive", "te", "trailer"]

    /// Host and target of a URL that was sent and is therefore valid.
    private static func parts(of url: String) -> (host: String, target: String) {
        let rest = url.prefix { $0 != "#" }.drop { $0 != "/" }.dropFirst(2)
        var host = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest.dropFirst(host.count)
        let port = url.lowercased().hasPrefix("https:") ? ":443" : ":80"
        if host.hasSuffix(port) { host.removeLast(port.count) }
        return (String(host), target.hasPrefix("/") ? String(target) : "/\(target)")
    }
}

extension HTTPURLResponse {
    /// The status line. The space after the status is there even without a reason phrase (RFC 9112 §4). A response of
    /// the cache has no phrase.
    var statusLine: String { "\(httpVersion) \(statusCode) \(reasonPhrase)" }
}
