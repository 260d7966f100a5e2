import AFNetworking
import Foundation

/// The operand of `afnet pins`.
package enum PinsTarget: Sendable, Equatable {
    /// The name of a host, and host and port as in a URL.
    case host(String, peer: String)
    case file(String)

    /// A file if one of that name exists or the text has a slash; otherwise a host.
    package init(_ text: String) throws(ArgumentError) {
        if text.contains("://") {
            throw .badArgument("pins needs HOST or HOST:PORT, without the scheme and path of \"\(text)\"")
        }
        if text.contains("/") || FileManager.default.fileExists(atPath: text) {
            self = .file(text)
            return
        }
        guard let (host, port) = Self.split(text), let name = PeerName(host), (1...65_535).contains(port) else {
            throw .badArgument("pins needs HOST, HOST:PORT, [ADDRESS]:PORT or a file, not \"\(text)\"")
        }
        let isBracketed = host.contains(":") && !host.hasPrefix("[")
        self = .host("\(name)", peer: "\(isBracketed ? "[\(host)]" : host):\(port)")
    }

    private static func split(_ text: String) -> (host: String, port: Int)? {
        // An IPv6 address without brackets has no port.
        if !text.hasPrefix("["), text.count(where: { $0 == ":" }) > 1 { return (text, 443) }
        let afterHost = text.lastIndex(of: "]").map { text.index(after: $0) } ?? text.firstIndex(of: ":")
        guard let end = afterHost, end < text.endIndex else { return (text, 443) }
        let digits = text[end...].dropFirst()
        guard text[end] == ":", digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = Int(digits) else {
            return nil
        }
        return (String(text[..<end]), port)
    }
}
