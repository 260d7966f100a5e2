internal import CAFOpenSSL

/// An X.509 certificate.
public struct Certificate: Sendable {
    private let storage: Storage

    /// Keeps a reference of its own to an `X509`.
    package init?(sharing handle: OpaquePointer) {
        guard X509_up_ref(handle) == 1 else { return nil }
        storage = Storage(handle)
    }

    package var handle: OpaquePointer { storage.handle }

    /// An `X509` counts its references atomically, and OpenSSL locks what it caches
    /// in it; nothing here changes one.
    private final class Storage: @unchecked Sendable {
        let handle: OpaquePointer

        init(_ handle: OpaquePointer) {
            self.handle = handle
        }

        deinit {
            X509_free(handle)
        }
    }
}
