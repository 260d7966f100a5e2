import AFNetworkingTesting
import AFURLSession
import Foundation
import Glibc
import Testing

@Suite("Uploads from files")
struct FileUploadTests {
    private let folder: UploadFolder
    private let server: TestServer

    init() throws {
        folder = try UploadFolder()
        server = try TestServer()
        server.route("*", "/", .text("taken"))
    }

    private func upload(_ file: URL, method: String = "PUT") async throws -> Outcome {
        let session = URLSession.loopback()
        let outcomes = Outcomes()
        let request = URLRequest(method, server.url("/"))
        session.uploadTask(with: request, fromFile: file, completionHandler: outcomes.handler).resume()
        return try await outcomes.first()
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000, 1_000_003, 5_000_000])
    func `a file arrives byte for byte`(size: Int) async throws {
        let content = UploadFolder.pattern(size)

        let outcome = try await upload(folder.file(content))

        #expect(outcome.text == "taken", "\(outcome)")
        let request = try #require(server.requests.first)
        #expect(request.body == content)
        #expect(request.headers.values(of: "Content-Length") == ["\(size)"])
        #expect(request.headers.values(of: "Transfer-Encoding").isEmpty)
    }

    @Test func `T-FIL-20 what is no file fails before anything is sent`() async throws {
        let fifo = folder.url.appendingPathComponent("fifo")
        #expect(mkfifo(fifo.path, 0o600) == 0)
        let cases: [(URL, URLError.Code)] = [
            (folder.url.appendingPathComponent("missing"), .fileDoesNotExist),
            (try folder.file(Data([1])).appendingPathComponent("below"), .fileDoesNotExist),
            (folder.url, .fileIsDirectory),
            (fifo, .cannotOpenFile),
            (URL(fileURLWithPath: "/dev/zero"), .cannotOpenFile),
            (try #require(URL(string: "http://a.test/file")), .cannotOpenFile),
            (try #require(URL(string: "file:///dev/null%00.txt")), .fileDoesNotExist),
        ]
        for (url, code) in cases {
            let outcome = try await upload(url)

            #expect(outcome.error?.code == code, "\(url) \(outcome)")
            #expect(outcome.reason == .file)
            #expect(outcome.error?.loadFailure?.phase == .preparing)
        }
        #expect(server.acceptedConnections == 0)
    }

    @Test func `a method without body sends no file`() async throws {
        let outcome = try await upload(folder.file(Data([1])), method: "GET")

        #expect(outcome.reason == .request, "\(outcome)")
        #expect(server.acceptedConnections == 0)
    }
}
