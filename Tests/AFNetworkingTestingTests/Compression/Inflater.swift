import Glibc

/// The system's zlib, if there is one: an independent check of compressed bodies.
struct Inflater {
    private typealias Start = @convention(c) (UnsafeMutableRawPointer, Int32, UnsafePointer<CChar>, Int32) -> Int32
    private typealias Step = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
    private typealias End = @convention(c) (UnsafeMutableRawPointer) -> Int32

    struct Failure: Error, Equatable {
        let code: Int32
    }

    /// The window bits of `inflateInit2`.
    enum Format: Int32 {
        case gzip = 31
        case zlib = 15
        case raw = -15
    }

    static let isThere = Inflater() != nil

    private let start: Start
    private let step: Step
    private let end: End

    init?() {
        guard let library = dlopen("libz.so.1", RTLD_NOW), let start = dlsym(library, "inflateInit2_"),
            let step = dlsym(library, "inflate"), let end = dlsym(library, "inflateEnd")
        else { return nil }
        self.start = unsafeBitCast(start, to: Start.self)
        self.step = unsafeBitCast(step, to: Step.self)
        self.end = unsafeBitCast(end, to: End.self)
    }

    /// Decompresses one member. Returns its content, and how many bytes were not used.
    func inflate(_ bytes: [UInt8], _ format: Format) throws -> (bytes: [UInt8], surplus: Int) {
        var output: [UInt8] = []
        let surplus = try inflate(bytes, format) { output += $0 }
        return (output, surplus)
    }

    /// Decompresses raw data whose matches reach back at most two to the power of `windowBits`.
    func inflate(_ bytes: [UInt8], windowBits: Int) throws -> [UInt8] {
        var output: [UInt8] = []
        _ = try inflate(bytes, bits: -Int32(windowBits)) { output += $0 }
        return output
    }

    func inflate(_ bytes: [UInt8], _ format: Format, onPiece: (UnsafeRawBufferPointer) -> Void) throws -> Int {
        try inflate(bytes, bits: format.rawValue, onPiece: onPiece)
    }

    private func inflate(_ bytes: [UInt8], bits: Int32, onPiece: (UnsafeRawBufferPointer) -> Void) throws -> Int {
        // A z_stream of a 64-bit system: next_in, avail_in at 8, next_out at 24, avail_out at 32; 112 bytes in all.
        let stream = UnsafeMutableRawBufferPointer.allocate(byteCount: 112, alignment: 16)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        defer {
            stream.deallocate()
            piece.deallocate()
        }
        stream.initializeMemory(as: UInt8.self, repeating: 0)
        guard let z = stream.baseAddress, start(z, bits, "1.2.11", 112) == 0 else { throw Failure(code: -6) }
        defer { _ = end(z) }
        return try bytes.withUnsafeBytes { input in
            z.storeBytes(of: input.baseAddress, as: UnsafeRawPointer?.self)
            z.storeBytes(of: UInt32(input.count), toByteOffset: 8, as: UInt32.self)
            while true {
                z.storeBytes(of: piece.baseAddress, toByteOffset: 24, as: UnsafeMutableRawPointer?.self)
                z.storeBytes(of: UInt32(piece.count), toByteOffset: 32, as: UInt32.self)
                let code = step(z, 0)
                let left = Int(z.load(fromByteOffset: 32, as: UInt32.self))
                onPiece(UnsafeRawBufferPointer(rebasing: piece[..<(piece.count - left)]))
                if code == 1 { return Int(z.load(fromByteOffset: 8, as: UInt32.self)) }
                guard code == 0 else { throw Failure(code: code) }
            }
        }
    }
}
