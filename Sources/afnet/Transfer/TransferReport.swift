import AFURLSession
import Foundation
import Glibc

/// The line of `--report` about one URL: an object of JSON. Other programs rely on its names.
struct TransferReport: Encodable {
    private struct Security: Encodable {
        let version: String
        let verify_error: String
    }

    private struct Response: Encodable {
        let kind: TransferResult.Head.Kind
        let http_version: String
        let status: Int
        let reason: String
        let headers: [[String]]
        let trailers: [[String]]

        init(_ head: TransferResult.Head) {
            kind = head.kind
            http_version = String(head.response.httpVersion.dropFirst("HTTP/".count))
            status = head.response.statusCode
            reason = head.response.reasonPhrase
            headers = head.response.headerFields.map { [$0.name, $0.value] }
            trailers = head.trailers.map { [$0.name, $0.value] }
        }
    }

    /// Encodes a missing value as `null`, so that the member is always there.
    private struct Nullable: Encodable {
        let text: String?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if let text { try container.encode(text) } else { try container.encodeNil() }
        }
    }

    private let url: String
    private let effective_url: String
    private let exitcode: Int32
    private let errormsg: String
    private let status: Int
    private let method: String
    private let scheme: String
    private let content_type: String
    private let redirect_url: String
    private let num_redirects: Int
    private let num_connects: Int
    private let size_download: Int64
    private let size_upload: Int64
    private let remote_ip: String
    private let remote_port: Int
    private let local_port: Int
    private let http_connect: Int
    private let suggested_filename: Nullable
    private let time_namelookup: Double
    private let time_connect: Double
    private let time_appconnect: Double
    private let time_starttransfer: Double
    private let time_total: Double
    private let tls: Security
    private let from_cache: TransferResult.CacheUse
    private let responses: [Response]

    init(_ result: TransferResult) {
        let exchange = result.exchange
        let heads = result.heads
        let place = result.effectiveURL
        url = result.text
        effective_url = place?.absoluteString ?? result.text
        exitcode = result.code.rawValue
        errormsg = result.failure?.message ?? ""
        status = result.response?.statusCode ?? 0
        method = result.transactions.last?.request.httpMethod ?? result.request?.httpMethod ?? "GET"
        scheme = place?.scheme?.uppercased() ?? ""
        content_type = result.response?.value(forHTTPHeaderField: "Content-Type") ?? ""
        redirect_url = result.redirectURL?.absoluteString ?? ""
        num_redirects = result.metrics?.redirectCount ?? 0
        num_connects = result.connectionsMade
        from_cache = result.cacheUse
        size_download = from_cache == .no ? exchange?.countOfResponseBodyBytesReceived ?? 0 : result.received
        size_upload = exchange?.countOfRequestBodyBytesSent ?? 0
        remote_ip = exchange?.remoteAddress ?? ""
        remote_port = exchange?.remotePort ?? 0
        local_port = exchange?.localPort ?? 0
        http_connect = heads.last { $0.kind == .connect }?.response.statusCode ?? 0
        suggested_filename = Nullable(text: result.response?.contentDispositionFilename)
        time_namelookup = result.seconds(to: \.domainLookupEndDate)
        // For https, `connectEndDate` is the end of the TLS handshake.
        let isSecured = exchange?.secureConnectionStartDate != nil
        time_connect = result.seconds(to: isSecured ? \.secureConnectionStartDate : \.connectEndDate)
        time_appconnect = result.seconds(to: \.secureConnectionEndDate)
        time_starttransfer = result.seconds(to: \.responseStartDate)
        time_total = result.metrics?.taskInterval.duration ?? 0
        tls = Security(version: Self.version(exchange), verify_error: Self.verifyError(result))
        responses = heads.map(Response.init)
    }

    private static func version(_ exchange: URLSessionTaskTransactionMetrics?) -> String {
        switch exchange?.negotiatedTLSProtocolVersion {
        case .TLSv12: "TLSv1.2"
        case .TLSv13: "TLSv1.3"
        default: ""
        }
    }

    /// The error of the certificate check, also if `--insecure` ignores it.
    private static func verifyError(_ result: TransferResult) -> String {
        switch result.code {
        case .serverNotTrusted, .pinMismatch: result.failure?.message ?? ""
        default: result.server?.evaluation.failure?.message ?? ""
        }
    }

    /// The line with its line break.
    var line: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(self) + Data("\n".utf8)
        }
    }
}
