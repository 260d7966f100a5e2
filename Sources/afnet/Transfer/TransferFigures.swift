import AFURLSession
import Foundation

/// What is known of one URL when it is over, in curl's words and units.
struct TransferFigures {
    /// Values by curl's names, as text; numbers have no quotes in JSON.
    enum Value {
        case text(String)
        case number(String)
        /// Three digits, as text.
        case status(Int)
        /// There is none.
        case missing

        var text: String {
            switch self {
            case .text(let text), .number(let text): text
            case .status(let status): String(format: "%03d", status)
            case .missing: ""
            }
        }
    }

    private let result: TransferResult

    init(_ result: TransferResult) {
        self.result = result
    }

    var exitCode: ExitCode { result.code }
    var response: HTTPURLResponse? { result.response }
    private var request: URLRequest? { result.request }
    private var metrics: URLSessionTaskMetrics? { result.metrics }

    /// The names that there are, in the order of the help.
    static var names: [String] { table.map(\.name) }

    static func value(named name: String) -> ((TransferFigures) -> Value)? {
        table.first { $0.name == name }?.value
    }

    /// All of them, as one line of JSON.
    var json: String {
        let items = Self.table.map { "\"\($0.name)\":\(Self.json($0.value(self)))" }
        return "{\(items.joined(separator: ","))}"
    }

    /// The fields of the response: names in lower case, values in the order received.
    var headerJSON: String {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for field in response?.headerFields ?? [] {
            let name = field.name.lowercased()
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(Self.quoted(field.value))
        }
        let items = names.map { "\(Self.quoted($0)):[\((values[$0] ?? []).joined(separator: ","))]" }
        return "{\(items.joined(separator: ","))}"
    }

    private static func json(_ value: Value) -> String {
        switch value {
        case .text(let text): quoted(text)
        case .number(let text): text
        case .status(let status): "\(status)"
        case .missing: "null"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += String(format: "\\u%04x", Int(scalar.value))
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

// MARK: - The names

extension TransferFigures {
    private static let table: [(name: String, value: @Sendable (TransferFigures) -> Value)] = [
        ("content_type", { text($0.response?.value(forHTTPHeaderField: "Content-Type")) }),
        ("errormsg", { text($0.result.failure?.message) }),
        ("exitcode", { number(Int64($0.exitCode.rawValue)) }),
        ("filename_effective", { text($0.result.file) }),
        ("http_code", { .status($0.response?.statusCode ?? 0) }),
        ("http_version", { text($0.last?.networkProtocolName.map { String($0.dropFirst(5)) } ?? "0") }),
        ("local_ip", { text($0.last?.localAddress) }),
        ("local_port", { number(Int64($0.last?.localPort ?? 0)) }),
        ("method", { text($0.request?.httpMethod ?? "GET") }),
        ("num_connects", { number(Int64($0.result.connectionsMade)) }),
        ("num_headers", { number(Int64($0.response?.headerFields.count ?? 0)) }),
        ("num_redirects", { number(Int64($0.metrics?.redirectCount ?? 0)) }),
        ("num_retries", { number(Int64($0.result.retries)) }),
        ("proxy_used", { number($0.last?.isProxyConnection == true ? 1 : 0) }),
        ("redirect_url", { text($0.result.redirectURL?.absoluteString) }),
        ("referer", { text($0.request?.value(forHTTPHeaderField: "Referer")) }),
        ("remote_ip", { text($0.last?.remoteAddress) }),
        ("remote_port", { number(Int64($0.last?.remotePort ?? 0)) }),
        ("response_code", { .status($0.response?.statusCode ?? 0) }),
        ("scheme", { text($0.request?.url?.scheme?.uppercased()) }),
        ("size_download", { number($0.last?.countOfResponseBodyBytesReceived ?? 0) }),
        ("size_header", { number($0.sum(\.countOfResponseHeaderBytesReceived)) }),
        ("size_request", { number($0.sum(\.countOfRequestHeaderBytesSent)) }),
        ("size_upload", { number($0.last?.countOfRequestBodyBytesSent ?? 0) }),
        ("speed_download", { number($0.speed($0.last?.countOfResponseBodyBytesReceived)) }),
        ("speed_upload", { number($0.speed($0.last?.countOfRequestBodyBytesSent)) }),
        ("time_appconnect", { $0.time($0.last?.secureConnectionEndDate) }),
        ("time_connect", { $0.time($0.last?.secureConnectionStartDate ?? $0.last?.connectEndDate) }),
        ("time_namelookup", { $0.time($0.last?.domainLookupEndDate) }),
        ("time_pretransfer", { $0.time($0.last?.requestStartDate) }),
        ("time_redirect", { $0.metrics?.redirectCount ?? 0 > 0 ? $0.time($0.last?.fetchStartDate) : seconds(0) }),
        ("time_starttransfer", { $0.time($0.last?.responseStartDate) }),
        ("time_total", { seconds($0.metrics?.taskInterval.duration ?? 0) }),
        ("tls_version", { text($0.last?.negotiatedTLSProtocolVersion.map { TLSReport.name(of: $0) }) }),
        ("url", { text($0.result.text) }),
        ("url_effective", { text($0.result.effectiveURL?.absoluteString ?? $0.result.text) }),
        ("urlnum", { number(Int64($0.result.index)) }),
    ]

    private static func text(_ text: String?) -> Value { text.map(Value.text) ?? .missing }

    private static func number(_ number: Int64) -> Value { .number("\(number)") }

    private static func seconds(_ seconds: TimeInterval) -> Value { .number(String(format: "%.6f", max(seconds, 0))) }

    private var last: URLSessionTaskTransactionMetrics? { metrics?.transactionMetrics.last }

    private func sum(_ path: KeyPath<URLSessionTaskTransactionMetrics, Int64>) -> Int64 {
        (metrics?.transactionMetrics ?? []).reduce(0) { $0 + $1[keyPath: path] }
    }

    /// Since the URL was begun; 0 for a phase that there was not.
    private func time(_ date: Date?) -> Value {
        guard let start = metrics?.taskInterval.start, let date else { return Self.seconds(0) }
        return Self.seconds(date.timeIntervalSince(start))
    }

    private func speed(_ count: Int64?) -> Int64 {
        guard let seconds = metrics?.taskInterval.duration, seconds > 0 else { return 0 }
        return Int64(clamping: Int(min(Double(count ?? 0) / seconds, 1e18)))
    }
}
