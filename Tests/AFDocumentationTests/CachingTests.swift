import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the article about caching.
@Suite struct CachingTests {
    private let site: Site
    private let folder: URL
    private let temporary: ScratchFolder

    init() throws {
        site = try Site()
        temporary = try ScratchFolder()
        folder = temporary.url
    }

    @Test func `an answer is kept on disk and given again`() async throws {
        let url = site.url("/cache/60")

        let configuration = URLSessionConfiguration.default
        configuration.urlCache = URLCache(memoryCapacity: 8 << 20, diskCapacity: 100 << 20, directory: folder)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }

        _ = try await session.data(from: url)
        do {
            var request = URLRequest(url: url)
            request.cachePolicy = .returnCacheDataElseLoad
            let (data, response) = try await session.data(for: request)
            #expect(!data.isEmpty && (response as? HTTPURLResponse)?.statusCode == 200)
        }
        do {
            let collector = TaskMetricsCollector()
            let (data, response) = try await session.data(from: url, delegate: collector)
            let isFromCache = collector.metrics?.transactionMetrics.last?.resourceFetchType == .localCache
            #expect(isFromCache && !data.isEmpty && response.url == url)
        }
        #expect(site.server.requests.count == 1)
    }

    @Test func `a delegate keeps answers out of the cache`() async throws {
        let session = site.owned(URLSession(configuration: .ephemeral, delegate: Discreet(), delegateQueue: nil))
        let url = site.url("/cache/60")

        for count in 1...2 {
            session.dataTask(with: url).resume()
            try await ended.wait(for: count)
        }

        #expect(site.server.requests.count == 2)
    }

    @Test func `a delegate says how long answers are good`() async throws {
        site.server.route("GET", "/silent", .text("nothing about caches"))
        let session = site.owned(URLSession(configuration: .ephemeral, delegate: Patient(), delegateQueue: nil))
        let url = site.url("/silent")

        for count in 1...2 {
            session.dataTask(with: url).resume()
            try await answered.wait(for: count)
        }

        #expect(site.server.requests.count == 1)
    }

    @Test func `what is kept is looked at and removed`() async throws {
        let cache = URLCache(memoryCapacity: 8 << 20, diskCapacity: 0)
        let configuration = site.configuration
        configuration.urlCache = cache
        let session = site.owned(URLSession(configuration: configuration))
        let request = URLRequest(url: site.url("/cache/60"))
        _ = try await session.data(for: request)

        let kept = cache.cachedResponse(for: request)
        cache.removeCachedResponse(for: request)
        cache.removeCachedResponses(since: Date(timeIntervalSinceNow: -3600))
        cache.removeAllCachedResponses()

        #expect(kept != nil && cache.cachedResponse(for: request) == nil)
    }

    @Test func `a response counts with its fields and its place`() throws {
        let cache = URLCache(memoryCapacity: 40_000, diskCapacity: 0)
        let url = site.url("/kept")
        func store(_ count: Int) throws -> Int {
            let fields = ["Cache-Control": "max-age=60"]
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
            let kept = CachedURLResponse(response: try #require(response), data: Data(count: count))
            cache.removeAllCachedResponses()
            cache.storeCachedResponse(kept, for: URLRequest(url: url))
            return cache.currentMemoryUsage
        }

        let size = try store(1_000)
        #expect((1_512 + "Cache-Control: max-age=60".count..<1_600).contains(size))
        #expect(try store(1_000 + 2_000 - size) == 2_000)
        #expect(try store(1_001 + 2_000 - size) == 0)
    }

    @Test func `without anything kept, an answer of the cache alone is -1008`() async throws {
        let request = URLRequest(url: site.url("/cache/60"), cachePolicy: .returnCacheDataDontLoad)
        let session = site.session

        let error = await #expect(throws: URLError.self) { _ = try await session.data(for: request) }

        #expect(error?.errorCode == -1008 && site.server.requests.isEmpty)
    }

    @Test func `a program for one user says so`() async {
        await #expect(processExitsWith: .success) {
            URLCache.shared.servesOneUser = true
            #expect(URLCache.shared.servesOneUser && !URLCache.shared.keepsPersonalResponsesOnDisk)
        }
    }

    @Test func `what is for one user is on the disk if the program wants it`() async {
        await #expect(processExitsWith: .success) {
            URLCache.shared.keepsPersonalResponsesOnDisk = true
            #expect(URLCache.shared.keepsPersonalResponsesOnDisk && !URLCache.shared.guessesFreshness)
        }
    }
}

private let ended = Heard<Bool>()
private let answered = Heard<Bool>()

extension Discreet {
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended.add(error == nil)
    }
}

private func isPublic(_ task: URLSessionDataTask) -> Bool { false }

final class Discreet: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(isPublic(dataTask) ? proposedResponse : nil)
    }
}

extension Patient {
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        answered.add(error == nil)
    }
}

final class Patient: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        let response = proposedResponse.response as? HTTPURLResponse
        guard let response, let url = response.url else { return completionHandler(proposedResponse) }
        var fields = response.allHeaderFields as? [String: String] ?? [:]
        fields["Cache-Control"] = "max-age=600"
        let lasting = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        completionHandler(lasting.map { CachedURLResponse(response: $0, data: proposedResponse.data) })
    }
}
