import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// Code for AFNetworking 2, at work.
@MainActor @Suite struct MagazineClientTests {
    private let server: TestServer
    private let queue = OperationQueue()

    init() throws {
        server = try TestServer()
        server.install(.authentication)
        server.route("GET", "/issues") { .json("[\"\($0.target)\", \"\($0.headers["User-Agent"] ?? "")\"]") }
        server.route("GET", "/page", .text("page"))
        server.route("GET", "/moved", ServerReply.status(302).header("Location", "/page"))
        server.route("GET", "/issue") { .file(Data(repeating: 0x78, count: 2_000_000), entityTag: "\"1\"", to: $0) }
    }

    private func wait<Value>(_ body: (@escaping (Value) -> Void) -> Void) async -> Value {
        await withCheckedContinuation { continuation in
            body { continuation.resume(returning: $0) }
        }
    }

    @Test func `a client gets, and counts what runs`() async throws {
        let client = MagazineClient.client(for: server.url("/"))
        let issues: [String]? = await wait { done in client.issues(of: 2014) { issues, _ in done(issues) } }
        #expect(issues == ["/issues?year=2014", "reader/1.4"])

        server.route("GET", "/issues", ServerReply.json("[]").status(500))
        let error: NSError? = await wait { done in client.issues(of: 2015) { done($1 as NSError?) } }
        #expect(error?.domain == AFURLResponseSerializationErrorDomain)
        for _ in 0..<3000 where client.running != 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(client.running == 0)
    }

    @Test func `a client loads many pages, and reports its progress`() async throws {
        let client = MagazineClient.client(for: server.url("/"))
        var steps: [UInt] = []
        let pages: [Data] = await wait { done in
            client.fetch(Array(repeating: server.url("/page"), count: 5)) { finished, total in
                #expect(total == 5)
                steps.append(finished)
            } completion: {
                done($0)
            }
        }
        #expect(pages == Array(repeating: Data("page".utf8), count: 5))
        #expect(steps.count == 5 && steps.max() == 5)
    }

    @Test func `a download is paused, resumed and saved`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("issue-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        var download: IssueDownload?
        let error: Error? = await wait { done in
            download = IssueDownload(server.url("/issue"), to: file) { done($0) }
            download?.begin(in: queue)
            download?.togglePause()
            download?.togglePause()
        }
        #expect(error == nil && download?.fraction == 1)
        #expect(try Data(contentsOf: file).count == 2_000_000)
    }

    @Test(arguments: [
        ("/moved", NSURLErrorBadServerResponse), ("/basic-auth/a/b", NSURLErrorUserCancelledAuthentication),
    ])
    func `blocks refuse redirects and challenges`(_ path: String, _ code: Int) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("issue-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let error: NSError? = await wait { done in
            IssueDownload(server.url(path), to: file) { done($0 as NSError?) }.begin(in: queue)
        }
        #expect(error?.code == code)
    }

    @Test func `an operation of one's own sends what it adds`() async throws {
        let operation = TaggedOperation(request: URLRequest(url: server.url("/page")))
        let text: String? = await wait { done in
            operation.completionBlock = { done(operation.responseString) }
            operation.start()
        }
        #expect(text == "page" && server.requests.first?.headers["X-Tag"] == "tagged")
    }
}
