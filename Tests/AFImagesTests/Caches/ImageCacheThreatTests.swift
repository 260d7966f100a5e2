@testable import AFImages

/// Hostile images and keys in a cache.
@Suite struct ImageCacheThreatTests {
    /// A cache of the simplest kind.
    private struct Model {
        var entries: [(name: String, cost: UInt64)] = []
        let capacity: UInt64
        let preferred: UInt64

        var usage: UInt64 { entries.reduce(0) { $0 + $1.cost } }

        mutating func add(_ name: String, _ cost: UInt64) {
            entries.removeAll { $0.name == name }
            guard cost <= capacity else { return }
            entries.append((name, cost))
            guard usage > capacity else { return }
            while usage > min(preferred, capacity) { entries.removeFirst() }
        }

        mutating func use(_ name: String) -> Bool {
            guard let index = entries.firstIndex(where: { $0.name == name }) else { return false }
            entries.append(entries.remove(at: index))
            return true
        }

        mutating func remove(_ name: String) -> Bool {
            let count = entries.count
            entries.removeAll { $0.name == name }
            return entries.count != count
        }
    }

    @Test(arguments: [(4000, 2000), (4000, 0), (400, 4000), (0, 0)] as [(UInt64, UInt64)])
    func `T-IMG-08 costs add up, and a purge ends, over ten thousand random steps`(
        capacity: UInt64,
        preferred: UInt64
    ) {
        let cache = AutoPurgingImageCache(
            memoryCapacity: capacity,
            preferredMemoryCapacity: preferred,
            memoryPressure: nil
        )
        var model = Model(capacity: capacity, preferred: preferred)
        var random = SystemRandomNumberGenerator()
        let images = (1...12).map { Pictures.plain(width: $0, height: 10) }
        for step in 0..<10_000 {
            let name = "\(Int.random(in: 0..<20, using: &random))"
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let width = Int.random(in: 1...12, using: &random)
                cache.add(images[width - 1], withIdentifier: name)
                model.add(name, UInt64(width * 40))
            case 5..<8: #expect((cache.image(withIdentifier: name) != nil) == model.use(name))
            case 8: #expect(cache.removeImage(withIdentifier: name) == model.remove(name))
            default: if step.isMultiple(of: 100) { _ = (cache.removeAllImages(), model.entries.removeAll()) }
            }
            guard cache.memoryUsage == model.usage else {
                Issue.record("step \(step): \(cache.memoryUsage), not \(model.usage)")
                return
            }
        }
    }

    @Test func `T-IMG-09 an image that is larger than the cache is not kept, and evicts no other`() {
        let cache = AutoPurgingImageCache(memoryCapacity: 1000, preferredMemoryCapacity: 500, memoryPressure: nil)
        cache.add(Pictures.plain(width: 10, height: 10), withIdentifier: "small")
        cache.add(Pictures.plain(width: 10, height: 10), withIdentifier: "changed")

        cache.add(Pictures.plain(width: 16, height: 16), withIdentifier: "large")
        cache.add(Pictures.plain(width: 16, height: 16), withIdentifier: "changed")

        #expect(cache.image(withIdentifier: "small") != nil)
        #expect(cache.image(withIdentifier: "large") == nil)
        // What was there is out of date.
        #expect(cache.image(withIdentifier: "changed") == nil)
        #expect(cache.memoryUsage == 400)
    }

    private func request(_ text: String, _ fields: [String: String] = [:]) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: text)))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    @Test func `T-IMG-10 different names never collide`() throws {
        let cache = AutoPurgingImageCache(
            memoryCapacity: 1 << 20,
            preferredMemoryCapacity: 1 << 20,
            memoryPressure: nil
        )
        let base = try request("https://example.test/a")
        var withoutCookies = base
        withoutCookies.httpShouldHandleCookies = false
        let all: [(URLRequest, String?)] = [
            (base, nil), (base, "b"), (try request("https://example.test/ab"), nil), (base, ""),
            (try request("https://example.test/a?"), nil), (try request("https://example.test/a?b"), nil),
            (try request("https://example.test/a#b"), nil), (try request("https://example.test/A"), nil),
            (try request("http://example.test/a"), nil), (try request("https://user@example.test/a"), nil),
            (try request("https://example.test/a", ["Authorization": "one"]), nil),
            (try request("https://example.test/a", ["Authorization": "two"]), nil),
            (try request("https://example.test/a", ["Cookie": "one"]), nil),
            (try request("https://example.test/a", ["X-A": "bX-C"]), nil),
            (try request("https://example.test/a", ["X-A": "b", "X-C": ""]), nil), (withoutCookies, nil),
        ]

        for (index, (request, identifier)) in all.enumerated() {
            #expect(cache.image(for: request, withAdditionalIdentifier: identifier) == nil, "\(request) \(index)")
            cache.add(
                Pictures.plain(width: 1, height: index + 1),
                for: request,
                withAdditionalIdentifier: identifier
            )
        }
        for (index, (request, identifier)) in all.enumerated() {
            #expect(cache.image(for: request, withAdditionalIdentifier: identifier)?.height == index + 1)
        }
    }

    @Test func `T-IMG-10 what does not change the image does not change its name`() throws {
        let cache = AutoPurgingImageCache(
            memoryCapacity: 1 << 20,
            preferredMemoryCapacity: 1 << 20,
            memoryPressure: nil
        )
        cache.add(Pictures.logo, withIdentifier: "https://example.test/a")
        cache.add(Pictures.plain(width: 1, height: 1), withIdentifier: "https://example.test/a")
        let fields = ["accept": "image/*", "Accept-Encoding": "br", "User-Agent": "me", "Cache-Control": "no-cache"]

        var request = try request("https://example.test/a", fields)
        request.cachePolicy = .reloadIgnoringLocalCacheData
        request.timeoutInterval = 5

        #expect(cache.image(for: request, withAdditionalIdentifier: nil)?.width == 1)
    }

    @Test func `T-IMG-10 images of requests that change something, or have a body, are not shared`() throws {
        let cache = AutoPurgingImageCache(
            memoryCapacity: 1 << 20,
            preferredMemoryCapacity: 1 << 20,
            memoryPressure: nil
        )
        var request = try request("https://example.test/a")
        request.httpMethod = "POST"
        request.httpBody = Data("a".utf8)

        cache.add(Pictures.plain(width: 1, height: 1), for: request, withAdditionalIdentifier: nil)

        #expect(cache.memoryUsage == 0)
        #expect(cache.image(for: request, withAdditionalIdentifier: nil) == nil)
    }
}
