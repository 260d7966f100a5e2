import AFImages
package import Foundation

/// An image view of characters: draws what it is to show, below what was drawn before.
@MainActor final class TerminalPicture: ImageDisplaying {
    let imageLoading = ImageLoading()
    private let graphics: Graphics
    private let write: (String) -> Void

    struct Graphics {
        let mode: GraphicsMode
        let size: TerminalSize
        /// How many columns a picture may have.
        let width: Int

        /// What draws a picture; nothing if there are only words.
        func drawing(_ image: Image) throws -> String {
            let columns = max(min(width, size.columns), 1)
            // The line above the picture, and the one the cursor is on, are to be seen with it.
            let rows = max(size.rows - 2, 1)
            let room = (width: columns * size.cell.width, height: rows * size.cell.height)
            switch mode {
            case .auto, .none: return ""
            case .blocks: return HalfBlocks.text(Raster(image, fitting: (columns, rows * 2)))
            case .sixel: return Sixels.text(Raster(image, fitting: room)) + "\n"
            case .kitty:
                // Not more pixels than are seen: a picture may have a hundred million.
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

/// Pictures as kitty, and terminals after it, draw them: files in escape sequences.
package enum KittyGraphics {
    /// The longest piece that a terminal takes.
    private static let pieceSize = 4096

    /// - Parameters:
    ///   - png: A file.
    ///   - columns: How many columns of text it covers.
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
