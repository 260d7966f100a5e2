import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

@Suite("Ported code: connections")
struct PageLoaderTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.authentication)
        server.route("GET", "/moved", ServerReply.status(302).header("Location", "/page"))
        server.route("GET", "/page", .text("a page"))
    }

    private func load(_ path: String, password: String = "passwd") async -> (PageLoader.Page?, Error?, Int) {
        await withCheckedContinuation { done in
            var loader: PageLoader?
            loader = PageLoader(user: "user", password: password) { page, error in
                done.resume(returning: (page, error, loader?.redirects ?? -1))
                loader = nil
            }
            loader?.load(server.url(path))
        }
    }

    @Test func `a page is loaded on the main run loop, over a redirect`() async {
        let (page, error, redirects) = await load("/moved")

        #expect(error == nil && redirects == 1)
        #expect(page?.status == 200 && page?.text == "a page" && page?.url == server.url("/page"))
    }

    @Test func `a user who may see a page is asked for a password, once`() async {
        let (page, _, _) = await load("/basic-auth/user/passwd")
        #expect(page?.status == 200)

        let (none, error, _) = await load("/basic-auth/user/passwd", password: "wrong")
        #expect(none == nil && (error as NSError?)?.code == NSURLErrorUserCancelledAuthentication)
    }

    @Test func `a file is fetched and moved`() async throws {
        let target = FileManager.default.temporaryDirectory.appendingPathComponent("fetched-\(UUID())")
        defer { try? FileManager.default.removeItem(at: target) }

        let (written, error): (Int64, Error?) = await withCheckedContinuation { done in
            FileFetcher(target: target) { done.resume(returning: ($0, $1)) }.fetch(server.url("/page"))
        }

        #expect(error == nil && written == 6)
        #expect(try Data(contentsOf: target) == Data("a page".utf8))
    }

    @Test func `one line loads a page, waiting or not`() async throws {
        let request = URLRequest(url: server.url("/page"))
        let text: String? = await withCheckedContinuation { done in
            NSURLConnection.sendAsynchronousRequest(request, queue: OperationQueue()) { _, data, _ in
                done.resume(returning: data.flatMap { String(data: $0, encoding: .utf8) })
            }
        }
        #expect(text == "a page")

        var response: URLResponse?
        let data = try NSURLConnection.sendSynchronousRequest(request, returning: &response)
        #expect(data == Data("a page".utf8) && (response as? HTTPURLResponse)?.statusCode == 200)
    }
}
