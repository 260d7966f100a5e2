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
