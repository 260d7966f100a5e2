internal import CAFOpenSSL

/// A private key, which shows nothing of itself.
struct PrivateKey: Sendable {
    private let object: OpenSSLObject
    var handle: OpaquePointer { object.handle }

    /// Takes over the caller's reference to an `EVP_PKEY`.
    init(owning handle: OpaquePointer) {
        object = OpenSSLObject(owning: handle, free: EVP_PKEY_free)
    }

    func belongs(to certificate: Certificate) -> Bool {
        withExtendedLifetime((certificate, object)) { caf_key_belongs(certificate.handle, handle) == 1 }
    }

    /// Whether the certificate verifies what it signs.
    func works(for certificate: Certificate) -> Bool {
        withExtendedLifetime((certificate, object)) { caf_key_works(certificate.handle, handle) == 1 }
    }
}
