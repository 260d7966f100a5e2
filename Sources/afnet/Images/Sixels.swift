import AFImages

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
        for top in stride(from: 0, to: raster.height, by: 6) { text += band(colours, of: raster, from: top) }
        return text + "\u{1B}\\"
    }

    private static func band(_ colours: [Int?], of raster: Raster, from top: Int) -> String {
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
