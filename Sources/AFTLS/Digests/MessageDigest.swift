internal import CAFOpenSSL

/// The functions HTTP authentication knows.
package enum DigestFunction: Sendable, Hashable, CaseIterable {
    case md5
    case sha256
    /// SHA-512 with other initial values, cut to 256 bits (FIPS 180-4 §5.3.6).
    case sha512_256

    /// Whether OpenSSL will have it: a build for FIPS refuses MD5.
    package var isAvailable: Bool { MessageDigest(self) != nil }

    fileprivate var kind: Int32 {
        switch self {
        case .md5: Int32(CAF_DIGEST_MD5)
        case .sha256: Int32(CAF_DIGEST_SHA256)
        case .sha512_256: Int32(CAF_DIGEST_SHA512_256)
        }
    }
}

/// A digest of bytes that come piece by piece.
package final class MessageDigest {
    private let handle: OpaquePointer
    private var isGood = true

    /// Nil if OpenSSL refuses the function.
    package convenience init?(_ function: DigestFunction) {
        self.init(kind: function.kind)
    }

    /// SHA-256, or SHA-512. Nil if OpenSSL refuses the function.
    package convenience init?(sha bits: Int) {
        self.init(kind: Int32(bits == 512 ? CAF_DIGEST_SHA512 : CAF_DIGEST_SHA256))
    }

    fileprivate init?(kind: Int32) {
        guard let handle = caf_digest(kind) else { return nil }
        self.handle = handle
    }

    deinit {
        caf_digest_free(handle)
    }

    /// Adds the next piece.
    package func add(_ bytes: UnsafeRawBufferPointer) {
        isGood = caf_digest_add(handle, bytes.baseAddress, bytes.count) == 1 && isGood
    }

    /// Adds the next piece.
    package func add(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { add($0) }
    }

    /// The digest of everything that was added, once; nil if OpenSSL failed, and from then on.
    package func finish() -> [UInt8]? {
        guard isGood else { return nil }
        isGood = false
        let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            buffer.initialize(repeating: 0)
            count = caf_digest_end(handle, buffer.baseAddress)
        }
        return bytes.isEmpty ? nil : bytes
    }
}

/// SHA-1, which RFC 6455 has for a proof that a server speaks WebSocket. It protects nothing.
package enum SHA1Digest {
    /// The 20 bytes for these; nil if OpenSSL refuses the function.
    package static func of(_ bytes: [UInt8]) -> [UInt8]? {
        guard let digest = MessageDigest(kind: Int32(CAF_DIGEST_SHA1)) else { return nil }
        digest.add(bytes)
        return digest.finish()
    }
}

/// SHA-256.
package enum SHA256Digest {
    /// The 32 bytes for these.
    package static func of(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { of($0) } }

    /// The 32 bytes for these.
    package static func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            buffer.initialize(repeating: 0)
            _ = caf_sha256(bytes.baseAddress, bytes.count, buffer.baseAddress)
            count = 32
        }
    }
}
