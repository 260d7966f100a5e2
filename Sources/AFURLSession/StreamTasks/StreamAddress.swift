import AFTransport
import AFWire
import Foundation

/// Where a stream task connects to.
struct StreamAddress {
    /// What stands for a request, or why it cannot be connected to. Never sent.
    let frozen: Result<WireRequest, RequestRejection>

    init(host: String, port: Int) {
        frozen = Result { () throws(RequestRejection) in
            guard let port = UInt16(exactly: port) else { throw RequestRejection(.port, .portRange) }
            // As https: through any proxy such a connection takes a tunnel.
            let endpoint = try Endpoint(scheme: .https, host: StreamAddress.bracketed(host), port: port)
            guard let url = URL(string: "https://\(endpoint.text)/") else { throw RequestRejection(.url, .missing) }
            return try RequestFreezer.freeze(URLRequest(url: url))
        }
    }

    /// As a URL has it.
    private static func bracketed(_ host: String) -> String {
        if host.utf8.contains(UInt8(ascii: ":")), !host.hasPrefix("[") {
            let escaped = host.utf8.flatMap { $0 == UInt8(ascii: "%") ? Array("%25".utf8) : [$0] }
            return "[\(String(decoding: escaped, as: UTF8.self))]"
        }
        // An international name is brought to letters the name service knows; what is no name stays, to be refused.
        guard host.utf8.contains(where: { $0 >= 0x80 }), !host.utf8.contains(where: "/?#@:\\%".utf8.contains),
            let text = URL(string: "https://\(host)/")?.absoluteString
        else { return host }
        return String(text.dropFirst("https://".count).dropLast())
    }
}

extension URLSession {
    /// A task that connects to a host, to carry whatever you want.
    ///
    /// - Parameters:
    ///   - hostname: A name or an address. What is neither fails the task.
    ///   - port: From 1 to 65535.
    public func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        let address = StreamAddress(host: hostname, port: port)
        return make { URLSessionStreamTask(to: address, $0, in: self) }
    }
}
