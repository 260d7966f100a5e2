/// A server with pictures, and downloaders for it.
final class ImageSite: Sendable {
    let server: TestServer
    let png: Data

    init(tls: ServerTLS? = nil) throws {
        let png = try Pictures.file()
        self.png = png
        server = try tls.map { try TestServer(tls: $0) } ?? TestServer()
        server.install(.everything)
        server.route("GET", "/image.png", .picture(png))
        server.route("GET", "/image.jpg", .picture(try JPEGFile.data(Picture.smooth(13, 11)), type: "image/jpeg"))
        server.route("GET", "/numbered/:number") { _ in .picture(png) }
        server.route("GET", "/waiting/:number") { _ in .picture(png).held(until: "go") }
        server.route("GET", "/missing.png", .picture(png).status(404))
        server.route("GET", "/page.png", .text("<html>no picture</html>", type: "text/html"))
    }

    func request(_ path: String) -> URLRequest { URLRequest(url: server.url(path)) }

    /// A downloader that ends with its last reference.
    var downloader: ImageDownloader {
        ImageDownloader(sessionConfiguration: .ephemeral)
    }

    func requests(for path: String) -> Int { server.requests.count { $0.target == path } }
}

extension ServerReply {
    static func picture(_ data: Data, type: String = "image/png") -> ServerReply { .data(data, type: type) }
}

/// What the closures of a download received.
struct Told: Sendable, CustomStringConvertible {
    let request: URLRequest
    let response: HTTPURLResponse?
    var image: Image?
    var error: (any Error)?
    /// Whether the closure was called on the main queue.
    var isOnMain: Bool = Queues.isMain

    var code: Int? { (error as NSError?)?.code }
    var description: String { "\(request) \(response?.statusCode ?? 0) \(code ?? 0)" }
}

extension Heard<Told> {
    var success: ImageDownloader.Success {
        { self.add(Told(request: $0, response: $1, image: $2)) }
    }

    var failure: ImageDownloader.Failure {
        { self.add(Told(request: $0, response: $1, error: $2)) }
    }
}

extension ImageDownloader {
    @discardableResult
    func download(_ request: URLRequest, _ heard: Heard<Told>) -> ImageDownloadReceipt? {
        downloadImage(for: request, success: heard.success, failure: heard.failure)
    }
}

/// Tells whether a callback runs on the main queue, which has no thread of its own in a test process.
enum Queues {
    private static let key = DispatchSpecificKey<Bool>()
    private static let marked: Void = DispatchQueue.main.setSpecific(key: key, value: true)

    static var isMain: Bool {
        _ = marked
        return DispatchQueue.getSpecific(key: key) ?? false
    }
}

/// Counts its calls, and may refuse to keep images.
final class WatchedCache: AutoPurgingImageCache, @unchecked Sendable {
    private let lock = NSLock()
    private var asked = 0
    private var added = 0
    private let keeps: Bool

    init(keeps: Bool) {
        self.keeps = keeps
        super.init(memoryCapacity: 100 << 20, preferredMemoryCapacity: 60 << 20, memoryPressure: nil)
    }

    var timesAsked: Int { lock.withLock { asked } }
    var timesAdded: Int { lock.withLock { added } }

    override func shouldCache(
        _ image: Image,
        for request: URLRequest,
        withAdditionalIdentifier identifier: String?
    ) -> Bool {
        lock.withLock { asked += 1 }
        return keeps
    }

    override func add(_ image: Image, for request: URLRequest, withAdditionalIdentifier identifier: String?) {
        lock.withLock { added += 1 }
        super.add(image, for: request, withAdditionalIdentifier: identifier)
    }
}
