import AFURLSession
import Foundation

/// The variables of `--write-out` for one URL, with curl's names and units.
struct TransferFigures {
    /// The value of a variable, as text. Numbers have no quotes in JSON.
    enum Value {
        case text(String)
        case number(String)
        /// Three digits, as text.
        case status(Int)
        /// There is no value.
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

    /// All variables as one line of JSON.
    var json: String {
        let items = WriteOutFormat.Variable.allCases.map { "\"\($0.rawValue)\":\(Self.json(value(of: $0)))" }
        return "{\(items.joined(separator: ","))}"
    }

    /// The fields of the response as JSON: names in lower case, values in their order.
    var headerJSON: String {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for field in response?.headerFields ?? [] {
            let name = field.name.lowercased()
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(Self.quoted(field.value))
        }
        let items = names.map { "\(Self.quoted($0)):[\((values[$0] ?? []).joined(separator: ","))]" }
        // curl begins a line for each name.
        return "{\(items.joined(separator: ",\n"))\n}"
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

    // MARK: - The variables of --write-out

    func value(of variable: WriteOutFormat.Variable) -> Value {
        switch variable {
        case .certs: Self.text(result.server.map { Self.text(of: $0.servedChain) })
        case .contentType: Self.text(response?.value(forHTTPHeaderField: "Content-Type"))
        case .errormsg: Self.text(result.failure?.message)
        case .exitcode: Self.number(Int64(exitCode.rawValue))
        case .filenameEffective: Self.text(result.file)
        case .httpConnect: .status(last?.proxyResponse?.statusCode ?? 0)
        case .httpCode, .responseCode: .status(response?.statusCode ?? 0)
        case .httpVersion: Self.text(last?.networkProtocolName.map { String($0.dropFirst(5)) } ?? "0")
        case .localIP: Self.text(last?.localAddress)
        case .localPort: Self.number(Int64(last?.localPort ?? 0))
        case .method: Self.text(request?.httpMethod ?? "GET")
        case .numCerts: Self.number(Int64(result.server?.servedChain.count ?? 0))
        case .numConnects: Self.number(Int64(result.connectionsMade))
        case .numHeaders: Self.number(Int64(response?.headerFields.count ?? 0))
        case .numRedirects: Self.number(Int64(metrics?.redirectCount ?? 0))
        case .numRetries: Self.number(Int64(result.retries))
        // A proxy that is not trusted gets no request.
        case .proxySSLVerifyResult: Self.number(0)
        case .proxyUsed: Self.number(last?.isProxyConnection == true ? 1 : 0)
        case .redirectURL: Self.text(result.redirectURL?.absoluteString)
        case .referer: Self.text(request?.value(forHTTPHeaderField: "Referer"))
        case .remoteIP: Self.text(last?.remoteAddress)
        case .remotePort: Self.number(Int64(last?.remotePort ?? 0))
        case .scheme: Self.text(request?.url?.scheme?.uppercased())
        case .sizeDownload: Self.number(last?.countOfResponseBodyBytesReceived ?? 0)
        case .sizeHeader: Self.number(sum(\.countOfResponseHeaderBytesReceived))
        case .sizeRequest: Self.number(sum(\.countOfRequestHeaderBytesSent))
        case .sizeUpload: Self.number(last?.countOfRequestBodyBytesSent ?? 0)
        case .speedDownload: Self.number(speed(last?.countOfResponseBodyBytesReceived))
        case .speedUpload: Self.number(speed(last?.countOfRequestBodyBytesSent))
        case .sslVerifyResult: Self.number(Int64(result.server?.evaluation.failure?.verifyResult ?? 0))
        case .timeAppconnect: time(last?.secureConnectionEndDate)
        case .timeConnect: time(last?.secureConnectionStartDate ?? last?.connectEndDate)
        case .timeNamelookup: time(last?.domainLookupEndDate)
        case .timePretransfer: time(last?.requestStartDate)
        case .timeRedirect: metrics?.redirectCount ?? 0 > 0 ? time(last?.fetchStartDate) : Self.seconds(0)
        case .timeStarttransfer: time(last?.responseStartDate)
        case .timeTotal: Self.seconds(metrics?.taskInterval.duration ?? 0)
        case .tlsVersion: Self.text(last?.negotiatedTLSProtocolVersion.map { TLSReport.name(of: $0) })
        case .url: Self.text(result.text)
        case .urlEffective: Self.text(result.effectiveURL?.absoluteString ?? result.text)
        case .urlnum: Self.number(Int64(result.place))
        }
    }

    private static func text(of chain: [Certificate]) -> String {
        chain.map { certificate in
            let lines = Data(certificate.derBytes).base64EncodedString(options: .lineLength64Characters)
                .components(separatedBy: .newlines).filter { !$0.isEmpty }
            let pem = ["-----BEGIN CERTIFICATE-----"] + lines + ["-----END CERTIFICATE-----"]
            return (["Subject:\(certificate.subject)", "Issuer:\(certificate.issuer)"] + pem).map { $0 + "\n" }.joined()
        }.joined()
    }

    private static func text(_ text: String?) -> Value { text.map(Value.text) ?? .missing }

    private static func number(_ number: Int64) -> Value { .number("\(number)") }

    private static func seconds(_ seconds: TimeInterval) -> Value { .number(String(format: "%.6f", max(seconds, 0))) }

    private var last: URLSessionTaskTransactionMetrics? { metrics?.transactionMetrics.last }

    private func sum(_ path: KeyPath<URLSessionTaskTransactionMetrics, Int64>) -> Int64 {
        (metrics?.transactionMetrics ?? []).reduce(0) { $0 + $1[keyPath: path] }
    }

    /// The seconds from the start of the transfer; 0 for a phase that did not take place.
    private func time(_ date: Date?) -> Value {
        guard let start = metrics?.taskInterval.start, let date else { return Self.seconds(0) }
        return Self.seconds(date.timeIntervalSince(start))
    }

    private func speed(_ count: Int64?) -> Int64 {
        guard let seconds = metrics?.taskInterval.duration, seconds > 0 else { return 0 }
        return Int64(clamping: Int(min(Double(count ?? 0) / seconds, 1e18)))
    }
}
