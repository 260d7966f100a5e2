internal import CAFOpenSSL

/// Bytes that are overwritten when the last reference is gone, and that no description shows.
///
/// Compared byte by byte: text that only looks the same is another secret, in whatever case and composition of
/// accents. How long a comparison takes says nothing about where two of one length differ.
package final class SecretBytes: @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer

    /// A copy of these.
    package init(_ bytes: UnsafeRawBufferPointer) {
        storage = .allocate(byteCount: bytes.count, alignment: 1)
        storage.copyMemory(from: bytes)
    }

    /// The UTF-8 of a text.
    package convenience init(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// The bytes of an array, which is overwritten unless other code holds it too.
    package init(_ bytes: consuming [UInt8]) {
        storage = .allocate(byteCount: bytes.count, alignment: 1)
        bytes.withUnsafeBytes { storage.copyMemory(from: $0) }
        SecretBytes.wipe(&bytes)
    }

    deinit {
        if let base = storage.baseAddress { caf_wipe(base, storage.count) }
        storage.deallocate()
    }

    package var count: Int { storage.count }

    /// Lends the bytes.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage))
    }

    /// The bytes as text, which is a copy that is never overwritten.
    package var text: String { String(decoding: UnsafeRawBufferPointer(storage), as: UTF8.self) }

    /// Overwrites what an array holds, and empties it.
    package static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { buffer in
            if let base = buffer.baseAddress { caf_wipe(base, buffer.count) }
        }
        bytes = []
    }
}

extension SecretBytes: Hashable {
    package static func == (one: SecretBytes, other: SecretBytes) -> Bool {
        guard one.storage.count == other.storage.count else { return false }
        var difference: UInt8 = 0
        for index in one.storage.indices { difference |= one.storage[index] ^ other.storage[index] }
        return difference == 0
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytes: UnsafeRawBufferPointer(storage))
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    package var description: String { "not shown" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
