import AFNetworking

/// Sixteen threads that do the same at once.
@Suite struct ManyThreadsTests {
    @Test func `T-API-16 shared objects are made once, whichever thread is first`() async {
        await #expect(processExitsWith: .success) {
            let shared: [@Sendable () -> AnyObject] = [
                { ImageDownloader.shared }, { URLSession.shared }, { URLCache.shared }, { HTTPCookieStorage.shared },
                { URLCredentialStorage.shared }, { ImageDownloader.shared.sessionManager.session },
            ]
            let found = Found()
            SixteenThreads.run { number in
                for offset in shared.indices {
                    let index = (offset + number) % shared.count
                    found.add(shared[index](), at: index)
                }
            }
            #expect(found.counts == shared.indices.map { _ in 1 })
        }
    }

    @Test func `T-API-15 sixteen threads may set everything of caches, serializers, managers and downloaders`() {
        let cache = AutoPurgingImageCache(memoryCapacity: 1 << 20, preferredMemoryCapacity: 1 << 19)
        let downloader = ImageDownloader(sessionConfiguration: .ephemeral)
        let manager = HTTPSessionManager(sessionConfiguration: .ephemeral)
        let serializer = ImageResponseSerializer()
        let policy = SecurityPolicy()
        let request = URLRequest(url: URL(fileURLWithPath: "/x"))
        let image = try? Image.decode(Pictures.file())
        #expect(image != nil)

        SixteenThreads.run { number in
            for round in 0..<50 {
                if let image { cache.add(image, for: request, withAdditionalIdentifier: "\(round % 5)") }
                _ = cache.image(for: request, withAdditionalIdentifier: "\(number % 5)")
                cache.removeImage(for: request, withAdditionalIdentifier: "\(round % 3)")
                cache.memoryCapacity = UInt64(1 << 20 + round)
                if round % 10 == 0 { cache.removeAllImages() }
                downloader.maximumActiveDownloads = round
                downloader.downloadPrioritization = round % 2 == 0 ? .fifo : .lifo
                downloader.imageCache = round % 2 == 0 ? cache : nil
                serializer.acceptableContentTypes = ["image/\(number)"]
                serializer.acceptableStatusCodes = IndexSet(integer: 200 + round)
                _ = serializer.copy()
                policy.allowInvalidCertificates = round % 2 == 0
                policy.validatesDomainName = round % 2 == 1
                _ = (policy.copy(), policy.fingerprint)
                manager.responseSerializer = serializer
                manager.requestSerializer = JSONRequestSerializer()
                manager.completionQueue = .global()
                manager.securityPolicy = SecurityPolicy()
                _ = (manager.tasks.count, manager.session.configuration)
            }
        }

        #expect(cache.memoryUsage <= 1 << 21)
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
    }
}

private enum SixteenThreads {
    /// Returns when all are through.
    static func run(_ body: @escaping @Sendable (_ number: Int) -> Void) {
        let (start, end) = (DispatchSemaphore(value: 0), DispatchGroup())
        for number in 0..<16 {
            end.enter()
            Thread.detachNewThread {
                start.wait()
                body(number)
                end.leave()
            }
        }
        for _ in 0..<16 { start.signal() }
        end.wait()
    }
}

/// The objects that were found, by what was asked for.
private final class Found: @unchecked Sendable {
    private let lock = NSLock()
    private var objects: [Int: [ObjectIdentifier: AnyObject]] = [:]

    func add(_ object: AnyObject, at index: Int) {
        lock.withLock { objects[index, default: [:]][ObjectIdentifier(object)] = object }
    }

    var counts: [Int] { lock.withLock { objects.sorted { $0.key < $1.key }.map(\.value.count) } }
}
