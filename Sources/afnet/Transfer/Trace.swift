import AFURLSession
import Foundation

/// What `--verbose` tells: `>` was sent, `<` was received, `*` is said by us.
struct Trace {
    private let console: Console

    init(_ console: Console) {
        self.console = console
    }

    /// - Parameter length: of its body, as far as is known.
    func request(_ request: URLRequest, length: Int64) {
        for line in Self.head(of: request, length) { console.say("> \(line)") }
        console.say(">")
    }

    /// The request of a task that got no answer, if it was sent at all.
    func request(_ metrics: URLSessionTaskMetrics) {
        guard let transaction = metrics.transactionMetrics.last, transaction.requestStartDate != nil else { return }
        request(transaction.request, length: transaction.countOfRequestBodyBytesSent)
    }

    func response(_ response: HTTPURLResponse) {
        let phrase = HTTPURLResponse.localizedString(forStatusCode: response.statusCode)
        console.say("< \(response.statusCode) (\(phrase))")
        for field in response.headerFields { console.say("< \(field.name): \(field.value)") }
        console.say("<")
    }

    /// - Parameter server: who showed up, if it was asked about.
    func times(_ metrics: URLSessionTaskMetrics, _ server: ServerTrust?) {
        guard let transaction = metrics.transactionMetrics.last else { return }
        let report = TimingReport(transaction, server, total: metrics.taskInterval.duration)
        for line in report.lines { console.say("* \(line)") }
    }

    /// As the library puts it together: Host, the request's fields, those of the session it lacks, framing.
    private static func head(of request: URLRequest, _ length: Int64) -> [String] {
        let (host, target) = parts(of: request.url?.absoluteString ?? "")
        let given = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        let defaults = Arguments.sessionFields.filter { request.value(forHTTPHeaderField: $0.0) == nil }
        var lines = ["\(request.httpMethod ?? "GET") \(target) HTTP/1.1"]
        lines.append("Host: \(request.value(forHTTPHeaderField: "Host") ?? host)")
        lines += given.filter { $0.key.lowercased() != "host" }.map { "\($0.key): \($0.value)" }
        lines += defaults.map { "\($0.0): \($0.1)" }
        let isAnnounced = request.value(forHTTPHeaderField: "Content-Length") != nil
        if let body = request.httpBody {
            lines.append("Content-Length: \(body.count)")
        } else if request.httpBodyStream != nil {
            if !isAnnounced { lines.append("Transfer-Encoding: chunked") }
        } else if length > 0, !isAnnounced {
            lines.append("Content-Length: \(length)")
        }
        return lines
    }

    /// Of a URL that was sent, so there is nothing left in it to refuse.
    private static func parts(of url: String) -> (host: String, target: String) {
        let rest = url.prefix { $0 != "#" }.drop { $0 != "/" }.dropFirst(2)
        var host = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest.dropFirst(host.count)
        let port = url.lowercased().hasPrefix("https:") ? ":443" : ":80"
        if host.hasSuffix(port) { host.removeLast(port.count) }
        return (String(host), target.hasPrefix("/") ? String(target) : "/\(target)")
    }
}
