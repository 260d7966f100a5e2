import AFImages

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

    init(graphics: Graphics, downloader: ImageDownloader, write: @escaping (String) -> Void) {
        self.graphics = graphics
        self.write = write
        imageLoading.imageDownloader = downloader
    }
}
