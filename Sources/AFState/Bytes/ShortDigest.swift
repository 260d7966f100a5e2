import AFTLS

/// Half of a SHA-256: enough that two URLs with the same digest cannot be found. A response that is found by it is
/// still compared in full.
package struct ShortDigest: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    init(of bytes: [UInt8]) {
        self.init(of: bytes[...])
    }

    init(of bytes: ArraySlice<UInt8>) {
        let digest = bytes.withUnsafeBytes { SHA256Digest.of($0) }
        self.init(first: digest[...])
    }

    /// - Parameter bytes: At least 16.
    private init(first bytes: ArraySlice<UInt8>) {
        (high, low) = bytes.withUnsafeBytes {
            (
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// Reads ``bytes``.
    init?(bytes: ArraySlice<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(first: bytes)
    }

    package var bytes: [UInt8] { [high, low].flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } } }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(high)
    }
}
