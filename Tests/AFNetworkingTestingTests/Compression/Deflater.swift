import Glibc

/// The system's zlib as a compressor of messages: it makes blocks that the server's own compressor never does.
final class Deflater {
    private typealias Start =
        @convention(c) (
            UnsafeMutableRawPointer, Int32, Int32, Int32, Int32, Int32, UnsafePointer<CChar>, Int32
        ) -> Int32
    private typealias Step = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
    private typealias End = @convention(c) (UnsafeMutableRawPointer) -> Int32

    private let stream = UnsafeMutableRawBufferPointer.allocate(byteCount: 112, alignment: 16)
    private let step: Step
    private let end: End

    /// - Parameters:
    ///   - windowBits: How far back matches reach, 9 to 15.
    ///   - level: 0 for stored blocks, up to 9.
    ///   - strategy: 0 for the default, 2 for no matches, 4 for fixed codes.
    init?(windowBits: Int32 = 15, level: Int32 = 9, strategy: Int32 = 0) {
        guard let library = dlopen("libz.so.1", RTLD_NOW), let start = dlsym(library, "deflateInit2_"),
            let step = dlsym(library, "deflate"), let end = dlsym(library, "deflateEnd")
        else { return nil }
        self.step = unsafeBitCast(step, to: Step.self)
        self.end = unsafeBitCast(end, to: End.self)
        stream.initializeMemory(as: UInt8.self, repeating: 0)
        let begin = unsafeBitCast(start, to: Start.self)
        guard let z = stream.baseAddress, begin(z, level, 8, -windowBits, 8, strategy, "1.2.11", 112) == 0 else {
            return nil
        }
    }

    deinit {
        if let z = stream.baseAddress { _ = end(z) }
        stream.deallocate()
    }

    /// The next message, compressed after those before it, without the four bytes at its end.
    func compress(_ bytes: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: bytes.count * 2 + 1_000)
        guard let z = stream.baseAddress else { return [] }
        let left = bytes.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { output in
                // The fields of a z_stream are where Inflater says.
                z.storeBytes(of: input.baseAddress, as: UnsafeRawPointer?.self)
                z.storeBytes(of: UInt32(input.count), toByteOffset: 8, as: UInt32.self)
                z.storeBytes(of: output.baseAddress, toByteOffset: 24, as: UnsafeMutableRawPointer?.self)
                z.storeBytes(of: UInt32(output.count), toByteOffset: 32, as: UInt32.self)
                // Z_SYNC_FLUSH
                _ = step(z, 2)
                return Int(z.load(fromByteOffset: 32, as: UInt32.self))
            }
        }
        // Nothing to flush: RFC 7692 section 7.2.3.6 says what an empty message is.
        return left == output.count ? [0] : output.dropLast(left + 4)
    }
}
