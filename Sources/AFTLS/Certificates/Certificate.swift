internal import CAFOpenSSL

/// An X.509 certificate.
///
/// Two are equal when their DER bytes are.
public struct Certificate: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    private let object: OpenSSLObject

    /// Keeps a reference of its own to an `X509`.
    package init?(sharing handle: OpaquePointer) {
        guard X509_up_ref(handle) == 1 else { return nil }
        object = OpenSSLObject(owning: handle, free: X509_free)
    }

    /// Takes over the caller's reference to an `X509`.
    init(owning handle: OpaquePointer) {
        object = OpenSSLObject(owning: handle, free: X509_free)
    }

    /// The `X509`, alive as long as this value.
    package var handle: OpaquePointer { object.handle }

    /// Subject, issuer and end, in one line.
    public var description: String {
        "certificate \"\(subject)\" issued by \"\(issuer)\", valid until \(DateText.utc(notAfterSeconds))"
    }

    /// The description alone: the rest is in memory of OpenSSL.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    /// Whether every byte is the same.
    public static func == (left: Self, right: Self) -> Bool {
        withExtendedLifetime((left, right)) { caf_x509_equal(left.handle, right.handle) == 1 }
    }

    /// Feeds a digest of the bytes.
    public func hash(into hasher: inout Hasher) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 8) { digest in
            guard let base = digest.baseAddress else { return }
            base.initializeMemory(as: UInt8.self, repeating: 0, count: digest.count)
            let filled = caf_x509_sha1(handle, base.assumingMemoryBound(to: UInt8.self))
            if filled == 1 { hasher.combine(bytes: UnsafeRawBufferPointer(digest)) }
        }
    }
}
