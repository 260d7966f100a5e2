import AFURLSession
import Foundation

/// The connection of a transfer, and a table of its phases.
struct TimingReport {
    let lines: [String]

    init(_ transaction: URLSessionTaskTransactionMetrics, server: ServerTrust?, total: TimeInterval) {
        let start = transaction.fetchStartDate
        func row(_ name: String, from begin: Date?, to end: Date?) -> String {
            guard let start, let begin, let end else { return Self.row(name, took: "-", done: "-") }
            return Self.row(
                name,
                took: Self.text(end.timeIntervalSince(begin)),
                done: Self.text(end.timeIntervalSince(start))
            )
        }
        // For https, `connectEndDate` is the end of the TLS handshake.
        let secured = transaction.secureConnectionStartDate
        let isSecured = transaction.request.url?.scheme?.lowercased() == "https"
        var lines = [Self.connection(transaction)] + TLSReport(transaction, server: server).lines
        lines += [
            Self.row("", took: "took", done: "done at"),
            row("name lookup", from: transaction.domainLookupStartDate, to: transaction.domainLookupEndDate),
            row("connect", from: transaction.connectStartDate, to: secured ?? transaction.connectEndDate),
        ]
        if isSecured { lines.append(row("tls", from: secured, to: transaction.secureConnectionEndDate)) }
        lines += [
            row("request sent", from: transaction.requestStartDate, to: transaction.requestEndDate),
            row("first byte", from: transaction.requestEndDate, to: transaction.responseStartDate),
            row("body", from: transaction.responseStartDate, to: transaction.responseEndDate),
            Self.row("total", took: "", done: Self.text(total)),
            Self.sizes(transaction),
        ]
        self.lines = lines
    }

    private static func row(_ name: String, took: String, done: String) -> String {
        "  " + pad(name, to: 14, left: false) + pad(took, to: 12) + pad(done, to: 12)
    }

    private static func pad(_ text: String, to width: Int, left: Bool = true) -> String {
        let blanks = String(repeating: " ", count: max(0, width - text.count))
        return left ? blanks + text : text + blanks
    }

    static func text(_ seconds: TimeInterval) -> String {
        seconds < 10 ? String(format: "%.2f ms", seconds * 1000) : String(format: "%.2f s", seconds)
    }

    private static func connection(_ transaction: URLSessionTaskTransactionMetrics) -> String {
        guard let remote = address(transaction.remoteAddress, port: transaction.remotePort) else {
            return "no connection"
        }
        let local = address(transaction.localAddress, port: transaction.localPort).map { ", from \($0)" } ?? ""
        return "\(transaction.isReusedConnection ? "reused" : "new") connection to \(remote)\(local)"
    }

    private static func address(_ host: String?, port: Int?) -> String? {
        guard let host, !host.isEmpty else { return nil }
        guard let port else { return host }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static func sizes(_ transaction: URLSessionTaskTransactionMetrics) -> String {
        let sent = (transaction.countOfRequestHeaderBytesSent, transaction.countOfRequestBodyBytesSent)
        let received = (transaction.countOfResponseHeaderBytesReceived, transaction.countOfResponseBodyBytesReceived)
        return "sent \(sent.0) bytes of head and \(sent.1) of body, received \(received.0) and \(received.1)"
    }
}

/// The TLS version, suite and certificate of a connection.
struct TLSReport {
    /// Empty for plain http.
    let lines: [String]

    init(_ transaction: URLSessionTaskTransactionMetrics, server: ServerTrust?) {
        guard let version = transaction.negotiatedTLSProtocolVersion else {
            lines = []
            return
        }
        var words = [Self.name(of: version)]
        if let suite = transaction.negotiatedTLSCipherSuite { words.append("TLS_\(suite)") }
        if let start = transaction.secureConnectionStartDate, let end = transaction.secureConnectionEndDate {
            words.append(transaction.isResumedTLSSession ? "resumed handshake" : "new handshake")
            words.append(TimingReport.text(end.timeIntervalSince(start)))
        }
        let judged = transaction.isReusedConnection ? nil : server
        lines =
            [words.joined(separator: ", ")] + (judged.map(Self.certificate) ?? [])
            + transaction.toleratedAuthorityFlaws.map { "  tolerated: \($0.message)" }
    }

    static func name(of version: tls_protocol_version_t) -> String {
        switch version {
        case .TLSv10: "TLS 1.0"
        case .TLSv11: "TLS 1.1"
        case .TLSv12: "TLS 1.2"
        case .TLSv13: "TLS 1.3"
        case .DTLSv10, .DTLSv12: "DTLS"
        }
    }

    private static func certificate(of server: ServerTrust) -> [String] {
        guard let certificate = server.servedChain.first else { return [] }
        let text = CertificateText.lines(certificate)
        var lines = ["certificate \(text[0])"] + text.dropFirst().map { "  \($0)" }
        if let failure = server.evaluation.failure { lines.append("  not trusted: \(failure.message)") }
        return lines
    }
}
