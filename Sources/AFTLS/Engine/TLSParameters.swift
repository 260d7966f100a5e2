internal import CAFOpenSSL

/// A version of the protocol, by its number on the wire.
@nonexhaustive
public enum TLSVersion: UInt16, Hashable, Sendable, CaseIterable, Comparable, CustomStringConvertible {
    /// TLS 1.2, RFC 5246.
    case v1_2 = 0x0303
    /// TLS 1.3, RFC 8446.
    case v1_3 = 0x0304

    /// Later versions are greater.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }

    /// As in `TLS 1.3`.
    public var description: String {
        switch self {
        case .v1_2: "TLS 1.2"
        case .v1_3: "TLS 1.3"
        }
    }
}

/// What our side of every handshake of a context offers.
package struct TLSParameters: Hashable, Sendable {
    package var versions = TLSVersion.v1_2...TLSVersion.v1_3
    /// OpenSSL's security level, 0 to 5.
    package var securityLevel = 2
    /// TLS 1.2 suites in OpenSSL's notation. Nil: forward secrecy and authenticated encryption only.
    package var ciphers: String?
    package var resumes = true

    package init() {}
}
