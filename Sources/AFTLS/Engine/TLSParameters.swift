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
