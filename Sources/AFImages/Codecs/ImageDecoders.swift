import AFBase
public import Foundation

/// All decoders: those for PNG, JPEG, WebP and GIF, and those you register.
public enum ImageDecoders {
    private static let builtIn: [any ImageDecoder] = [PNGDecoder(), JPEGDecoder(), WebPDecoder(), GIFDecoder()]
    private static let added = Lock<[any ImageDecoder]>([])

    /// Registers a decoder for all pictures it recognizes; it is asked before all others.
    ///
    /// It takes the place of one that was registered for the same format.
    public static func register(_ decoder: any ImageDecoder) {
        added.withLock { decoders in
            decoders.removeAll { $0.format == decoder.format }
            decoders.insert(decoder, at: 0)
        }
    }

    /// Removes the decoder that was registered for a format; the library's own, if there is one, decodes it again.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public static func unregister(_ format: ImageFormat) -> Bool {
        added.withLock { decoders in
            let count = decoders.count
            decoders.removeAll { $0.format == format }
            return decoders.count < count
        }
    }

    /// The formats that are decoded at present.
    public static var formats: Set<ImageFormat> { Set(all.map(\.format)) }

    private static var all: [any ImageDecoder] { added.withLock { $0 } + builtIn }

    static func decoder(for start: Data) -> (any ImageDecoder)? { all.first { $0.recognizes(start) } }
}

extension ImageFormat {
    /// The format of a file, as its first 32 bytes tell; nil if they tell none.
    ///
    /// Registered decoders are asked first. Formats that are not decoded are recognized too.
    public static func sniff(_ data: Data) -> ImageFormat? {
        let start = Data(data.prefix(sniffedBytes))
        return ImageDecoders.decoder(for: start)?.format ?? recognized(start)
    }

    /// Why a file cannot be decoded that no decoder recognizes.
    static func undecodable(_ data: Data) -> ImageError {
        if let format = recognized(Data(data.prefix(sniffedBytes))) {
            let known = ImageDecoders.formats.map(\.name).sorted().joined(separator: ", ")
            return ImageError(
                .unsupported,
                format: format,
                text: "A \(format) picture cannot be decoded; \(known) can. Register an ImageDecoder for it"
            )
        }
        let start = data.prefix(8).map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0\(digits)" : digits
        }
        let guess: String =
            switch data.first {
            case UInt8(ascii: "<"): ", which is markup, perhaps an error page"
            case UInt8(ascii: "{"), UInt8(ascii: "["): ", which is JSON, perhaps an error"
            default: ""
            }
        return ImageError(
            .unknownFormat,
            text: "These \(data.count) bytes are no picture: they begin with \(start.joined(separator: " "))\(guess)"
        )
    }
}
