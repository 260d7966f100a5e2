internal import CAFOpenSSL

/// Anchors, ready for OpenSSL.
///
/// An `X509_STORE` locks itself while it is searched; nothing is added after it was made.
package final class TrustStore: @unchecked Sendable {
    /// The `X509_STORE`, alive as long as this object.
    package let handle: OpaquePointer
    /// How many certificates were put into it.
    package let count: Int

    /// A store of exactly these.
    package convenience init(_ certificates: [Certificate]) throws(TrustAnchorsError) {
        try self.init(handles: certificates.map(\.handle))
        withExtendedLifetime(certificates) {}
    }

    /// A store that holds references of its own to these `X509`s.
    init(handles: [OpaquePointer]) throws(TrustAnchorsError) {
        guard let store = caf_store() else { throw Self.outOfMemory }
        handle = store
        count = handles.count
        for certificate in handles where X509_STORE_add_cert(store, certificate) != 1 {
            throw Self.outOfMemory
        }
    }

    deinit {
        X509_STORE_free(handle)
    }

    private static let outOfMemory = TrustAnchorsError(
        message: "OpenSSL could not make a store of trusted certificates: it is out of memory"
    )
}
