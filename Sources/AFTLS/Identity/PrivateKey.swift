internal import CAFOpenSSL

/// A private key, which shows nothing of itself.
///
/// An `EVP_PKEY` counts its references atomically and locks what it caches; nothing here changes one.
final class PrivateKey: @unchecked Sendable {
    let handle: OpaquePointer

    /// Takes over the caller's reference to an `EVP_PKEY`.
    init(owning handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        EVP_PKEY_free(handle)
    }

    func belongs(to certificate: Certificate) -> Bool {
        withExtendedLifetime(certificate) { caf_key_belongs(certificate.handle, handle) == 1 }
    }

    /// Whether the certificate verifies what it signs.
    func works(for certificate: Certificate) -> Bool {
        withExtendedLifetime(certificate) { caf_key_works(certificate.handle, handle) == 1 }
    }
}
