/// Images with their costs, in the order of their use. The caches decide which are removed.
struct AgedImages: Sendable {
    private struct Entry: Sendable {
        let image: Image
        let cost: UInt64
        var lastUse: UInt64
    }

    private var entries: [ImageCacheKey: Entry] = [:]
    /// Counts uses: a clock could not order two at the same time.
    private var uses: UInt64 = 0
    /// What all images cost.
    private(set) var usage: UInt64 = 0

    /// How often all images were removed.
    private(set) var generation = 0

    var count: Int { entries.count }

    /// Width × height × 4, in pixels.
    static func cost(of image: Image) -> UInt64 {
        let (width, height) = (UInt64(clamping: image.width), UInt64(clamping: image.height))
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        let (bytes, overflows) = pixels.multipliedReportingOverflow(by: 4)
        return overflow || overflows ? .max : bytes
    }

    mutating func insert(_ image: Image, at key: ImageCacheKey) {
        remove(key)
        uses += 1
        let entry = Entry(image: image, cost: Self.cost(of: image), lastUse: uses)
        entries[key] = entry
        usage += entry.cost
    }

    /// Returns the image, and marks it as the last one used.
    mutating func use(_ key: ImageCacheKey) -> Image? {
        guard entries[key] != nil else { return nil }
        uses += 1
        entries[key]?.lastUse = uses
        return entries[key]?.image
    }

    @discardableResult
    mutating func remove(_ key: ImageCacheKey) -> Bool {
        guard let entry = entries.removeValue(forKey: key) else { return false }
        usage -= entry.cost
        return true
    }

    /// Removes all images, and returns the former ones: release them, and their pixels, after the lock.
    mutating func removeAll() -> AgedImages {
        let former = self
        self = AgedImages()
        generation = former.generation + 1
        return former
    }

    /// Removes those that were used longest ago, as long as `isTooMuch` says so.
    mutating func removeOldest(while isTooMuch: (AgedImages) -> Bool) {
        guard isTooMuch(self) else { return }
        for (key, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            remove(key)
            if !isTooMuch(self) { return }
        }
    }
}
