import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

final class Staying: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(request.url?.host == response.url?.host ? request : nil)
    }
}

/// The snippets of the article about redirects, and the facts of its table.
@Suite struct RedirectsTests {
    private let site: Site

    init() throws {
        site = try Site()
    }

    @Test func `the delegate of the page stays with its host`() async throws {
        let session = URLSession(configuration: .ephemeral, delegate: Staying(), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        site.server.route("GET", "/here", ServerReply.status(302).header("Location", "/get"))
        site.server.route("GET", "/there", ServerReply.status(302).header("Location", "http://elsewhere.test/"))

        let (_, here) = try await session.data(from: site.url("/here"))
        let (_, there) = try await session.data(from: site.url("/there"))

        #expect((here as? HTTPURLResponse)?.statusCode == 200)
        #expect((there as? HTTPURLResponse)?.statusCode == 302)
    }

    @Test func `the settings of the page bound redirects and keep fields`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.redirectPolicy.maximumCount = 5
        configuration.redirectPolicy.sensitiveFields = ["X-Tenant"]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let other = try Site()
        other.server.route("GET", "/see") { .text($0.headers["X-Tenant"] ?? "none") }
        site.server.route("GET", "/loop", ServerReply.status(302).header("Location", "/loop"))
        site.server.route(
            "GET",
            "/there",
            ServerReply.status(302).header("Location", other.url("/see").absoluteString)
        )
        var request = URLRequest(url: site.url("/there"))
        request.setValue("t", forHTTPHeaderField: "X-Tenant")

        #expect(String(decoding: try await session.data(for: request).0, as: UTF8.self) == "none")
        let error = await #expect(throws: URLError.self) { try await session.data(from: site.url("/loop")) }
        #expect(error?.code == .httpTooManyRedirects)
        #expect(site.server.requests.count { $0.path == "/loop" } == 6)
    }

    @Test func `the table of redirects has each setting with its default`() throws {
        let page = try Repository.text("Sources/AFNetworking/AFNetworking.docc/Redirects.md")
        let policy = RedirectPolicy()
        let defaults = Mirror(reflecting: policy).children.map { child in
            (child.label ?? "", child.value as? Set<String> == [] ? "none" : "\(child.value)")
        }

        #expect(defaults.count == 6)
        #expect(defaults.filter { !page.contains("| `\($0)` | \($1) |") }.map(\.0) == [])
    }
}
