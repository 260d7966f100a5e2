internal import CAFOpenSSL

/// SHA-256.
package enum SHA256Digest {
    /// The 32 bytes for these.
    package static func of(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { of($0) }
    }

    /// The 32 bytes for these.
    package static func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            buffer.initialize(repeating: 0)
            _ = caf_sha256(bytes.baseAddress, bytes.count, buffer.baseAddress)
            count = 32
        }
    }
}
