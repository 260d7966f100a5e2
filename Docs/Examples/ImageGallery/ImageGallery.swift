import AFImages
import AFNetworkingTesting
import Foundation

/// A gallery of 200 pictures that is scrolled quickly: `swift run ImageGallery`.
///
/// Cells are used again when they leave the screen, as lists of any toolkit do it. Each shows a picture, and who made
/// it. The pictures come from a server in this process, which takes its time.
@main @MainActor struct ImageGallery {
    private static let pictures = 200
    private static let authors = 10
    private static let rowsOnScreen = 12

    static func main() async throws {
        let server = try PictureServer()
        let serializer = CountingSerializer()
        let downloader = ImageDownloader(sessionConfiguration: .ephemeral)
        downloader.sessionManager.responseSerializer = serializer
        // What has come into view last is wanted first.
        downloader.downloadPrioritization = .lifo
        let gallery = Gallery(downloader, server)

        for top in stride(from: 0, through: pictures - rowsOnScreen, by: 2) {
            gallery.show(top..<(top + rowsOnScreen))
            try await Task.sleep(for: .milliseconds(3))
        }
        for top in stride(from: pictures - rowsOnScreen, through: 0, by: -4) {
            gallery.show(top..<(top + rowsOnScreen))
            try await Task.sleep(for: .milliseconds(3))
        }
        while !gallery.isComplete { try await Task.sleep(for: .milliseconds(5)) }

        let counts = gallery.counts
        print("requested \(counts.requested)")
        print("from memory \(counts.fromMemory)")
        print("merged \(counts.merged)")
        print("cancelled \(counts.cancelled)")
        print("decoded \(serializer.count)")
    }

    /// What is on the screen, and how it got there.
    @MainActor private final class Gallery {
        struct Counts {
            var requested = 0
            var fromMemory = 0
            var merged = 0
            var cancelled = 0
        }

        private let server: PictureServer
        private var cells: [Int: Cell] = [:]
        private var idle: [Cell] = []
        private let downloader: ImageDownloader
        private(set) var counts = Counts()
        private var tasks: Set<URLSessionTask> = []

        init(_ downloader: ImageDownloader, _ server: PictureServer) {
            self.downloader = downloader
            self.server = server
        }

        var isComplete: Bool { cells.values.allSatisfy { $0.picture.image != nil && $0.author.image != nil } }

        func show(_ rows: Range<Int>) {
            for (row, cell) in cells where !rows.contains(row) {
                cells[row] = nil
                for view in [cell.picture, cell.author] {
                    if view.imageLoading.activeReceipt != nil { counts.cancelled += 1 }
                    view.cancelImageDownloadTask()
                    view.image = nil
                }
                idle.append(cell)
            }
            for row in rows where cells[row] == nil {
                let cell = idle.popLast() ?? Cell(downloader)
                cells[row] = cell
                load(cell.picture, server.url("/pictures/\(row)"))
                load(cell.author, server.url("/authors/\(row % ImageGallery.authors)"))
            }
        }

        private func load(_ view: View, _ url: URL) {
            counts.requested += 1
            view.setImage(with: url)
            guard let receipt = view.imageLoading.activeReceipt else {
                counts.fromMemory += 1
                return
            }
            if !tasks.insert(receipt.task).inserted { counts.merged += 1 }
        }
    }

    @MainActor private final class Cell {
        let picture: View
        let author: View

        init(_ downloader: ImageDownloader) {
            picture = View(downloader)
            author = View(downloader)
        }
    }

    @MainActor private final class View: ImageDisplaying {
        let imageLoading = ImageLoading()
        var image: Image?

        init(_ downloader: ImageDownloader) {
            imageLoading.imageDownloader = downloader
        }
    }
}

/// Counts the pictures that are decoded.
private final class CountingSerializer: ImageResponseSerializer, @unchecked Sendable {
    private let lock = NSLock()
    private var decoded = 0

    var count: Int { lock.withLock { decoded } }

    override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        let object = super.responseObject(for: response, data: data, error: error)
        if object != nil { lock.withLock { decoded += 1 } }
        return object
    }
}

/// Serves pictures, each twenty milliseconds after it was asked for.
private struct PictureServer {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        for (path, size) in [("/pictures/:number", 64), ("/authors/:number", 16)] {
            server.route("GET", path) { request in
                let number = UInt8(truncatingIfNeeded: Int(request.parameters["number"] ?? "") ?? 0)
                let pixels = [UInt8](repeating: number, count: size * size * 4)
                let image = try Image(width: size, height: size, pixels: pixels)
                return try .data(image.pngData(), type: "image/png").delayed(by: .milliseconds(20))
            }
        }
    }

    func url(_ path: String) -> URL { server.url(path) }
}
