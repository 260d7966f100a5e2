import AFImages
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the article about images.
@Suite struct ImagesArticleTests {
    private let data = PNGFile(.distinct(4, 2)).data

    @Test func `a manager downloads a picture`() async throws {
        let loopback = try TestServer()
        defer { loopback.stop() }
        loopback.route("GET", "/") { [data] _ in .data(data, type: "image/png") }
        let (server, request) = (loopback.url("/"), URLRequest(url: loopback.url("/")))
        let (shown, showing) = AsyncStream.makeStream(of: Image?.self)
        @Sendable func show(_ image: Image) { showing.yield(image) }
        @Sendable func report(_ error: any Error) { showing.yield(nil) }

        let manager = HTTPSessionManager(baseURL: server)
        manager.responseSerializer = ImageResponseSerializer()
        let task = manager.dataTask(with: request) { _, object, error in
            if let image = object as? Image {
                show(image)
            } else if let error {
                report(error)
            }
        }
        task.resume()

        var images = shown.makeAsyncIterator()
        #expect(await images.next()??.width == 4)
        manager.invalidateSessionCancelingTasks(true)
    }

    @Test func `data are decoded, here and on a queue`() async throws {
        func draw(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int) {
            #expect(pixels.count == width * height * 4)
        }

        let image = try Image.decode(data, scale: 2)
        print(image.width, image.height, image.size, image.byteCount)
        image.withUnsafeBytes { pixels in
            draw(pixels, width: image.width, height: image.height)
        }

        let picture = try await ImageDecodingQueue.shared.decode(data)
        #expect(Picture(picture) == Picture(image))
    }

    @Test func `options bound what a picture costs`() throws {
        let data = try JPEGFile.data(.smooth(1600, 1200))

        var options = ImageDecodingOptions()
        options.maximumPixels = 20_000_000
        options.targetSize = PixelSize(width: 320, height: 240)
        let thumbnail = try Image.decode(data, options: options)

        #expect((thumbnail.width, thumbnail.height) == (400, 300))
    }

    @Test func `animations have frames`() throws {
        let data = GIFFile(2, 2, [GIFFile.filled(1, 2, 2), GIFFile.filled(2, 2, 2)]).data
        var shown = 0
        func show(_ image: Image, for delay: Duration) { shown += 1 }

        let file = try EncodedImage(data)
        for frame in try file.decodeFrames() {
            show(frame.image, for: frame.delay)
        }

        #expect(shown == 2)
    }

    @Test func `a decoder is registered`() throws {
        ImageDecoders.register(MyDecoder())
        defer { ImageDecoders.unregister(MyDecoder().format) }

        #expect(try Image.decode(Data("mine".utf8)).byteCount == 4)
    }
}

private struct MyDecoder: ImageDecoder {
    let format = ImageFormat(name: "Mine")

    func recognizes(_ start: Data) -> Bool { start.starts(with: "mine".utf8) }

    func header(of data: Data) throws(ImageError) -> ImageHeader {
        ImageHeader(format: format, storedSize: PixelSize(width: 1, height: 1))
    }

    func decode(_ data: Data, header: ImageHeader, options: ImageDecodingOptions) throws(ImageError) -> Image {
        try Image(width: 1, height: 1, pixels: data, format: format)
    }
}
