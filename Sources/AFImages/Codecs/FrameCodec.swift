import CAFImageCodecs
import Foundation

/// The functions of a codec that reads the frames of an animation one after the other.
struct FrameCodec {
    typealias Text = UnsafeMutablePointer<CChar>?

    let open:
        (UnsafePointer<UInt8>?, Int, UInt32, UInt32, UnsafeMutablePointer<OpaquePointer?>?, Text, Int) ->
            caf_image_status
    let next:
        (OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int32>?, Text, Int) -> caf_image_status
    let close: (OpaquePointer?) -> Void
    /// In what it counts delays.
    let unit: Duration

    /// - Throws: If there are not so many frames, or one of them is damaged.
    func decode(_ data: Data, header: ImageHeader, frames count: Int) throws(ImageError) -> [ImageFrame] {
        let (call, size) = (CodecCall(header: header, data: data), header.storedSize)
        var decoded: [ImageFrame] = []
        try data.lending { bytes, length throws(ImageError) in
            var opened: OpaquePointer?
            try call { text, room in
                self.open(bytes, length, UInt32(size.width), UInt32(size.height), &opened, text, room)
            }
            defer { self.close(opened) }
            for _ in 0..<count {
                var delay: Int32 = 0
                let storage = try PixelStorage(size: size) { pixels throws(ImageError) in
                    try call { text, room in next(opened, pixels.codecBytes, &delay, text, room) }
                }
                decoded.append(ImageFrame(size, storage: storage, format: header.format, delay: unit * Int(delay)))
            }
        }
        return decoded
    }
}
