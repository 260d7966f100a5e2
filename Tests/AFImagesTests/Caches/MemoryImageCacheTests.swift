/// Section 11.1: the cache of AFNetworking 2.
@Suite struct MemoryImageCacheTests {
    private let cache = MemoryImageCache(memoryPressure: nil)
    private let request = URLRequest(url: URL(string: "https://example.test/logo.png")!)
    private let image = Pictures.plain(width: 8, height: 4)

    @Test func `11.1 requests that ignore caches find nothing, all others do`() {
        cache.cacheImage(image, for: request)

        for policy: URLRequest.CachePolicy in [
            .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad, .reloadRevalidatingCacheData,
        ] {
            var request = request
            request.cachePolicy = policy
            #expect(cache.cachedImage(for: request) == image)
        }
        for policy: URLRequest.CachePolicy in [.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData] {
            var request = request
            request.cachePolicy = policy
            #expect(cache.cachedImage(for: request) == nil)
        }
    }

    @Test func `11.1 nothing is stored without an image or a request`() {
        cache.cacheImage(nil, for: request)
        cache.cacheImage(image, for: nil)
        #expect(!cache.removeAllImages())
    }

    @Test func `11.1 there is no limit, until memory is scarce`() {
        let pressure = MemoryPressure()
        let cache = MemoryImageCache(memoryPressure: pressure)
        for number in 0..<150 { cache.add(Pictures.logo, withIdentifier: "\(number)") }
        #expect((0..<150).allSatisfy { cache.image(withIdentifier: "\($0)") != nil })

        pressure.announce()

        #expect(!cache.removeAllImages())
    }

    @Test func `limits of number and cost remove the oldest images`() {
        for number in 0..<10 { cache.add(image, withIdentifier: "\(number)") }
        #expect(cache.image(withIdentifier: "0") != nil)

        cache.countLimit = 5
        #expect((0..<10).filter { cache.image(withIdentifier: "\($0)") != nil } == [0, 6, 7, 8, 9])
        cache.totalCostLimit = 2 * 128
        #expect((0..<10).filter { cache.image(withIdentifier: "\($0)") != nil } == [8, 9])
        cache.add(image, withIdentifier: "10")
        #expect((0...10).filter { cache.image(withIdentifier: "\($0)") != nil } == [9, 10])
    }

    @Test func `images are removed by name and by request`() {
        cache.add(image, withIdentifier: "logo")
        cache.add(image, for: request, withAdditionalIdentifier: "small")

        #expect(cache.removeImage(withIdentifier: "logo") && !cache.removeImage(withIdentifier: "logo"))
        #expect(cache.removeImage(for: request, withAdditionalIdentifier: "small"))
        #expect(!cache.removeImage(for: request, withAdditionalIdentifier: "small"))
    }
}
