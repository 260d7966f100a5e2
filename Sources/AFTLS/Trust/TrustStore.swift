import AFBase
internal import CAFOpenSSL

/// Anchors, ready for OpenSSL.
///
/// An `X509_STORE` locks itself while it is searched and added to. Roots of the system are added
/// when a chain may lead to them, which makes no difference to any verdict.
package final class TrustStore: Sendable {
    private let store: OpenSSLObject
    private let anchors: OpenSSLObject
    /// The `X509_STORE`, alive as long as this object.
    package var handle: OpaquePointer { store.handle }
    /// How many certificates a chain may end at.
    package let count: Int

    /// The certificates that the program named itself, beside the system's: a `STACK_OF(X509)` of this object's.
    var namedAnchors: OpaquePointer { anchors.handle }

    private let roots: RootIndex
    /// The names whose roots were added; none that no root has, or servers could fill the memory.
    let added = Lock<Set<UInt64>>([])

    /// A store of exactly these.
    package convenience init(_ certificates: [Certificate]) throws(TrustAnchorsError) {
        try self.init(certificates, beside: RootIndex())
    }

    /// A store of these and of roots that are read as they are needed.
    init(_ certificates: [Certificate], beside roots: RootIndex) throws(TrustAnchorsError) {
        guard let store = caf_store().map({ OpenSSLObject(owning: $0, free: X509_STORE_free) }),
            let stack = caf_x509_stack()
        else { throw Self.outOfMemory }
        self.store = store
        anchors = OpenSSLObject(owning: stack, free: caf_x509_free_all)
        count = certificates.count + roots.count
        self.roots = roots
        for certificate in roots.nameless + certificates where !add(certificate) { throw Self.outOfMemory }
        for certificate in certificates where caf_x509_push(stack, certificate.handle) != 1 { throw Self.outOfMemory }
        addRoots(for: (roots.nameless + certificates).map(\.handle))
        withExtendedLifetime(certificates) {}
    }

    /// Adds the roots that a chain of these `X509`s may lead to.
    ///
    /// OpenSSL looks up issuers, and whether it knows what it found, both by name. So what it may find
    /// are the roots with the name of a certificate or of its issuer, and so on from these.
    func addRoots(for certificates: [OpaquePointer]) {
        guard roots.count > 0 else { return }
        added.withLock { added in
            var pending = certificates.flatMap(keys)
            while let key = pending.popLast() {
                guard added.insert(key).inserted else { continue }
                for root in roots.certificates(key) where add(root) {
                    // The store does not keep what it holds already.
                    withExtendedLifetime(root) { pending += keys(of: root.handle) }
                }
            }
        }
    }

    /// The keys of its names that roots have; those of all roots if a name is in an unusual encoding.
    private func keys(of certificate: OpaquePointer) -> Set<UInt64> {
        var subject: UInt64 = 0
        var issuer: UInt64 = 0
        guard caf_name_key(X509_get_subject_name(certificate), &subject) == 1,
            caf_name_key(X509_get_issuer_name(certificate), &issuer) == 1
        else { return roots.keys }
        return Set([subject, issuer].filter(roots.contains))
    }

    private func add(_ certificate: Certificate) -> Bool {
        X509_STORE_add_cert(handle, certificate.handle) == 1
    }

    private static let outOfMemory = TrustAnchorsError(
        message: "OpenSSL could not make a store of trusted certificates: it is out of memory"
    )
}
