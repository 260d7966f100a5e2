import AFImages

/// Images made of half-block characters, with two pixels to a character.
package enum HalfBlocks {
    /// The text for a terminal with 24-bit colours: one line for two rows of pixels.
    package static func text(_ raster: Raster) -> String {
        var text = ""
        for row in stride(from: 0, to: raster.height, by: 2) {
            var line = Line()
            for column in 0..<raster.width { line.add(upper: raster[column, row], lower: raster[column, row + 1]) }
            text += line.finished + "\n"
        }
        return text
    }

    /// A line, which sets a colour only where it changes.
    private struct Line {
        private var text = ""
        private var foreground: Raster.Pixel?
        private var background: Raster.Pixel?

        mutating func add(upper: Raster.Pixel?, lower: Raster.Pixel?) {
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
