import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

@testable import LinkChecker

@Suite struct LinkCheckerTests {
    @Test func `a hundred requests are in flight at once, and never more`() async throws {
        // The first hundred are answered when all of them are there, and then stay for a while: one more would be seen.
        let site = try PracticeSite(pages: 300, crowd: 100)
        // On a machine that is busy, a request that is sent again would be counted twice.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 600

        let report = await Crawl(inFlight: 100, configuration: configuration).check(from: site.server.url("/"))

        #expect(site.mostAtOnce == 100)
        #expect(site.server.acceptedConnections >= 100)
        #expect(report.checked == 303)
    }

    @Test func `broken links are told, with the reason and the page`() async throws {
        let site = try PracticeSite(pages: 20)
        let start = site.server.url("/")

        let report = await Crawl(inFlight: 8).check(from: start)

        #expect(report.broken.map(\.url.path) == ["/logo.png", "/missing", "/pages/13"])
        #expect(report.broken.map(\.page) == [start, start, start])
        let reasons = report.broken.map(\.reason)
        #expect(reasons.first?.hasPrefix("410 ") == true && reasons.dropFirst().first?.hasPrefix("404 ") == true)
        #expect(reasons.last?.isEmpty == false)
        #expect(site.server.requests.contains { $0.target == "/missing?a=1&b=2" })
        #expect(report.checked == 23 && report.elsewhere == 1 && report.leftOut == 0)
        #expect(site.mostAtOnce <= 8)
    }

    @Test func `it says who it is, asks for pictures by their heads, and for nothing twice`() async throws {
        let site = try PracticeSite(pages: 5)

        _ = await Crawl(inFlight: 4).check(from: site.server.url("/"))

        let requests = site.server.requests
        #expect(requests.allSatisfy { $0.headers["User-Agent"]?.hasPrefix("LinkChecker") == true })
        #expect(requests.filter { $0.method == "HEAD" }.map(\.path) == ["/logo.png"])
        #expect(Set(requests.map(\.target)).count == requests.count)
    }

    @Test func `it stops at a count`() async throws {
        let site = try PracticeSite(pages: 200)
        var crawl = Crawl(inFlight: 10)
        crawl.maximumLinks = 50

        let report = await crawl.check(from: site.server.url("/"))

        #expect(report.checked == 50)
        #expect(report.leftOut > 100)
    }

    @Test func `a server that is overloaded is asked again later`() async throws {
        let server = try TestServer()
        server.route("GET", "/", .text("<a href='/busy'>x</a>", type: "text/html"))
        server.enqueue(.status(429).header("Retry-After", "1"), .text("now"))

        let report = await Crawl(inFlight: 2).check(from: server.url("/"))

        #expect(report.broken == [])
        #expect(server.requests.map(\.path) == ["/", "/busy", "/busy"])
    }

    @Test func `links are found in pages as people write them`() throws {
        let page = try #require(URL(string: "http://a.test/b/c.html?d"))
        let text = """
            <a href="x.html">, <A HREF = '/y?1&amp;2'>, <img src="../z.png">, <a href="#top">, <a data-nohref>,
            <a href="https://other.test/#part">, <a href="mailto:a@b.test">
            """

        let links = Crawl.links(in: text, of: page).map(\.absoluteString)

        #expect(
            links == ["http://a.test/b/x.html", "http://a.test/y?1&2", "http://a.test/z.png", "https://other.test/"]
        )
    }
}
