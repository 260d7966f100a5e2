import AFTLS
internal import CAFOpenSSL

/// A `STACK_OF(X509)`, the form in which OpenSSL takes several certificates.
final class CertificateStack {
    let handle: OpaquePointer

    init?(_ certificates: [Certificate]) {
        guard let handle = caf_x509_stack() else { return nil }
        self.handle = handle
        for certificate in certificates where caf_x509_push(handle, certificate.handle) != 1 { return nil }
    }

    deinit {
        caf_x509_free_all(handle)
    }

    /// The certificates of a stack that another object owns.
    static func certificates(of handle: OpaquePointer?) -> [Certificate] {
        (0..<caf_x509_count(handle)).compactMap { index in
            caf_x509_at(handle, index).flatMap { Certificate(sharing: $0) }
        }
    }
}
