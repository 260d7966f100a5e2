import CAFImageCodecs

/// Pixels of one picture, which its copies share and nothing changes.
///
/// Not an array: those end the process when there is no memory, and a server decides how large pictures are.
final class PixelStorage: @unchecked Sendable {
    private let bytes: UnsafeMutableRawBufferPointer

    /// - Parameters:
    ///   - byteCount: How many bytes there are, at least one.
    ///   - fill: Writes all of them.
    /// - Throws: ``ImageError`` of the reason `outOfMemory`, or what `fill` throws.
    init(byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(ImageError) -> Void) throws(ImageError) {
        guard let base = caf_pixels_allocate(byteCount) else { throw ImageError.outOfMemory(byteCount) }
        bytes = UnsafeMutableRawBufferPointer(start: base, count: byteCount)
        try fill(bytes)
    }

    /// A copy of `source`, which must have `byteCount` bytes.
    convenience init(copying source: UnsafeRawBufferPointer, byteCount: Int) throws(ImageError) {
        guard source.count == byteCount else {
            throw ImageError(
                .dimensions,
                text: "The pixels have \(source.count) bytes; width and height make it \(byteCount)"
            )
        }
        try self.init(byteCount: byteCount) { bytes throws(ImageError) in bytes.copyMemory(from: source) }
    }

    deinit {
        caf_pixels_free(bytes.baseAddress)
    }

    /// Lends the bytes.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }

    func hasSameBytes(as other: PixelStorage) -> Bool {
        if self === other { return true }
        guard bytes.count == other.bytes.count else { return false }
        return bytes.elementsEqual(other.bytes)
    }
}
