import CAFImageCodecs
public import Foundation

extension Image {
    /// The picture as a PNG file, without loss; in colours alone if it is opaque.
    ///
    /// Of a premultiplied picture the colours are divided by their alpha, which loses precision where there is little of
    /// it. Neither scale nor anything else is written beside the pixels.
    ///
    /// - Throws: If there is no memory, or a side has more than 2,147,483,647 pixels.
    public func pngData() throws(ImageError) -> Data {
        guard let width = UInt32(exactly: width), let height = UInt32(exactly: height) else {
            throw ImageError(.encoding, format: .png, text: "A PNG cannot have \(self.width)×\(self.height) pixels")
        }
        let meaning =
            switch alpha {
            case .opaque: CAF_ALPHA_OPAQUE
            case .straight: CAF_ALPHA_STRAIGHT
            case .premultiplied: CAF_ALPHA_PREMULTIPLIED
            }
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        let (status, text) = withUnsafeBytes { pixels in
            CodecCall.answer { text, room in
                let start = pixels.bindMemory(to: UInt8.self).baseAddress
                return caf_png_encode(start, width, height, meaning, &bytes, &count, text, room)
            }
        }
        guard status == CAF_IMAGE_DONE, let bytes else {
            let reason: ImageError.Reason = status == CAF_IMAGE_NO_MEMORY ? .outOfMemory : .encoding
            throw ImageError(
                reason,
                format: .png,
                text: "A picture of \(width)×\(height) pixels cannot be a PNG: \(text)"
            )
        }
        return Data(
            bytesNoCopy: bytes,
            count: count,
            deallocator: .custom { bytes, _ in
                caf_png_free(bytes.assumingMemoryBound(to: UInt8.self))
            }
        )
    }
}
