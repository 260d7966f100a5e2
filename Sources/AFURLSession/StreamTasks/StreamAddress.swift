import AFTransport
import AFWire
import Foundation

/// The address that a stream task connects to.
struct StreamAddress {
    /// Takes the place of a request, or says why the task cannot connect. The session never sends it.
    let frozen: Result<WireRequest, RequestRejection>

    init(host: String, port: Int) {
        frozen = Result { () throws(RequestRejection) in
            guard let port = UInt16(exactly: port) else { throw RequestRejection(.port, rule: .portRange) }
            // As for https: through any proxy such a connection needs a tunnel.
            let endpoint = try Endpoint(scheme: .https, host: StreamAddress.bracketed(host), port: port)
            guard let url = URL(string: "https://\(endpoint.text)/") else {
                throw RequestRejection(.url, rule: .missing)
            }
            return try RequestFreezer.freeze(URLRequest(url: url))
        }
    }

    /// The host in the form of a URL.
    private static func bracketed(_ host: String) -> String {
        if host.utf8.contains(UInt8(ascii: ":")), !host.hasPrefix("[") {
            let escaped = host.utf8.flatMap { $0 == UInt8(ascii: "%") ? Array("%25".utf8) : [$0] }
            return "[\(String(decoding: escaped, as: UTF8.self))]"
        }
        // Converts an international name to its ASCII form; text that is no name stays, and fails later.
        guard host.utf8.contains(where: { $0 >= 0x80 }), !host.utf8.contains(where: "/?#@:\\%".utf8.contains),
            let text = URL(string: "https://\(host)/")?.absoluteString
        else { return host }
        return String(text.dropFirst("https://".count).dropLast())
    }
}

extension URLSession {
    /// Makes a task that connects to a host, to carry any protocol.
    ///
    /// - Parameters:
    ///   - hostname: A name or an address. Text that is neither fails the task.
    ///   - port: From 1 to 65535.
    public func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        let address = StreamAddress(host: hostname, port: port)
        return make { URLSessionStreamTask(to: address, identifier: $0, in: self) }
    }
}
