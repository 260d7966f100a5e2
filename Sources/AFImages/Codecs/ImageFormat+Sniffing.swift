public import Foundation

extension ImageFormat {
    /// How many bytes are looked at to tell a format.
    static let sniffedBytes = 32

    /// The format of a file, as its first 32 bytes tell; nil if they tell none.
    ///
    /// Registered decoders are asked first, and formats that are not decoded are told too.
    public static func sniff(_ data: Data) -> ImageFormat? {
        let start = Data(data.prefix(sniffedBytes))
        return ImageDecoders.decoder(for: start)?.format ?? recognized(start)
    }

    /// Formats by their signatures, without a look at decoders.
    static func recognized(_ start: Data) -> ImageFormat? {
        start.withUnsafeBytes { bytes in
            let reader = ByteReader(bytes)
            return signatures.first { $0.matches(reader) }?.format ?? container(reader)
        }
    }

    private struct Signature: Sendable {
        let format: ImageFormat
        let matches: @Sendable (ByteReader) -> Bool

        init(_ format: ImageFormat, _ matches: @escaping @Sendable (inout ByteReader) -> Bool) {
            self.format = format
            self.matches = { reader in
                var reader = reader
                return matches(&reader)
            }
        }
    }

    private static let signatures = [
        Signature(.png) { $0.byte() == 0x89 && $0.take("PNG\r\n\u{1A}\n") },
        Signature(.jpeg) { $0.byte() == 0xFF && $0.byte() == 0xD8 && $0.byte() == 0xFF },
        Signature(.gif) { $0.take("GIF87a") || $0.take("GIF89a") },
        Signature(.webp) { $0.take("RIFF") && $0.skip(4) && $0.take("WEBP") },
        // The four bytes behind the length are reserved; two letters alone would be little.
        Signature(.bmp) { $0.take("BM") && $0.skip(4) && $0.little32() == 0 },
        Signature(.ico) {
            $0.little16() == 0 && [1, 2].contains($0.little16()) && $0.little16().map { $0 > 0 } == true
        },
        Signature(.tiff) { $0.take("II*\0") || $0.take("MM\0*") },
        Signature(.jpegXL) { $0.byte() == 0xFF && $0.byte() == 0x0A },
        Signature(.jpegXL) { $0.big32() == 12 && $0.take("JXL ") },
        Signature(.svg) { $0.take("<svg") },
    ]

    /// The formats that are in a file as films are.
    private static func container(_ reader: ByteReader) -> ImageFormat? {
        var reader = reader
        guard reader.skip(4), reader.take("ftyp") else { return nil }
        if reader.take("avif") || reader.take("avis") { return .avif }
        let brands: [StaticString] = ["heic", "heix", "heim", "heis", "hevc", "mif1", "msf1"]
        let isHEIF = brands.contains { reader.take($0) }
        return isHEIF ? .heif : nil
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
