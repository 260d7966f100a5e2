import CAFImageCodecs
import Foundation

/// One call of a codec in C, which returns a status and a text of the library.
struct CodecCall {
    /// The picture, for errors.
    let header: ImageHeader
    let byteCount: Int

    init(_ header: ImageHeader, _ data: Data) {
        self.header = header
        byteCount = data.count
    }

    /// - Parameter body: Makes the call; has room for a text.
    /// - Throws: What the codec says.
    func callAsFunction(_ body: (UnsafeMutablePointer<CChar>, Int) -> caf_image_status) throws(ImageError) {
        let (status, text) = Self.answer(body)
        if let error = error(status, text) { throw error }
    }

    static func answer(_ body: (UnsafeMutablePointer<CChar>, Int) -> caf_image_status) -> (caf_image_status, String) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { room in
            guard let start = room.baseAddress else { return (CAF_IMAGE_NO_MEMORY, "no memory") }
            room.initialize(repeating: 0)
            let status = body(start, room.count)
            // Libraries quote names from the file.
            let text = room.prefix { $0 != 0 }.map {
                (0x20..<0x7F).contains($0) ? UInt8(bitPattern: $0) : UInt8(ascii: "?")
            }
            return (status, String(decoding: text, as: UTF8.self))
        }
    }

    private func error(_ status: caf_image_status, _ text: String) -> ImageError? {
        let format = header.format
        let picture = "A \(format) picture of \(header.storedSize) pixels"
        switch status {
        case CAF_IMAGE_DONE:
            return nil
        case CAF_IMAGE_TRUNCATED:
            return ImageError(
                .truncated,
                format: format,
                text: "\(picture) is cut off after \(byteCount) bytes: \(text)"
            )
        case CAF_IMAGE_UNSUPPORTED:
            return ImageError(
                .unsupported,
                format: format,
                text: "\(picture) is of a kind that is not decoded: \(text)"
            )
        case CAF_IMAGE_TOO_COSTLY:
            return ImageError(
                .limit,
                format: format,
                text: "\(picture) takes too much work or memory to decode: \(text)"
            )
        case CAF_IMAGE_NO_MEMORY:
            return ImageError(.outOfMemory, format: format, text: "\(picture) cannot be decoded: \(text)")
        default:
            return ImageError(.malformed, format: format, text: "\(picture) is damaged: \(text)")
        }
    }
}

extension ImageError {
    /// The header of a file ends before it says what the picture is like.
    static func cutOff(_ format: ImageFormat, _ data: Data) -> ImageError {
        ImageError(.truncated, format: format, text: "A \(format) picture is cut off after \(data.count) bytes")
    }

    static func damaged(_ format: ImageFormat, _ what: String) -> ImageError {
        ImageError(.malformed, format: format, text: "A \(format) picture is damaged: \(what)")
    }
}

extension Data {
    /// Lends the bytes to a reader.
    func reading<Value>(_ body: (inout ByteReader) throws(ImageError) -> Value) throws(ImageError) -> Value {
        let result = withUnsafeBytes { bytes in
            Result { () throws(ImageError) in
                var reader = ByteReader(bytes)
                return try body(&reader)
            }
        }
        return try result.get()
    }

    /// Lends the bytes to a codec; not called without any.
    func lending(_ body: (UnsafePointer<UInt8>, Int) throws(ImageError) -> Void) throws(ImageError) {
        let result = withUnsafeBytes { bytes in
            Result { () throws(ImageError) in
                guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
                try body(start, bytes.count)
            }
        }
        try result.get()
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The pixels, for a codec to fill.
    var codecBytes: UnsafeMutablePointer<UInt8>? { bindMemory(to: UInt8.self).baseAddress }
}
