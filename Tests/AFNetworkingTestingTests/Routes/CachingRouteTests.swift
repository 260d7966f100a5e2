import AFNetworkingTesting
import Foundation
import Testing

@Suite struct CachingRouteTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.caching { 784_111_777 })
    }

    private func visit(_ target: String, _ fields: String...) throws -> Visit {
        try Visit(server, target, fields)
    }

    private func number(_ visit: Visit) throws -> Int? { try visit.json()["visit"] as? Int }

    @Test func `each answer with a body counts as a visit`() throws {
        #expect(try number(visit("/cache")) == 1)
        #expect(try number(visit("/cache")) == 2)
        #expect(try number(visit("/cache/5")) == 1)
        for condition in ["If-None-Match: \"x\"", "If-Modified-Since: whenever"] {
            let reply = try visit("/cache", condition)
            #expect(reply.status == 304)
            #expect(reply.body.isEmpty)
            #expect(reply["etag"] == "\"the same\"")
        }
        #expect(try number(visit("/cache")) == 3)
    }

    @Test func `lifetimes are sent as Cache-Control or Expires`() throws {
        #expect(try visit("/cache/60")["cache-control"] == "public, max-age=60")
        let reply = try visit("/expires/90")
        #expect(reply["date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(reply["expires"] == "Sun, 06 Nov 1994 08:51:07 GMT")
        #expect(try visit("/expires/-1")["expires"] == "Sun, 06 Nov 1994 08:49:36 GMT")
        #expect(try visit("/expires/x").status == 400)
        let own = try visit("/cache/60?control=no-store&age=7")
        #expect(own.values("cache-control") == ["no-store"])
        #expect(own["age"] == "7")
    }

    @Test func `tags are compared strongly or weakly, by the condition`() throws {
        #expect(try visit("/etag/v1")["etag"] == "\"v1\"")
        #expect(try visit("/etag/v1?weak=1")["etag"] == "W/\"v1\"")
        #expect(try visit("/etag/v1", "If-None-Match: \"v0\", W/\"v1\"").status == 304)
        #expect(try visit("/etag/v1", "If-None-Match: *").status == 304)
        #expect(try visit("/etag/v1", "If-None-Match: \"v0,v1\"").status == 200)
        #expect(try visit("/etag/v1", "If-None-Match: \"v0\"", "If-Modified-Since: x").status == 200)
        #expect(try visit("/etag/v1", "If-Match: \"v1\"").status == 200)
        #expect(try visit("/etag/v1", "If-Match: \"v0\"").status == 412)
        #expect(try visit("/etag/v1?weak=1", "If-Match: W/\"v1\"").status == 412)
    }

    @Test func `conditions with dates are compared`() throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let path = "/last-modified/784111777"
        #expect(try visit(path)["last-modified"] == date)
        #expect(try visit(path, "If-Modified-Since: \(date)").status == 304)
        #expect(try visit(path, "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT").status == 200)
        #expect(try visit(path, "If-Unmodified-Since: \(date)").status == 200)
        #expect(try visit(path, "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT").status == 412)
        #expect(try visit("/last-modified/999999999999999").status == 400)
    }

    @Test func `an answer with Vary has the values of its fields`() throws {
        let reply = try visit("/vary/Accept-Language,X-A", "accept-language: de")
        #expect(reply["vary"] == "Accept-Language,X-A")
        let varied = try #require(try reply.json()["varied"] as? [String: Any])
        #expect(varied["Accept-Language"] as? String == "de")
        #expect(varied["X-A"] is NSNull)
    }

    @Test func `without another clock the date is that of the wall clock`() throws {
        let server = try TestServer()
        server.install(.caching)
        let year = Calendar(identifier: .gregorian).component(.year, from: Date())
        #expect(try Visit(server, "/cache")["date"]?.contains(" \(year) ") == true)
    }
}
