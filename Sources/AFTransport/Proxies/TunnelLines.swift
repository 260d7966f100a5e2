import AFWire

/// The fields that a configuration has for requests for tunnels, checked.
package struct TunnelLines: Hashable, Sendable {
    /// Each line with its end.
    package let bytes: [UInt8]
    /// `User-Agent` is one of them.
    let nameAgent: Bool

    package init() {
        bytes = []
        nameAgent = false
    }

    package init(_ fields: [String: String]) throws(ProxyConfigurationError) {
        var lines: [UInt8] = []
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            do throws(RequestRejection) {
                lines += try Self.line(name, value)
            } catch {
                throw ProxyConfigurationError(.field, in: "tunnelFields")
            }
        }
        bytes = lines
        nameAgent = HeadField.userAgent.line(in: lines) != nil
    }

    private static func line(_ name: String, _ value: String) throws(RequestRejection) -> [UInt8] {
        try name.withUTF8Bytes { name throws(RequestRejection) in
            try value.withUTF8Bytes { value throws(RequestRejection) in
                try RequestSyntax.checkFieldName(name)
                let value = try RequestSyntax.trimmedFieldValue(value, of: name)
                // The credentials of the proxy say who we are, and we write the other reserved fields.
                guard ReservedField.of(name) == nil else { throw RequestRejection(.fieldName, .notAllowed) }
                return Array(name) + Array(": ".utf8) + Array(value) + Array("\r\n".utf8)
            }
        }
    }
}
