import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the article about uploads.
@Suite struct UploadingTests {
    private let site: Site
    private let folder: ScratchFolder
    private let drawn = Heard<[Int64]>()

    init() throws {
        site = try Site()
        folder = try ScratchFolder()
        site.server.route("*", "/store") { .text("\($0.method) \($0.bodyByteCount)") }
        site.server.route("POST", "/photos", .json("{}"))
    }

    @Test func `a file and bytes are sent`() async throws {
        let (session, url) = (site.session, site.url("/store"))
        let file = try folder.write("a", Data("content".utf8))

        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        request.setValue("video/mp4", forHTTPHeaderField: "Content-Type")
        let (data, response) = try await session.upload(for: request, fromFile: file)

        #expect(String(decoding: data, as: UTF8.self) == "PUT 7")
        #expect((response as? HTTPURLResponse)?.statusCode == 200)

        var note = URLRequest(url: url)
        note.httpMethod = "POST"
        let (answer, _) = try await session.upload(for: note, from: Data("hello".utf8))

        #expect(String(decoding: answer, as: UTF8.self) == "POST 5")
        request.maximumBytesSentPerSecond = 100_000
        let configuration = site.configuration
        configuration.expectsContinueAbove = 1 << 20
        #expect(request.maximumBytesSentPerSecond == 100_000 && configuration.expectsContinueAbove == 1_048_576)
    }

    @Test func `a GET with a body says what is wrong`() async throws {
        let session = site.session
        let request = URLRequest(url: site.url("/store"))

        let error = await #expect(throws: URLError.self) {
            _ = try await session.upload(for: request, from: Data("hello".utf8))
        }

        #expect(error?.errorCode == -1103)
    }

    @Test func `forms are posted, with progress`() async throws {
        let (manager, url) = (site.manager, site.url("/photos"))
        let photo = try folder.write("sunset.jpg", Data("picture".utf8))
        let image = Data("picture".utf8)
        let drawn = drawn
        @Sendable func draw(_ count: Int64, of total: Int64) { drawn.add([count, total]) }

        let form = try manager.requestSerializer.multipartFormRequest(
            withMethod: "POST",
            urlString: url.absoluteString,
            parameters: ["title": "Sunset"]
        ) { form in
            try form.appendPart(withFileURL: photo, name: "photo")
        }
        let (answer, _) = try await manager.session.data(for: form)

        try await manager.post("photos") { form in
            form.appendPart(withFileData: image, name: "photo", fileName: "a.png", mimeType: "image/png")
        } progress: { progress in
            draw(progress.completedUnitCount, of: progress.totalUnitCount)
        }

        #expect(answer == Data("{}".utf8) && site.server.requests.count == 2)
        #expect(site.server.requests.first?.bodyText.contains("filename=\"sunset.jpg\"") == true)
        #expect(try await drawn.wait()[0][1] > 0)
    }

    @Test func `a stream is sent, and again after a redirect`() async throws {
        let file = try folder.write("a", Data("content".utf8))
        let recording = Recording(file, drawn)
        let session = site.owned(URLSession(configuration: .ephemeral, delegate: recording, delegateQueue: nil))
        let url = site.url("/redirect-to?url=/store&status_code=307")

        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(url: file)
        let task = session.uploadTask(withStreamedRequest: request)
        task.resume()

        let requests = try await site.server.waitForRequests(2)
        #expect(requests.last?.path == "/store" && requests.last?.bodyByteCount == 7)
    }

    @Test func `a body is made shorter`() async throws {
        let (session, collector) = (site.session, site.url("/store"))

        var request = URLRequest(url: collector)
        request.httpMethod = "POST"
        request.httpBody = Data(String(repeating: "a line of a log\n", count: 10_000).utf8)
        request.bodyCoding = .gzip
        let (_, response) = try await session.data(for: request)

        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        let received = try #require(site.server.requests.last)
        #expect(received.headers["Content-Encoding"] == "gzip" && received.bodyByteCount < 1000)
    }

    @Test func `an answer is read as it comes, and fields follow a body`() async throws {
        let session = site.session
        let content = Data("content".utf8)
        @Sendable func show(_ line: String) { drawn.add([Int64(line.count)]) }
        var request = URLRequest(url: site.url("/store"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: content)

        let (bytes, _) = try await session.bytes(for: request)
        for try await line in bytes.lines {
            show(line)
        }

        let length = RunningLength()
        request.httpBodyStream = length.counting(content)
        request.trailers = RequestTrailers("X-Length") { ["X-Length": "\(length.count)"] }
        let (answer, _) = try await session.data(for: request)

        #expect(drawn.all == [[6]] && answer == Data("POST 7".utf8))
        #expect(site.server.requests.last?.trailers["X-Length"] == "7")
    }
}

/// Counts what is read of a stream.
final class RunningLength: Sendable {
    private let counted = Heard<Int>()

    var count: Int { counted.all.reduce(0, +) }

    func counting(_ content: Data) -> InputStream { Counted(content, counted) }

    private final class Counted: InputStream {
        private let counted: Heard<Int>

        init(_ content: Data, _ counted: Heard<Int>) {
            self.counted = counted
            super.init(data: content)
        }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            let count = super.read(buffer, maxLength: maxLength)
            counted.add(count)
            return count
        }
    }
}

final class Recording: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(InputStream(url: file))
    }

    private let file: URL
    private let drawn: Heard<[Int64]>

    init(_ file: URL, _ drawn: Heard<[Int64]>) {
        (self.file, self.drawn) = (file, drawn)
    }

    private func draw(_ count: Int64, of total: Int64) { drawn.add([count, total]) }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        draw(totalBytesSent, of: totalBytesExpectedToSend)
    }
}
