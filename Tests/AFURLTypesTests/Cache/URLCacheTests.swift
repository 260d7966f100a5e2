import Foundation
import Testing

@testable import AFURLTypes

extension CacheTests {
    struct Public {
        let folder: ScratchFolder
        let cache: URLCache
        let request: URLRequest

        init() throws {
            folder = try ScratchFolder()
            cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 4 << 20, directory: folder.url)
            request = URLRequest(url: try #require(URL(string: "http://a.test/page")))
        }

        private func cached(
            _ body: String,
            status: Int = 200,
            _ fields: [String: String] = [:],
            userInfo: [AnyHashable: Any]? = nil,
            policy: URLCache.StoragePolicy = .allowed
        ) throws -> CachedURLResponse {
            let url = try #require(request.url)
            let response = try #require(
                HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
            )
            return CachedURLResponse(
                response: response,
                data: Data(body.utf8),
                userInfo: userInfo,
                storagePolicy: policy
            )
        }

        private func reopened() -> URLCache {
            URLCache(memoryCapacity: 1 << 20, diskCapacity: 4 << 20, directory: folder.url)
        }

        @Test func `the shared cache has the sizes everybody knows`() {
            #expect(URLCache.shared === URLCache.shared)
            #expect(URLCache.shared.memoryCapacity == 4 << 20 && URLCache.shared.diskCapacity == 20 << 20)
        }

        @Test func `a stored response is found, equal, also by the next process`() throws {
            let stored = try cached("body", ["Content-Type": "text/plain"], userInfo: ["a": [1, 2], "b": "c"])
            cache.storeCachedResponse(stored, for: request)
            #expect(cache.cachedResponse(for: request) === stored)
            let found = try #require(reopened().cachedResponse(for: request))
            #expect(found == stored && found.hash == stored.hash && found !== stored)
            #expect(found.userInfo?["b"] as? String == "c")
            #expect(cache.currentDiskUsage > 0 && cache.currentMemoryUsage > 0)
        }

        @Test func `equality looks at everything`() throws {
            let one = try cached("body", userInfo: ["a": 1])
            #expect(one == (try cached("body", userInfo: ["a": 1])))
            #expect(one.copy() as? CachedURLResponse === one)
            for other in [
                try cached("Body", userInfo: ["a": 1]), try cached("body", userInfo: ["a": 2]), try cached("body"),
                try cached("body", status: 404, userInfo: ["a": 1]),
                try cached("body", userInfo: ["a": 1], policy: .notAllowed), try cached("body", userInfo: ["b": 1]),
            ] { #expect(one != other) }
        }

        @Test func `a response that may not be stored is not stored`() throws {
            cache.storeCachedResponse(try cached("x", policy: .notAllowed), for: request)
            cache.storeCachedResponse(try cached("x", status: 206), for: request)
            cache.storeCachedResponse(try cached("x", ["Cache-Control": "No-Store"]), for: request)
            cache.storeCachedResponse(try cached("x", ["Vary": "*"]), for: request)
            var post = request
            post.httpMethod = "POST"
            cache.storeCachedResponse(try cached("x"), for: post)
            var range = request
            range.setValue("bytes=0-1", forHTTPHeaderField: "Range")
            cache.storeCachedResponse(try cached("x"), for: range)
            cache.storeCachedResponse(try cached("x"), for: URLRequest(url: URL(fileURLWithPath: "/x")))
            #expect(
                cache.cachedResponse(for: request) == nil && cache.currentMemoryUsage == 0
                    && cache.currentDiskUsage == 0
            )
        }

        @Test func `a response of any status is found by the next process, unless it varies with a secret`()
            throws
        {
            for status in [100, 599, 600, 999] {
                cache.storeCachedResponse(try cached("\(status)", status: status), for: request)
                #expect(reopened().cachedResponse(for: request)?.data == Data("\(status)".utf8))
            }
            var asked = request
            asked.setValue("a=canary", forHTTPHeaderField: "Cookie")
            for status in [200, 401] {
                cache.storeCachedResponse(try cached("secret", status: status, ["Vary": "Cookie"]), for: asked)
                #expect(cache.cachedResponse(for: asked)?.data == Data("secret".utf8))
                #expect(reopened().cachedResponse(for: asked)?.data != Data("secret".utf8))
            }
        }

        @Test func `memory only means memory, and things of the program stay there`() throws {
            cache.storeCachedResponse(try cached("x", policy: .allowedInMemoryOnly), for: request)
            #expect(cache.cachedResponse(for: request)?.storagePolicy == .allowedInMemoryOnly)
            #expect(reopened().cachedResponse(for: request) == nil)
            cache.storeCachedResponse(try cached("x", userInfo: ["a": NSObject()]), for: request)
            #expect(cache.cachedResponse(for: request)?.userInfo?["a"] is NSObject)
            #expect(reopened().cachedResponse(for: request) == nil)
            let url = try #require(request.url)
            let plain = URLResponse(url: url, mimeType: "a/b", expectedContentLength: 1, textEncodingName: nil)
            cache.storeCachedResponse(CachedURLResponse(response: plain, data: Data()), for: request)
            #expect(cache.cachedResponse(for: request)?.response === plain)
        }

        @Test func `a removed response is not found`() throws {
            var other = request
            other.url = URL(string: "http://a.test/other")
            for asked in [request, other] { cache.storeCachedResponse(try cached("x"), for: asked) }
            cache.removeCachedResponse(for: request)
            #expect(cache.cachedResponse(for: request) == nil && cache.cachedResponse(for: other) != nil)
            #expect(reopened().cachedResponse(for: request) == nil)
            cache.removeCachedResponses(since: Date(timeIntervalSinceNow: 1000))
            #expect(cache.cachedResponse(for: other) != nil)
            cache.removeCachedResponses(since: .distantPast)
            #expect(cache.cachedResponse(for: other) == nil && reopened().cachedResponse(for: other) == nil)
            cache.storeCachedResponse(try cached("x"), for: request)
            cache.removeAllCachedResponses()
            #expect(cache.cachedResponse(for: request) == nil && cache.currentMemoryUsage == 0)
            #expect(cache.currentDiskUsage == 0)
            for date in [
                Date.distantFuture, Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: -.infinity),
                Date(timeIntervalSince1970: .nan),
            ] {
                cache.removeCachedResponses(since: date)
            }
        }

        @Test func `responses are told apart by what they vary with`() throws {
            for language in ["de", "en"] {
                var asked = request
                asked.setValue(language, forHTTPHeaderField: "Accept-Language")
                cache.storeCachedResponse(try cached(language, ["Vary": "Accept-Language"]), for: asked)
            }
            for language in ["de", "en"] {
                var asked = request
                asked.setValue(language, forHTTPHeaderField: "Accept-Language")
                #expect(cache.cachedResponse(for: asked)?.data == Data(language.utf8))
            }
            #expect(cache.cachedResponse(for: request)?.data == Data("en".utf8))
            var secret = request
            secret.setValue("Basic x", forHTTPHeaderField: "Authorization")
            #expect(cache.cachedResponse(for: secret) == nil)
        }

        @Test func `a path may be given in place of a folder`() throws {
            let path = folder.file("by-path").path
            let cache = URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, diskPath: path)
            cache.storeCachedResponse(try cached("x"), for: request)
            #expect(cache.currentDiskUsage > 0 && FileManager.default.fileExists(atPath: path))
            #expect(!cache.description.contains("by-path"))
        }

        @Test func `things of the program are let go of without a lock held`() throws {
            final class Caller: Sendable {
                let cache: URLCache
                init(_ cache: URLCache) { self.cache = cache }
                deinit { _ = cache.currentMemoryUsage }
            }
            cache.storeCachedResponse(try cached("x", userInfo: ["a": Caller(cache)]), for: request)
            cache.storeCachedResponse(try cached("x", userInfo: ["a": Caller(cache)]), for: request)
            cache.removeAllCachedResponses()
            cache.storeCachedResponse(try cached("x", userInfo: ["a": Caller(cache)]), for: request)
            cache.memoryCapacity = 0
            #expect(cache.currentMemoryUsage == 0)
        }
    }
}
