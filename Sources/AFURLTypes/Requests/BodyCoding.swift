package import AFWire

/// What makes the body of a request shorter on its way.
///
/// Off unless you ask for it: how short a body becomes tells an observer what is in it. Where a body has a secret beside text
/// that an attacker chooses, the lengths of many such bodies give the secret away, also over TLS.
///
/// The session leaves a body as it is if a field of the request already speaks of its bytes: `Content-Encoding`,
/// `Content-Range`, `Content-MD5`, or a digest.
@nonexhaustive
public enum BodyCoding: String, Hashable, Sendable, Codable {
    /// None.
    case identity
    /// gzip, which nearly every server takes that takes any.
    case gzip
    /// deflate in the format of zlib.
    case deflate
    #if Brotli
        /// Brotli. Only with the package trait `Brotli`.
        case brotli = "br"
    #endif
    #if Zstd
        /// Zstandard. Only with the package trait `Zstd`.
        case zstd
    #endif

    package var coding: ContentCoding? { ContentCoding(rawValue: rawValue) }
}
