@testable import AFURLSession
@testable import AFURLTypes

@Suite("Captured streams whose peer does not read")
struct CapturedStreamTests {
    private let world = VirtualWorld()
    private let held = Lock<(input: InputStream, output: OutputStream)?>(nil)

    /// Streams to a peer of which the kernel takes 64 KiB, and 200,000 bytes are written.
    private func capture(_ script: [ServerStep]) {
        world.network.link.sendCapacity = 64 << 10
        world.serve("api.test") { ScriptedServer(script) }
        let held = held
        let log = StreamLog { input, output in
            held.withLock { $0 = (input, output) }
            output.open()
            let bytes = [UInt8](repeating: 7, count: 200_000)
            _ = output.write(bytes, maxLength: bytes.count)
        }
        let session = world.makeSession(delegate: log) { $0.timeoutIntervalForRequest = 60 }.session
        let task = session.streamTask(withHostName: "api.test", port: 80)
        task.captureStreams()
        task.resume()
    }

    private func release() {
        held.withLock { $0 = nil }
    }

    private var received: Int? { world.network.connections.first?.receivedCount }
    private var isConnected: Bool { world.network.ledger.open == 1 }

    @Test func `an end of the peer that came before is the end of the input`() throws {
        world.serve("api.test") { ScriptedServer([.reply("hi"), .halfClose, .expectBytes(5), .close]) }
        let (held, ends) = (held, Lock(0))
        let log = StreamLog { input, output in
            held.withLock { $0 = (input, output) }
        }
        let task = world.makeSession(delegate: log) { _ in }.session.streamTask(withHostName: "api.test", port: 80)
        for _ in 0..<2 {
            task.readData(ofMinLength: 1, maxLength: 512, timeout: 10) { _, isAtEnd, _ in
                if isAtEnd { ends.withLock { $0 += 1 } }
            }
        }
        task.resume()
        world.run { ends.withLock { $0 > 0 } }
        task.captureStreams()
        world.run { held.withLock { $0 != nil } }

        do {
            let streams = try #require(held.withLock { $0 })
            streams.input.open()
            streams.output.open()
            var byte: UInt8 = 0
            #expect(streams.input.read(&byte, maxLength: 1) == 0)
            #expect(streams.output.write(Array("still".utf8), maxLength: 5) == 5)
        }
        world.advance(by: .seconds(1))
        #expect(world.network.connections.first?.receivedCount == 5)
        release()
        #expect(world.finish() == [])
    }

    @Test func `they cost no turns while the socket is full`() throws {
        capture([.stopReading, .stall])

        world.run(limit: .seconds(600)) { world.turns > 1000 }

        try #require(world.turns < 100)
        #expect(held.withLock { $0 != nil } && isConnected)
        release()
        #expect(world.finish() == [])
    }

    @Test func `bytes left when the streams are released have a limited time`() throws {
        capture([.stopReading, .stall])
        world.advance(by: .seconds(600))
        #expect(isConnected)

        release()

        world.advance(by: .seconds(59))
        #expect(isConnected)
        world.advance(by: .seconds(2))
        #expect(!isConnected)
        #expect(world.finish() == [])
    }

    @Test func `bytes left arrive at a peer that takes some of them now and then`() throws {
        let pause = [ServerStep.delay(.seconds(50)), .startReading, .stopReading]
        let slow = [.stopReading] + pause + pause + pause + [.startReading, .expectBytes(200_000), .close]
        world.network.link.latency = 1_000_000...1_000_000
        capture(slow)
        world.advance(by: .seconds(1))
        release()

        world.advance(by: .seconds(120))
        #expect(isConnected && (received ?? 0) < 200_000)
        world.advance(by: .seconds(60))

        #expect(received == 200_000 && !isConnected)
        #expect(world.finish() == [])
    }
}
