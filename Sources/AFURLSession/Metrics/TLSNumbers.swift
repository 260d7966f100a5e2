// Names and numbers are those of the protocol, as code ported from Apple platforms spells them.

/// A cipher suite, by its number on the wire.
@nonexhaustive
public enum tls_ciphersuite_t: UInt16, Sendable {
    /// AES-128 in GCM with SHA-256; TLS 1.3.
    case AES_128_GCM_SHA256 = 0x1301
    /// AES-256 in GCM with SHA-384; TLS 1.3.
    case AES_256_GCM_SHA384 = 0x1302
    /// ChaCha20-Poly1305 with SHA-256; TLS 1.3.
    case CHACHA20_POLY1305_SHA256 = 0x1303
    /// 3DES in CBC mode with SHA-1; TLS 1.2, keys agreed on by ECDHE, ECDSA certificate.
    case ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA = 0xC008
    /// AES-128 in CBC mode with SHA-1; TLS 1.2, keys agreed on by ECDHE, ECDSA certificate.
    case ECDHE_ECDSA_WITH_AES_128_CBC_SHA = 0xC009
    /// AES-128 in CBC mode with SHA-256; TLS 1.2, keys agreed on by ECDHE, ECDSA certificate.
    case ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 = 0xC023
    /// AES-128 in GCM with SHA-256; TLS 1.2, keys agreed on by ECDHE, ECDSA certificate.
    case ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = 0xC02B
    /// AES-256 in CBC mode with SHA-1; TLS 1.2, keys agreed on by ECDHE, ECDSA certificate.
    case ECDHE_ECDSA_WITH_AES_256_CBC_SHA = 0xC00A
    /// AES-256 in CBC mode with SHA-384; TLS 1.2, keys agreed on by ECDHE, ECDSA certificate.
    case ECDHE_ECDSA_WITH_AES_256_CBC_SHA384 = 0xC024
    /// AES-256 in GCM with SHA-384; TLS 1.2, keys agreed on by ECDHE, ECDSA certificate.
    case ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = 0xC02C
    /// ChaCha20-Poly1305 with SHA-256; TLS 1.2, keys agreed on by ECDHE, ECDSA certificate.
    case ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 = 0xCCA9
    /// 3DES in CBC mode with SHA-1; TLS 1.2, keys agreed on by ECDHE, RSA certificate.
    case ECDHE_RSA_WITH_3DES_EDE_CBC_SHA = 0xC012
    /// AES-128 in CBC mode with SHA-1; TLS 1.2, keys agreed on by ECDHE, RSA certificate.
    case ECDHE_RSA_WITH_AES_128_CBC_SHA = 0xC013
    /// AES-128 in CBC mode with SHA-256; TLS 1.2, keys agreed on by ECDHE, RSA certificate.
    case ECDHE_RSA_WITH_AES_128_CBC_SHA256 = 0xC027
    /// AES-128 in GCM with SHA-256; TLS 1.2, keys agreed on by ECDHE, RSA certificate.
    case ECDHE_RSA_WITH_AES_128_GCM_SHA256 = 0xC02F
    /// AES-256 in CBC mode with SHA-1; TLS 1.2, keys agreed on by ECDHE, RSA certificate.
    case ECDHE_RSA_WITH_AES_256_CBC_SHA = 0xC014
    /// AES-256 in CBC mode with SHA-384; TLS 1.2, keys agreed on by ECDHE, RSA certificate.
    case ECDHE_RSA_WITH_AES_256_CBC_SHA384 = 0xC028
    /// AES-256 in GCM with SHA-384; TLS 1.2, keys agreed on by ECDHE, RSA certificate.
    case ECDHE_RSA_WITH_AES_256_GCM_SHA384 = 0xC030
    /// ChaCha20-Poly1305 with SHA-256; TLS 1.2, keys agreed on by ECDHE, RSA certificate.
    case ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = 0xCCA8
    /// 3DES in CBC mode with SHA-1; TLS 1.2, keys sent with RSA: no forward secrecy, not offered unless asked for.
    case RSA_WITH_3DES_EDE_CBC_SHA = 0x000A
    /// AES-128 in CBC mode with SHA-1; TLS 1.2, keys sent with RSA: no forward secrecy, not offered unless asked for.
    case RSA_WITH_AES_128_CBC_SHA = 0x002F
    /// AES-128 in CBC mode with SHA-256; TLS 1.2, keys sent with RSA: no forward secrecy, not offered unless asked for.
    case RSA_WITH_AES_128_CBC_SHA256 = 0x003C
    /// AES-128 in GCM with SHA-256; TLS 1.2, keys sent with RSA: no forward secrecy, not offered unless asked for.
    case RSA_WITH_AES_128_GCM_SHA256 = 0x009C
    /// AES-256 in CBC mode with SHA-1; TLS 1.2, keys sent with RSA: no forward secrecy, not offered unless asked for.
    case RSA_WITH_AES_256_CBC_SHA = 0x0035
    /// AES-256 in CBC mode with SHA-256; TLS 1.2, keys sent with RSA: no forward secrecy, not offered unless asked for.
    case RSA_WITH_AES_256_CBC_SHA256 = 0x003D
    /// AES-256 in GCM with SHA-384; TLS 1.2, keys sent with RSA: no forward secrecy, not offered unless asked for.
    case RSA_WITH_AES_256_GCM_SHA384 = 0x009D
}
