package import AFImages

/// Pixels for a terminal: each has a colour, or none where the background shows through.
package struct Raster: Sendable, Equatable {
    package struct Pixel: Sendable, Equatable {
        package let red: UInt8
        package let green: UInt8
        package let blue: UInt8

        package init(red: UInt8, green: UInt8, blue: UInt8) {
            (self.red, self.green, self.blue) = (red, green, blue)
        }
    }

    package let width: Int
    package let height: Int
    /// Row by row.
    package let pixels: [Pixel?]

    /// Scales an image down to fit: each pixel is the mean of the image's pixels there. It never enlarges an image.
    package init(_ image: Image, fitting bounds: (width: Int, height: Int)) {
        let size = Raster.size(of: image, fitting: bounds)
        (width, height) = size
        pixels = image.withUnsafeBytes { bytes in
            let source = Source(bytes: bytes, width: image.width, alpha: image.alpha)
            var pixels: [Pixel?] = []
            pixels.reserveCapacity(size.width * size.height)
            for row in 0..<size.height {
                let rows = Raster.span(row, of: size.height, over: image.height)
                for column in 0..<size.width {
                    pixels.append(
                        source.mean(ofColumns: Raster.span(column, of: size.width, over: image.width), rows: rows)
                    )
                }
            }
            return pixels
        }
    }

    /// The pixels as an image.
    package var image: Image {
        get throws(ImageError) {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(pixels.count * 4)
            for pixel in pixels {
                if let pixel { bytes += [pixel.red, pixel.green, pixel.blue, 255] } else { bytes += [0, 0, 0, 0] }
            }
            return try Image(width: width, height: height, pixels: bytes)
        }
    }

    package subscript(column: Int, row: Int) -> Pixel? { row < height ? pixels[row * width + column] : nil }

    /// The largest size that fits and keeps the proportions.
    package static func size(of image: Image, fitting bounds: (width: Int, height: Int)) -> (width: Int, height: Int) {
        let factor = min(
            Double(max(bounds.width, 1)) / Double(image.width),
            Double(max(bounds.height, 1)) / Double(image.height),
            1
        )
        let width = Int((Double(image.width) * factor).rounded(.down))
        let height = Int((Double(image.height) * factor).rounded(.down))
        return (max(width, 1), max(height, 1))
    }

    private static func span(_ index: Int, of count: Int, over length: Int) -> Range<Int> {
        let start = index * length / count
        return start..<max((index + 1) * length / count, start + 1)
    }

    private struct Source {
        let bytes: UnsafeRawBufferPointer
        let width: Int
        let alpha: Image.Alpha

        /// Nil if less than half of it covers the background.
        func mean(ofColumns columns: Range<Int>, rows: Range<Int>) -> Pixel? {
            var sums = (red: 0, green: 0, blue: 0, alpha: 0)
            for row in rows {
                for column in columns {
                    let start = (row * width + column) * 4
                    let cover = alpha == .opaque ? 255 : Int(bytes[start + 3])
                    // Premultiplied colours are weighted already.
                    let weight = alpha == .straight ? cover : 255
                    sums.red += Int(bytes[start]) * weight
                    sums.green += Int(bytes[start + 1]) * weight
                    sums.blue += Int(bytes[start + 2]) * weight
                    sums.alpha += cover
                }
            }
            guard sums.alpha * 2 >= rows.count * columns.count * 255 else { return nil }
            // A damaged premultiplied picture has colours above its alpha.
            func mean(_ sum: Int) -> UInt8 { UInt8(clamping: sum / sums.alpha) }
            return Pixel(red: mean(sums.red), green: mean(sums.green), blue: mean(sums.blue))
        }
    }
}
