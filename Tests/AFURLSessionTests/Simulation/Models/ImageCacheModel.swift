import AFImages

/// A cache of images as a list, the one used last at its end.
private struct ImageCacheModel {
    var images: [(name: String, image: Int, cost: UInt64)] = []
    var capacity: UInt64
    var preferred: UInt64

    var usage: UInt64 { images.reduce(0) { $0 + $1.cost } }

    mutating func add(_ name: String, _ image: Int, _ cost: UInt64) {
        images.removeAll { $0.name == name }
        guard cost <= capacity else { return }
        images.append((name, image, cost))
        purge()
    }

    mutating func purge() {
        guard usage > capacity else { return }
        while usage > min(preferred, capacity) { images.removeFirst() }
    }

    mutating func use(_ name: String) -> Int? {
        guard let place = images.firstIndex(where: { $0.name == name }) else { return nil }
        images.append(images.remove(at: place))
        return images.last?.image
    }

    mutating func remove(_ name: String) -> Bool {
        defer { images.removeAll { $0.name == name } }
        return images.contains { $0.name == name }
    }
}

/// The cache of images against its model, step by step.
enum ImageCacheComparison {
    /// Says what differed, if anything did.
    static func run(seed: UInt64, operations: Int) throws -> String? {
        var random = SeededGenerator(seed: seed ^ 0x1317)
        // One after the other a pixel wider: each is known by its width.
        let images = try (1...40).map { width in
            try Image(width: width, height: 1, pixels: Data(count: 4 * width), alpha: .opaque)
        }
        var model = ImageCacheModel(capacity: 800, preferred: 500)
        let cache = AutoPurgingImageCache(memoryCapacity: 800, preferredMemoryCapacity: 500, memoryPressure: nil)
        for step in 0..<operations {
            let name = "https://a.test/\(random.pick(0...24))"
            guard let url = URL(string: name) else { continue }
            // What a request without fields has is found by its URL.
            let request = random.chance(50) ? URLRequest(url: url) : nil
            switch random.pick(0...99) {
            case 0..<45:
                let image = random.pick(images)
                if let request {
                    cache.add(image, for: request, withAdditionalIdentifier: nil)
                } else {
                    cache.add(image, withIdentifier: name)
                }
                model.add(name, image.width, UInt64(image.width * 4))
            case 45..<85:
                let found =
                    request.map { cache.image(for: $0, withAdditionalIdentifier: nil) }
                    ?? cache.image(withIdentifier: name)
                let expected = model.use(name)
                if found?.width != expected { return "step \(step): \(found?.width ?? 0), not \(expected ?? 0)" }
            case 85..<95:
                let removed =
                    request.map { cache.removeImage(for: $0, withAdditionalIdentifier: nil) }
                    ?? cache.removeImage(withIdentifier: name)
                if removed != model.remove(name) { return "step \(step): removed \(removed)" }
            case 95:
                model.capacity = UInt64(random.pick(0...1200))
                cache.memoryCapacity = model.capacity
                model.purge()
            case 96:
                model.preferred = UInt64(random.pick(0...1200))
                cache.preferredMemoryUsageAfterPurge = model.preferred
            case 97:
                let removed = cache.removeAllImages()
                if removed == model.images.isEmpty { return "step \(step): removed all \(removed)" }
                model.images = []
            default: break
            }
            if cache.memoryUsage != model.usage { return "step \(step): \(cache.memoryUsage), not \(model.usage)" }
        }
        return nil
    }
}
