/// The acceptance catalogue, 13.10, and the rules of section 11.2.
@Suite struct AutoPurgingImageCacheTests {
    private static let mebibyte: UInt64 = 1 << 20
    private let cache = AutoPurgingImageCache(
        memoryCapacity: 100 * mebibyte,
        preferredMemoryCapacity: 60 * mebibyte,
        memoryPressure: nil
    )
    private let request = URLRequest(url: URL(string: "https://example.test/logo.png")!)
    private let other = URLRequest(url: URL(string: "https://example.test/other.png")!)
    private let image = Pictures.plain(width: 8, height: 4, value: 1)
    private let another = Pictures.plain(width: 8, height: 4, value: 2)

    // MARK: - Finding

    @Test func `13.10 an image is found by its identifier, and the second one of a name wins`() {
        cache.add(image, withIdentifier: "logo")
        #expect(cache.image(withIdentifier: "logo") == image)
        #expect(cache.image(withIdentifier: "Logo") == nil)

        cache.add(another, withIdentifier: "logo")
        #expect(cache.image(withIdentifier: "logo") == another)
        #expect(cache.memoryUsage == 128)
    }

    @Test func `13.10 an image is found by its request, and not by another one`() {
        cache.add(image, for: request, withAdditionalIdentifier: nil)

        #expect(cache.image(for: request, withAdditionalIdentifier: nil) == image)
        #expect(cache.image(for: other, withAdditionalIdentifier: nil) == nil)
    }

    @Test func `13.10 an image is found by request and identifier, and not without the identifier`() {
        cache.add(image, for: request, withAdditionalIdentifier: "small")
        #expect(cache.image(for: request, withAdditionalIdentifier: "small") == image)
        #expect(cache.image(for: request, withAdditionalIdentifier: nil) == nil)
        #expect(cache.image(for: other, withAdditionalIdentifier: "small") == nil)

        cache.add(another, for: request, withAdditionalIdentifier: "small")
        #expect(cache.image(for: request, withAdditionalIdentifier: "small") == another)
    }

    // MARK: - Removing

    @Test func `13.10 an image is removed once, by identifier, by request, and by both`() {
        cache.add(image, withIdentifier: "logo")
        cache.add(image, for: request, withAdditionalIdentifier: nil)
        cache.add(image, for: request, withAdditionalIdentifier: "small")

        for isFirst in [true, false] {
            #expect(cache.removeImage(withIdentifier: "logo") == isFirst)
            #expect(cache.removeImage(for: request, withAdditionalIdentifier: nil) == isFirst)
            #expect(cache.removeImage(for: request, withAdditionalIdentifier: "small") == isFirst)
        }
        #expect(cache.image(withIdentifier: "logo") == nil)
        #expect(cache.image(for: request, withAdditionalIdentifier: nil) == nil)
        #expect(cache.image(for: request, withAdditionalIdentifier: "small") == nil)
    }

    @Test func `13.10 an image with an identifier is not removed without it, or with another one`() {
        cache.add(image, for: request, withAdditionalIdentifier: "small")

        #expect(!cache.removeImage(for: request, withAdditionalIdentifier: nil))
        #expect(!cache.removeImage(for: request, withAdditionalIdentifier: "large"))
        #expect(cache.image(for: request, withAdditionalIdentifier: "small") == image)
    }

    @Test func `11.2 removing everything says whether there was anything`() {
        #expect(!cache.removeAllImages())
        cache.add(image, withIdentifier: "logo")
        #expect(cache.removeAllImages())
        #expect(cache.memoryUsage == 0 && cache.image(withIdentifier: "logo") == nil)
    }

    // MARK: - Memory

    @Test func `11.2 a new cache has room for 100 MiB and goes back to 60`() {
        let cache = AutoPurgingImageCache()

        #expect(cache.memoryCapacity == 104_857_600)
        #expect(cache.preferredMemoryUsageAfterPurge == 62_914_560)
        #expect(cache.memoryUsage == 0)
    }

    @Test func `13.10 usage is four bytes for each pixel, and goes down when an image is removed`() {
        #expect(cache.memoryUsage == 0)
        cache.add(Pictures.logo, withIdentifier: "logo")
        #expect(cache.memoryUsage == 1_020_000)
        cache.removeImage(withIdentifier: "logo")
        #expect(cache.memoryUsage == 0)
    }

    private func add(_ number: Int) {
        cache.add(Pictures.logo, withIdentifier: "\(number)")
    }

    @Test func `13.10 ten images fit, and the eleventh leaves six`() {
        cache.memoryCapacity = 10 * 1_020_000
        cache.preferredMemoryUsageAfterPurge = 6 * 1_020_000

        for number in 1...10 {
            add(number)
            #expect(cache.memoryUsage == UInt64(number) * 1_020_000)
        }
        add(11)
        #expect(cache.memoryUsage == 6 * 1_020_000)
    }

    @Test func `13.10 those that were used longest ago are removed first`() {
        cache.memoryCapacity = 10 * 1_020_000
        cache.preferredMemoryUsageAfterPurge = 6 * 1_020_000
        for number in 0..<10 { add(number) }

        #expect(cache.image(withIdentifier: "0") != nil)
        add(10)

        let left = (0...10).filter { cache.image(withIdentifier: "\($0)") != nil }
        #expect(left == [0, 6, 7, 8, 9, 10])
    }

    @Test func `13.10 every image is kept unless a subclass says otherwise`() {
        #expect(cache.shouldCache(image, for: request, withAdditionalIdentifier: nil))
    }

    @Test func `11.2 a preferred usage above the capacity counts as the capacity`() {
        cache.memoryCapacity = 3 * 1_020_000
        cache.preferredMemoryUsageAfterPurge = .max

        for number in 0..<20 { add(number) }

        #expect(cache.memoryUsage == 3 * 1_020_000)
        #expect(cache.image(withIdentifier: "19") != nil)
    }

    @Test func `lowering the capacity removes images at once`() {
        for number in 0..<10 { add(number) }
        cache.preferredMemoryUsageAfterPurge = 0
        cache.memoryCapacity = 9 * 1_020_000
        #expect(cache.memoryUsage == 0)
    }

    @Test func `11.2 all images are removed when memory is scarce, unless the cache ignores that`() {
        let pressure = MemoryPressure()
        let cache = AutoPurgingImageCache(
            memoryCapacity: 1 << 20,
            preferredMemoryCapacity: 1 << 19,
            memoryPressure: pressure
        )
        cache.add(image, withIdentifier: "logo")
        self.cache.add(image, withIdentifier: "logo")

        pressure.announce()

        #expect(cache.memoryUsage == 0)
        #expect(self.cache.memoryUsage == 128)
    }

    @Test func `a released cache is not called`() {
        let pressure = MemoryPressure()
        weak var forgotten: AutoPurgingImageCache?
        do {
            let cache = AutoPurgingImageCache(memoryCapacity: 1, preferredMemoryCapacity: 1, memoryPressure: pressure)
            forgotten = cache
        }
        pressure.announce()
        #expect(forgotten == nil)
    }
}
