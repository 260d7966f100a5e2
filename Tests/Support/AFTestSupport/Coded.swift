import CAFZlib
package import Foundation

/// Makes coded content, good and bad.
package enum Coded {
    package enum Format: Int32 {
        case gzip = 31
        case zlib = 15
        case raw = -15
    }

    package static func gzip(_ data: Data, level: Int32 = 6) -> Data { deflate(data, .gzip, level) }
    package static func zlib(_ data: Data) -> Data { deflate(data, .zlib) }
    package static func raw(_ data: Data) -> Data { deflate(data, .raw) }
    /// Raw deflate up to a flush, without an end: another one may follow.
    package static func flushed(_ data: Data) -> Data { deflate(data, .raw, flush: Z_SYNC_FLUSH) }

    package static func deflate(_ data: Data, _ format: Format, _ level: Int32 = 6, flush: Int32 = Z_FINISH) -> Data {
        var stream = z_stream()
        var result = Data(count: data.count + data.count / 100 + 1024)
        withUnsafeMutablePointer(to: &stream) { stream in
            let size = Int32(MemoryLayout<z_stream>.size)
            deflateInit2_(stream, level, Z_DEFLATED, format.rawValue, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
            data.withUnsafeBytes { input in
                result.withUnsafeMutableBytes { output in
                    stream.pointee.next_in = UnsafeMutablePointer(
                        mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    )
                    stream.pointee.avail_in = uInt(input.count)
                    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.pointee.avail_out = uInt(output.count)
                    CAFZlib.deflate(stream, flush)
                }
            }
            result.count = Int(stream.pointee.total_out)
            deflateEnd(stream)
        }
        return result
    }

    /// What a complete gzip or zlib stream holds; nil if the bytes are none, or others follow it.
    package static func plain(_ coded: Data, atMost limit: Int = 64 << 20) -> Data? {
        var stream = z_stream()
        var result = Data(count: limit)
        // 32 more than the window: the stream says itself which of both it is.
        let format = MAX_WBITS + 32
        let isWhole = withUnsafeMutablePointer(to: &stream) { stream in
            inflateInit2_(stream, format, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
            defer { inflateEnd(stream) }
            return coded.withUnsafeBytes { input in
                result.withUnsafeMutableBytes { output in
                    stream.pointee.next_in = UnsafeMutablePointer(
                        mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    )
                    stream.pointee.avail_in = uInt(input.count)
                    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.pointee.avail_out = uInt(output.count)
                    return inflate(stream, Z_FINISH) == Z_STREAM_END && stream.pointee.avail_in == 0
                }
            }
        }
        return isWhole ? result.prefix(Int(stream.total_out)) : nil
    }

    /// `gibibytes` of zeros in a megabyte for each, made of one block over and over.
    package static func bomb(gibibytes: Int) -> Data {
        let block = deflate(Data(count: 1 << 20), .raw, 9, flush: Z_FULL_FLUSH)
        var bomb = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
        for _ in 0..<(gibibytes * 1024) { bomb.append(block) }
        return bomb
    }

    /// gzip with a chosen header in front of the deflate stream of `data`.
    package static func gzip(_ data: Data, flags: UInt8, fields: Data) -> Data {
        let whole = gzip(data)
        return Data([0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 3]) + fields + whole.dropFirst(10)
    }

    /// Text that compresses about as well as most, with repetitions of all lengths.
    package static func text(_ count: Int, seed: UInt64 = 1) -> Data {
        var random = seed
        var data = Data()
        data.reserveCapacity(count + 64)
        while data.count < count {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            data.append(contentsOf: "line \(random >> 52) of \(random >> 61)\n".utf8)
        }
        return data.prefix(count)
    }
}
