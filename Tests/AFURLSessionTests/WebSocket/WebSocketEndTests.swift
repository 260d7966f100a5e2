@testable import AFURLSession

/// In which order a program hears of the last messages of a WebSocket, of the server's Close frame, and of the end.
struct WebSocketEndTests {
    /// How the program receives.
    enum Reader: CaseIterable {
        case closures, async
        /// Asks for the next message a while after it has one.
        case slowAsync
    }

    private static func text(_ number: Int) -> [UInt8] { WebSocketProgram.frame(0x81, Array("\(number)".utf8)) }

    /// The server sends its Close frame (1001) and closes the connection.
    private static func close(_ client: ServerEnd) {
        client.send(WebSocketProgram.frame(0x88, [3, 233]))
        client.close()
    }

    /// A server that sends three messages and ends, in the given way.
    private func behaviour(_ end: @escaping (ServerEnd) -> Void) -> WebSocketProgram.Behaviour {
        var behaviour = WebSocketProgram.Behaviour()
        behaviour.answersClose = false
        behaviour.opened = { client in
            client.send((1...3).flatMap(Self.text))
            end(client)
        }
        return behaviour
    }

    private func read(_ scene: WebSocketScene, _ reader: Reader) {
        let (task, log) = (scene.task, scene.log)
        @Sendable func receive() {
            task.receive { result in
                guard let message = try? result.get() else { return }
                log.add(WebSocketScene.Log.text(of: message))
                receive()
            }
        }
        if reader == .closures { return receive() }
        // All of it runs on the thread of the test.
        let session = scene.session
        _ = Task(executorPreference: CallbackTaskExecutor(scene.world.queue)) {
            while let message = try? await task.receive() {
                log.add(WebSocketScene.Log.text(of: message))
                if reader == .slowAsync { try? await LoopSleep.sleep(for: .seconds(1), in: session) }
            }
        }
    }

    private static let messages = (1...3).map { "text [\($0)]" }

    @Test(arguments: Reader.allCases)
    func `messages come first, then the close, then the completion, in a thousand orders`(reader: Reader) {
        for seed in 1...1000 {
            let scene = WebSocketScene(behaviour(Self.close), seed: UInt64(seed), receives: false)
            read(scene, reader)
            #expect(scene.run() == ["open"] + Self.messages + ["closed 1001", "completed"], "\(seed)")
            #expect(scene.world.finish() == [])
        }
    }

    @Test(arguments: Reader.allCases)
    func `so they do before a failure`(reader: Reader) {
        for seed in 1...300 {
            let scene = WebSocketScene(
                behaviour { client in
                    // A reserved bit.
                    client.send([0xF1, 0])
                    client.close()
                },
                seed: UInt64(seed),
                receives: false
            )
            read(scene, reader)
            #expect(scene.run() == ["open"] + Self.messages + ["failed malformed.frame"], "\(seed)")
            #expect(scene.world.finish() == [])
        }
    }

    @Test(arguments: [0, 1])
    func `a program that receives no more hears of the end after the time for closing`(received: Int) {
        let scene = WebSocketScene(behaviour(Self.close), receives: false)
        if received == 1 { scene.task.receive { _ in } }
        let start = scene.world.now
        scene.task.resume()
        scene.world.run(limit: .seconds(100)) { scene.hasEnded }

        #expect(scene.log.all == ["open", "closed 1001", "completed"])
        #expect(abs(Double(start.nanoseconds(to: scene.world.now)) / 1e9 - 5) < 0.1)
        // What has arrived is there all the same.
        let left = Lock<[String]>([])
        for _ in received..<4 {
            scene.task.receive { result in
                left.withLock { $0.append((try? result.get()).map(WebSocketScene.Log.text) ?? "none") }
            }
        }
        scene.world.run(limit: .seconds(1))
        #expect(left.withLock { $0 } == Self.messages.dropFirst(received) + ["none"])
        #expect(scene.world.finish() == [])
    }

    @Test func `where no message waits, the end does not wait either`() {
        var behaviour = WebSocketProgram.Behaviour()
        behaviour.answersClose = false
        behaviour.opened = Self.close
        let scene = WebSocketScene(behaviour, receives: false)
        let start = scene.world.now
        scene.task.resume()
        scene.world.run(limit: .seconds(100)) { scene.hasEnded }

        #expect(scene.log.all == ["open", "closed 1001", "completed"])
        #expect(start.nanoseconds(to: scene.world.now) < 2_000_000_000)
        #expect(scene.world.finish() == [])
    }

    @Test func `the time for the last messages begins with the end`() {
        let scene = WebSocketScene(
            behaviour { client in client.after(.seconds(10)) { Self.close($0) } },
            receives: false
        )
        scene.task.resume()
        scene.world.run(limit: .seconds(1))
        func receive() {
            scene.task.receive { [log = scene.log] in
                if let message = try? $0.get() { log.add(WebSocketScene.Log.text(of: message)) }
            }
        }
        // It finds its message waiting, and others wait behind it.
        receive()
        scene.world.run(limit: .seconds(12))
        #expect(scene.log.all == ["open", "text [1]"])
        for _ in 2...3 { receive() }
        scene.run()

        #expect(scene.log.all == ["open"] + Self.messages + ["closed 1001", "completed"])
        #expect(scene.world.finish() == [])
    }

    @Test func `a task that is cancelled while messages wait ends at once, behind the server's close`() {
        let scene = WebSocketScene(behaviour(Self.close), receives: false)
        scene.task.receive { _ in }
        scene.task.resume()
        scene.world.run(limit: .seconds(2))
        #expect(scene.log.all == ["open"])

        scene.task.cancel()
        scene.world.run(limit: .milliseconds(100))

        #expect(scene.log.all == ["open", "closed 1001", "failed cancelled"])
        #expect(scene.world.finish() == [])
    }

    @Test func `the time for the last messages stands still while the task is suspended`() {
        let scene = WebSocketScene(behaviour(Self.close), receives: false)
        scene.task.receive { _ in }
        scene.task.resume()
        scene.world.run(limit: .seconds(2))
        scene.task.suspend()
        scene.world.run(limit: .seconds(50))
        #expect(!scene.hasEnded)

        scene.task.resume()
        scene.world.run(limit: .seconds(10))
        #expect(scene.log.all == ["open", "closed 1001", "completed"])
        #expect(scene.world.finish() == [])
    }

    @Test func `what is sent before the WebSocket is open leaves before its close`() {
        var behaviour = WebSocketProgram.Behaviour()
        behaviour.received = { _, _ in }
        let scene = WebSocketScene(behaviour)
        scene.task.resume()
        scene.send(.string("last"))
        scene.task.cancel(with: .normalClosure, reason: nil)
        scene.run()

        #expect(scene.server.all == ["text [last]", "close 1000"])
        #expect(scene.log.all == ["open", "closed 1000", "completed"])
        #expect(scene.world.finish() == [])

        let silent = WebSocketScene(behaviour)
        silent.task.resume()
        silent.task.cancel(with: .normalClosure, reason: nil)
        silent.run()
        #expect(silent.log.all == ["failed cancelled"])
        #expect(silent.world.finish() == [])
    }

    @Test func `a message that is sent after a violation of the server fails with it`() {
        let scene = WebSocketScene(
            behaviour { $0.send([0xF1, 0]) },
            receives: false
        )
        scene.task.resume()
        scene.world.run(limit: .seconds(1))
        scene.send(.string("late"))
        scene.run()

        #expect(scene.log.all.contains("unsent malformed.frame"))
        #expect(scene.world.finish() == [])
    }
}
