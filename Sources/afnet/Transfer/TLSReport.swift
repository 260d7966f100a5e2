import AFURLSession
import Foundation

/// How a connection is secured, and who is at the other end.
struct TLSReport {
    /// None for plain http.
    let lines: [String]

    init(_ transaction: URLSessionTaskTransactionMetrics, _ server: ServerTrust?) {
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
        lines = [words.joined(separator: ", ")] + (server.map(Self.certificate) ?? [])
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
