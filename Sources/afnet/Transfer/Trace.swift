import AFURLSession
import Foundation
import Glibc

/// What `--verbose` tells: `>` was sent, `<` was received, `*` is said by us.
struct Trace {
    private let console: Console
    private let secrets: SecretText

    init(_ console: Console, _ secrets: SecretText) {
        self.console = console
        self.secrets = secrets
    }

    /// - Parameter length: of its body, as far as is known.
    func request(_ request: URLRequest, length: Int64) {
        for line in head(of: request, length) { console.say("> \(line)") }
        console.say(">")
    }

    /// The request of a task that got no answer, if it was sent at all.
    func request(_ metrics: URLSessionTaskMetrics) {
        guard let transaction = metrics.transactionMetrics.last, transaction.requestStartDate != nil else { return }
        request(transaction.request, length: transaction.countOfRequestBodyBytesSent)
    }

    func response(_ response: HTTPURLResponse) {
        console.say("< \(response.statusLine)")
        for field in response.headerFields {
            console.say("< \(field.name): \(secrets.value(field.value, of: field.name))")
        }
        console.say("<")
    }

    /// - Parameter server: who showed up, if it was asked about.
    func times(_ metrics: URLSessionTaskMetrics, _ server: ServerTrust?) {
        guard let transaction = metrics.transactionMetrics.last else { return }
        let report = TimingReport(transaction, server, total: metrics.taskInterval.duration)
        for line in report.lines { console.say("* \(line)") }
    }

    /// As the library puts it together: Host, the request's fields, framing.
    private func head(of request: URLRequest, _ length: Int64) -> [String] {
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

    /// What is said in another place, or is the connection's.
    private static let unsent: Set<String> = ["host", "transfer-encoding", "connection", "keep-alive", "te", "trailer"]

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

/// What is shown to people of requests and responses: secrets are `***`, unless they are wanted.
struct SecretText {
    let isShown: Bool
    private let mask = SecretMask()

    init(isShown: Bool = false) {
        self.isShown = isShown
    }

    /// The value of a header field.
    func value(_ value: String, of name: String) -> String { isShown ? value : mask.value(value, of: name) }

    /// The path and query of a request.
    func target(_ target: String) -> String {
        guard !isShown, let mark = target.firstIndex(of: "?") else { return target }
        return target[...mark] + mask.query(target[target.index(after: mark)...])
    }

    /// A URL as it was given, which may be none: without user name and password.
    static func withoutPassword(_ text: String) -> String {
        guard let slashes = text.range(of: "//") else { return text }
        let authority = text[slashes.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<slashes.upperBound] + text[text.index(after: at)...])
    }
}

/// The heads of all responses to one URL, for `--include` and `--dump-header`.
@MainActor final class HeadLog {
    private let path: String?
    /// Those that stand before the body.
    private(set) var text = ""

    init(_ path: String?) {
        self.path = path
    }

    func add(_ response: HTTPURLResponse) throws(TransferFailure) {
        let fields = response.headerFields.map { "\($0.name): \($0.value)" }
        let head = ([response.statusLine] + fields).joined(separator: "\r\n") + "\r\n\r\n"
        text += head
        guard let path else { return }
        do throws(SystemFailure) {
            try Descriptor.append(Data(head.utf8), to: path)
        } catch {
            throw TransferFailure(.cannotWrite, "--dump-header: cannot write \(path): \(error.text)")
        }
    }

    /// For a terminal, line by line.
    var harmlessText: String {
        text.components(separatedBy: "\r\n").map(TerminalText.escaped).joined(separator: "\r\n")
    }
}

extension HTTPURLResponse {
    /// The first line of the head, as the server sent it. The space behind the status is there also if no phrase follows
    /// (RFC 9112 §4); a response of the cache has none.
    var statusLine: String { "\(httpVersion) \(statusCode) \(reasonPhrase)" }
}
