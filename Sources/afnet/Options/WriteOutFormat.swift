/// The format of `--write-out`.
enum WriteOutFormat {
    /// The variables, with curl's names.
    enum Variable: String, CaseIterable, Sendable {
        case certs
        case contentType = "content_type"
        case errormsg
        case exitcode
        case filenameEffective = "filename_effective"
        case httpCode = "http_code"
        case httpConnect = "http_connect"
        case httpVersion = "http_version"
        case localIP = "local_ip"
        case localPort = "local_port"
        case method
        case numCerts = "num_certs"
        case numConnects = "num_connects"
        case numHeaders = "num_headers"
        case numRedirects = "num_redirects"
        case numRetries = "num_retries"
        case proxySSLVerifyResult = "proxy_ssl_verify_result"
        case proxyUsed = "proxy_used"
        case redirectURL = "redirect_url"
        case referer
        case remoteIP = "remote_ip"
        case remotePort = "remote_port"
        case responseCode = "response_code"
        case scheme
        case sizeDownload = "size_download"
        case sizeHeader = "size_header"
        case sizeRequest = "size_request"
        case sizeUpload = "size_upload"
        case speedDownload = "speed_download"
        case speedUpload = "speed_upload"
        case sslVerifyResult = "ssl_verify_result"
        case timeAppconnect = "time_appconnect"
        case timeConnect = "time_connect"
        case timeNamelookup = "time_namelookup"
        case timePretransfer = "time_pretransfer"
        case timeRedirect = "time_redirect"
        case timeStarttransfer = "time_starttransfer"
        case timeTotal = "time_total"
        case tlsVersion = "tls_version"
        case url
        case urlEffective = "url_effective"
        case urlnum
    }

    enum Part {
        case text(String)
        case variable(Variable)
        case json
        case headerJSON
        case header(String)
        /// The rest goes to standard error, or to standard output.
        case stream(isError: Bool)
        /// The rest is for URLs that failed.
        case onError
    }

    /// - Parameter format: The text; `@FILE` is not read and has no parts yet.
    static func parts(_ format: String) throws(ArgumentError) -> [Part] {
        if format.hasPrefix("@") { return [] }
        var parts: [Part] = []
        var text = ""
        var rest = format[...]
        while let character = rest.popFirst() {
            if character == "\\", let escape = rest.first {
                rest.removeFirst()
                text += escapes[escape] ?? "\\\(escape)"
            } else if character == "%", rest.first == "%" {
                rest.removeFirst()
                text += "%"
            } else if character == "%", let part = try part(&rest) {
                parts += [.text(text), part]
                text = ""
            } else {
                text.append(character)
            }
        }
        return parts + [.text(text)]
    }

    private static let escapes: [Character: String] = ["n": "\n", "r": "\r", "t": "\t", "\\": "\\"]

    /// Takes `{name}` or `header{name}`. Nil, and nothing is taken, if the text begins with neither.
    private static func part(_ rest: inout Substring) throws(ArgumentError) -> Part? {
        let isHeader = rest.hasPrefix("header{")
        guard isHeader || rest.hasPrefix("{") else { return nil }
        let inner = rest.dropFirst(isHeader ? 7 : 1)
        guard let end = inner.firstIndex(of: "}") else {
            throw .usage("--write-out: there is no } behind \"%\(rest.prefix(30))\"")
        }
        let name = String(inner[..<end])
        rest = inner[end...].dropFirst()
        if isHeader { return .header(name) }
        switch name {
        case "json": return .json
        case "header_json": return .headerJSON
        case "stderr": return .stream(isError: true)
        case "stdout": return .stream(isError: false)
        case "onerror": return .onError
        default:
            guard let variable = Variable(rawValue: name) else {
                throw .usage("--write-out knows no %{\(name)}: afnet help write-out has the names")
            }
            return .variable(variable)
        }
    }
}
