/// What client and server may agree to speak inside TLS, by ALPN (RFC 7301). `caf_configure` offers it.
package enum ApplicationProtocol: String, CaseIterable, Sendable {
    case http11 = "http/1.1"

    /// Nil if it was not offered.
    init?(_ name: [UInt8]) {
        // Strings are equal in more ways than bytes.
        guard let offered = Self.allCases.first(where: { name.elementsEqual($0.rawValue.utf8) }) else { return nil }
        self = offered
    }
}
