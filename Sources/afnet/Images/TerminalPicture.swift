import AFImages
package import Foundation

/// An image view in a terminal: draws each image below the previous one.
@MainActor final class TerminalPicture: ImageDisplaying {
    let imageLoading = ImageLoading()
    private let graphics: Graphics
    private let write: (String) -> Void

    struct Graphics {
        let mode: GraphicsMode
        let size: TerminalSize
        /// How many columns an image may have.
        let width: Int

        /// The text that draws an image; empty in the mode `none`.
        func drawing(_ image: Image) throws -> String {
            let columns = max(min(width, size.columns), 1)
            // Room for the line above the image and for the line of the cursor.
            let rows = max(size.rows - 2, 1)
            let room = (width: columns * size.cell.width, height: rows * size.cell.height)
            switch mode {
            case .auto, .none: return ""
            case .blocks: return HalfBlocks.text(Raster(image, fitting: (columns, rows * 2)))
            case .sixel: return Sixels.text(Raster(image, fitting: room)) + "\n"
            case .kitty:
                // Scaled down first: an image may have a hundred million pixels.
                let shown = try Raster(image, fitting: room).image
                let columns = (shown.width + size.cell.width - 1) / size.cell.width
                return KittyGraphics.text(png: try shown.pngData(), columns: columns)
            }
        }
    }

    var image: Image? {
        didSet {
            guard let image, let text = try? graphics.drawing(image) else { return }
            write(text)
        }
    }

    init(_ graphics: Graphics, downloader: ImageDownloader, write: @escaping (String) -> Void) {
        self.graphics = graphics
        self.write = write
        imageLoading.imageDownloader = downloader
    }
}

/// The graphics protocol of kitty and other terminals: PNG files in escape sequences.
package enum KittyGraphics {
    /// The largest piece that the protocol allows.
    private static let pieceSize = 4096

    /// - Parameters:
    ///   - png: A PNG file.
    ///   - columns: How many columns of text the image covers.
    package static func text(png: Data, columns: Int) -> String {
        let code = png.base64EncodedString()
        var text = ""
        var rest = code.utf8[...]
        var keys = "a=T,f=100,c=\(columns),q=2,"
        repeat {
            let piece = rest.prefix(pieceSize)
            rest = rest.dropFirst(piece.count)
            text += "\u{1B}_G\(keys)m=\(rest.isEmpty ? 0 : 1);\(String(decoding: piece, as: UTF8.self))\u{1B}\\"
            keys = ""
        } while !rest.isEmpty
        return text + "\n"
    }
}

/// Images made of half-block characters, with two pixels to a character.
package enum HalfBlocks {
    /// The text for a terminal with 24-bit colours: one line for two rows of pixels.
    package static func text(_ raster: Raster) -> String {
        var text = ""
        for row in stride(from: 0, to: raster.height, by: 2) {
            var line = Line()
            for column in 0..<raster.width { line.add(raster[column, row], raster[column, row + 1]) }
            text += line.finished + "\n"
        }
        return text
    }

    /// A line, which sets a colour only where it changes.
    private struct Line {
        private var text = ""
        private var foreground: Raster.Pixel?
        private var background: Raster.Pixel?

        mutating func add(_ upper: Raster.Pixel?, _ lower: Raster.Pixel?) {
            switch (upper, lower) {
            case (nil, nil):
                set(background: nil)
                text += " "
            case (let upper?, _):
                set(background: lower)
                set(foreground: upper)
                text += "▀"
            case (nil, let lower?):
                set(background: nil)
                set(foreground: lower)
                text += "▄"
            }
        }

        private mutating func set(foreground pixel: Raster.Pixel) {
            guard foreground != pixel else { return }
            foreground = pixel
            text += "\u{1B}[38;2;\(pixel.red);\(pixel.green);\(pixel.blue)m"
        }

        private mutating func set(background pixel: Raster.Pixel?) {
            guard background != pixel else { return }
            background = pixel
            text += pixel.map { "\u{1B}[48;2;\($0.red);\($0.green);\($0.blue)m" } ?? "\u{1B}[49m"
        }

        var finished: String { text + "\u{1B}[0m" }
    }
}

/// Sixel graphics, as DEC's terminals drew them: six rows at a time, colour by colour.
package enum Sixels {
    /// Six steps of red and blue, seven of green.
    private static let steps = (red: 6, green: 7, blue: 6)
    /// A matrix of 4 × 4 pixels for ordered dithering.
    private static let field = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]

    package static func text(_ raster: Raster) -> String {
        // With the second parameter 1, pixels that are not drawn show the background.
        var text = "\u{1B}P0;1;0q\"1;1;\(raster.width);\(raster.height)"
        let colours = (0..<(raster.width * raster.height)).map { index in
            colour(raster.pixels[index], column: index % raster.width, row: index / raster.width)
        }
        for colour in Set(colours.compactMap { $0 }).sorted() { text += definition(of: colour) }
        for top in stride(from: 0, to: raster.height, by: 6) { text += band(colours, raster, from: top) }
        return text + "\u{1B}\\"
    }

    private static func band(_ colours: [Int?], _ raster: Raster, from top: Int) -> String {
        let rows = top..<min(top + 6, raster.height)
        let present = Set(rows.flatMap { row in colours[(row * raster.width)..<((row + 1) * raster.width)] })
        var text = ""
        for colour in present.compactMap({ $0 }).sorted() {
            text += "#\(colour)"
            var run = (sixel: UInt8(0), count: 0)
            for column in 0..<raster.width {
                var sixel: UInt8 = 0
                for row in rows where colours[row * raster.width + column] == colour { sixel |= 1 << (row - top) }
                if sixel == run.sixel {
                    run.count += 1
                } else {
                    text += written(run)
                    run = (sixel, 1)
                }
            }
            text += written(run) + "$"
        }
        return text + "-"
    }

    private static func written(_ run: (sixel: UInt8, count: Int)) -> String {
        let sign = String(UnicodeScalar(run.sixel + 63))
        return run.count > 3 ? "!\(run.count)\(sign)" : String(repeating: sign, count: run.count)
    }

    private static func colour(_ pixel: Raster.Pixel?, column: Int, row: Int) -> Int? {
        guard let pixel else { return nil }
        let lift = field[row % 4 * 4 + column % 4]
        func step(_ value: UInt8, of count: Int) -> Int { (Int(value) * (count - 1) * 16 + lift * 255) / (255 * 16) }
        let (red, green, blue) = (
            step(pixel.red, of: steps.red), step(pixel.green, of: steps.green), step(pixel.blue, of: steps.blue)
        )
        return (red * steps.green + green) * steps.blue + blue
    }

    private static func definition(of colour: Int) -> String {
        let (red, green, blue) = (
            colour / steps.blue / steps.green, colour / steps.blue % steps.green, colour % steps.blue
        )
        func percent(_ step: Int, of count: Int) -> Int { step * 100 / (count - 1) }
        return "#\(colour);2;\(percent(red, of: steps.red));\(percent(green, of: steps.green));"
            + "\(percent(blue, of: steps.blue))"
    }
}
