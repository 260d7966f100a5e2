import AFBase
import Dispatch

@testable import AFImages

/// Decodes pictures only when it is told to, and counts how many it has begun.
private final class HeldDecoder: ImageDecoder {
    private struct State: Sendable {
        var active = 0
        var most = 0
        var order: [UInt8] = []
        var isOpen = false
        var threads: Set<String> = []
        var wasOnMain = false
    }

    let format: ImageFormat
    private let state = Lock(State())
    private let gate = DispatchSemaphore(value: 0)

    init(_ name: String) {
        format = ImageFormat(name: name)
        ImageDecoders.register(self)
    }

    func file(_ number: UInt8, side: UInt8 = 1) -> Data { Data("held:\(format.name):".utf8) + [number, side] }

    var active: Int { state.withLock { $0.active } }
    var most: Int { state.withLock { $0.most } }
    var order: [UInt8] { state.withLock { $0.order } }
    var threads: Set<String> { state.withLock { $0.threads } }
    var wasOnMain: Bool { state.withLock { $0.wasOnMain } }

    /// Lets so many pictures finish.
    func letGo(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }

    func recognizes(_ start: Data) -> Bool { start.starts(with: "held:\(format.name):".utf8) }

    func header(of data: Data) throws(ImageError) -> ImageHeader {
        let side = Int(data.last ?? 0)
        return ImageHeader(format: format, storedSize: PixelSize(width: side, height: side))
    }

    func decode(_ data: Data, header: ImageHeader, options: ImageDecodingOptions) throws(ImageError) -> Image {
        let thread = Thread.current.name ?? ""
        state.withLock { state in
            state.active += 1
            state.most = max(state.most, state.active)
            state.order.append(data[data.count - 2])
            state.threads.insert(thread)
            if Thread.isMainThread { state.wasOnMain = true }
        }
        gate.wait()
        state.withLock { $0.active -= 1 }
        let count = header.storedSize.width * header.storedSize.height * 4
        return try Image(width: header.storedSize.width, height: header.storedSize.height, pixels: Data(count: count))
    }
}

@Suite struct ImageDecodingQueueTests {
    @Test func `T-IMG-07 no more pictures are decoded at once than may be`() async throws {
        let decoder = HeldDecoder("Q1")
        defer { ImageDecoders.unregister(decoder.format) }
        let queue = ImageDecodingQueue(maximumDecodes: 3)
        let files = try (0..<20).map { try EncodedImage(decoder.file($0)) }

        try await withThrowingTaskGroup(of: Void.self) { group in
            for file in files { group.addTask { _ = try await queue.decode(file) } }
            try await eventually { decoder.active == 3 }
            #expect(queue.activeDecodes == 3)
            decoder.letGo(20)
            try await group.waitForAll()
        }

        #expect(decoder.most == 3)
        #expect(decoder.order.count == 20)
        #expect(!decoder.wasOnMain)
        try await eventually { queue.activeDecodes == 0 }
    }

    @Test func `T-IMG-07 the memory of pictures that are decoded at once is bounded`() async throws {
        let decoder = HeldDecoder("Q2")
        defer { ImageDecoders.unregister(decoder.format) }
        let queue = ImageDecodingQueue(maximumDecodes: 8, maximumBytes: 2 * 400)
        let files = try (0..<6).map { try EncodedImage(decoder.file($0, side: 10)) }

        try await withThrowingTaskGroup(of: Void.self) { group in
            for file in files { group.addTask { _ = try await queue.decode(file) } }
            try await eventually { decoder.active == 2 }
            decoder.letGo(6)
            try await group.waitForAll()
        }

        #expect(decoder.most == 2)
    }

    @Test func `pictures begin in the order in which they came`() async throws {
        let decoder = HeldDecoder("Q3")
        defer { ImageDecoders.unregister(decoder.format) }
        let queue = ImageDecodingQueue(maximumDecodes: 1)
        let done = Lock([UInt8]())

        for number in 0..<5 as Range<UInt8> {
            queue.decode(try EncodedImage(decoder.file(number))) { result in
                if (try? result.get()) != nil { done.withLock { $0.append(number) } }
            }
        }
        decoder.letGo(5)

        try await eventually { done.withLock { $0.count } == 5 }
        #expect(decoder.order == [0, 1, 2, 3, 4])
        #expect(done.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    @Test func `a picture that is cancelled before its turn is not decoded, and does not block others`() async throws {
        let decoder = HeldDecoder("Q4")
        defer { ImageDecoders.unregister(decoder.format) }
        let queue = ImageDecodingQueue(maximumDecodes: 1)
        let files = try (0..<3).map { try EncodedImage(decoder.file($0)) }
        let first = Task { try await queue.decode(files[0]) }
        try await eventually { decoder.active == 1 }

        let second = Task { try await queue.decode(files[1]) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        let third = Task { try await queue.decode(files[2]) }
        decoder.letGo(2)

        #expect(try await first.value.width == 1)
        #expect(try await third.value.width == 1)
        #expect(decoder.order == [0, 2])
    }

    @Test func `errors arrive, and make room for the next`() async throws {
        let queue = ImageDecodingQueue(maximumDecodes: 1)
        let damaged = PNGFile(.distinct(4, 4)).data.dropLast(20)
        for _ in 0..<3 {
            await #expect(throws: ImageError.self) { try await queue.decode(damaged) }
            await #expect(throws: ImageError.self) { try await queue.decode(Data()) }
        }

        #expect(try await queue.decode(PNGFile(.distinct(4, 4)).data, scale: 2).scale == 2)
        let gif = try EncodedImage(GIFFile(2, 2, [GIFFile.filled(1, 2, 2), GIFFile.filled(2, 2, 2)]).data)
        #expect(try await queue.decodeFrames(gif).count == 2)
    }

    @Test func `T-IMG-02 without limits, what cannot be counted is an error as well`() async throws {
        var options = ImageDecodingOptions()
        (options.maximumDimension, options.maximumPixels, options.maximumDecodedBytes) = (.max, .max, .max)
        let largest = (1 << 31) - 1
        let queue = ImageDecodingQueue(maximumDecodes: 4, maximumBytes: .max)
        for width in [largest, largest / 2] {
            let data = PNGFile(width, largest).data
            await #expect(throws: ImageError.self) { try await queue.decode(data, options: options) }
            let file = try EncodedImage(data, options: options)
            await #expect(throws: ImageError.self) { try await queue.decodeFrames(file) }
        }
        try await eventually { queue.activeDecodes == 0 }
    }

    @Test func `T-IMG-07 a serializer decodes on the calling thread, in the same order`() async throws {
        let decoder = HeldDecoder("Q5")
        defer { ImageDecoders.unregister(decoder.format) }
        let serializer = ImageResponseSerializer()
        let bodies = (0..<12).map { decoder.file($0) }
        let most = ImageDecodingQueue.shared.maximumDecodes
        let done = Lock(0)

        for body in bodies {
            Thread.detachNewThread {
                let (object, _) = serializer.serialize(nil, data: body)
                if object is Image { done.withLock { $0 += 1 } }
            }
        }
        decoder.letGo(12)

        try await eventually { done.withLock { $0 } == 12 }
        #expect(decoder.most <= most)
    }

    @Test func `T-IMG-07 hundreds of serializers that wait keep nothing from being decoded`() async throws {
        let decoder = HeldDecoder("Q6")
        defer { ImageDecoders.unregister(decoder.format) }
        let queue = ImageDecodingQueue(maximumDecodes: 1)
        let file = try EncodedImage(decoder.file(0))
        let (done, workers) = (Lock(0), DispatchQueue(label: "workers", attributes: .concurrent))

        let first = Task { try await queue.decode(file) }
        try await eventually { decoder.active == 1 }
        for _ in 0..<300 {
            workers.async {
                if (try? queue.decodeNow(file)) != nil { done.withLock { $0 += 1 } }
            }
        }
        let second = Task { try await queue.decode(file) }
        decoder.letGo(302)

        #expect(try await first.value.width == 1)
        #expect(try await second.value.width == 1)
        try await eventually { done.withLock { $0 } == 300 }
        #expect(decoder.most == 1)
    }

    @Test func `T-IMG-07 a manager decodes neither on the network thread nor on the main thread`() async throws {
        let decoder = HeldDecoder("Q7")
        defer { ImageDecoders.unregister(decoder.format) }
        let server = try TestServer()
        server.route("GET", "/") { _ in .data(decoder.file(0), type: "image/png") }
        let manager = HTTPSessionManager(baseURL: server.url("/"), sessionConfiguration: .ephemeral)
        defer { manager.invalidateSessionCancelingTasks(true) }
        manager.responseSerializer = ImageResponseSerializer()
        let done = Lock(false)

        let task = manager.dataTask(with: URLRequest(url: server.url("/"))) { _, object, _ in
            done.withLock { $0 = object is Image }
        }
        task.resume()
        decoder.letGo()

        try await eventually { done.withLock { $0 } }
        #expect(!decoder.wasOnMain)
        #expect(decoder.threads.count == 1)
        #expect(!decoder.threads.contains("AFNetworking"))
    }

    // MARK: - The line

    @Test func `the line admits by number and by memory, and never lets pictures wait while none is decoded`() {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<200 {
            let most = Int.random(in: 1...4, using: &generator)
            var line = DecodingLine(maximumDecodes: most, maximumBytes: 100)
            var (costs, waiting, active): ([Int: Int], [Int], [Int]) = ([:], [], [])
            for id in 0..<60 {
                var begun: [Int] = []
                switch Int.random(in: 0..<4, using: &generator) {
                case 0, 1:
                    costs[id] = Int.random(in: 0...150, using: &generator)
                    waiting.append(id)
                    begun = line.join(id, bytes: costs[id] ?? 0)
                case 2 where !active.isEmpty:
                    let gone = active.remove(at: Int.random(in: 0..<active.count, using: &generator))
                    begun = line.leave(bytes: costs[gone] ?? 0)
                default:
                    let gone = Int.random(in: 0...id, using: &generator)
                    let result = line.withdraw(gone)
                    #expect(result.hasWaited == waiting.contains(gone))
                    waiting.removeAll { $0 == gone }
                    begun = result.begin
                }
                #expect(begun == Array(waiting.prefix(begun.count)))
                waiting.removeFirst(begun.count)
                active += begun
                let bytes = active.reduce(0) { $0 + (costs[$1] ?? 0) }
                #expect((line.active, line.bytes) == (active.count, bytes))
                #expect(active.count <= most)
                #expect(bytes <= 100 || active.count == 1)
                if let next = waiting.first {
                    #expect(active.count == most || bytes + (costs[next] ?? 0) > 100)
                    #expect(!active.isEmpty)
                }
            }
        }
    }
}
