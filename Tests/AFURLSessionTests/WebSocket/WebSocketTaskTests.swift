@testable import AFURLSession

/// A WebSocket task against a server in a virtual world.
struct WebSocketTaskTests {
    typealias Behaviour = WebSocketProgram.Behaviour

    private func behaviour(_ change: (inout Behaviour) -> Void = { _ in }) -> Behaviour {
        var behaviour = Behaviour()
        behaviour.received = { frame, client in
            if frame.opcode == 1 || frame.opcode == 2 {
                client.send(WebSocketProgram.frame(frame.first, frame.payload))
            }
        }
        change(&behaviour)
        return behaviour
    }

    /// How long it takes to the end.
    private func seconds(_ scene: WebSocketScene) -> Double {
        let start = scene.world.now
        scene.task.resume()
        scene.world.run(limit: .seconds(100)) { scene.hasEnded }
        return Double(start.nanoseconds(to: scene.world.now)) / 1e9
    }

    // MARK: - Messages

    @Test func `messages go and come, and both sides close`() {
        let scene = WebSocketScene(
            behaviour {
                $0.opened = { client in client.after(.seconds(1)) { $0.send(WebSocketProgram.frame(0x88, [3, 232])) } }
            }
        )
        scene.send(.string("hello"))
        scene.send(.data(Data("bytes".utf8)))

        #expect(scene.run() == ["open", "text [hello]", "data [bytes]", "closed 1000", "completed"])
        #expect(scene.server.all == ["text [hello]", "data [bytes]", "close 1000"])
        #expect(scene.task.closeCode == .normalClosure)
        #expect(scene.task.countOfBytesReceived == 10 && scene.task.countOfBytesSent == 10)
        #expect(scene.world.finish() == [])
    }

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536, 1 << 20, 3 << 20])
    func `a message of any size leaves as one, in frames of a MiB at most`(size: Int) {
        var options = WebSocketOptions()
        options.maximumMessageSize = 4 << 20
        let scene = WebSocketScene(behaviour { $0.answersClose = false }, options: options)
        let text = String(repeating: "x", count: size)
        scene.send(.string(text))
        scene.run()

        let frames = size > 1 << 20 ? ["text… of 1048576", "more… of 1048576", "more of 1048576"] : nil
        #expect(scene.server.all == frames ?? ["text \(WebSocketScene.Log.short(text))"])
        #expect(scene.world.finish() == [])
    }

    @Test func `T-WSS-01 each frame has a mask of its own, and no mask is used again`() {
        let keys = Lock<[[UInt8]]>([])
        let scene = WebSocketScene(behaviour { $0.received = { frame, _ in keys.withLock { $0.append(frame.key) } } })
        for number in 0..<64 { scene.send(.string("message \(number)")) }
        scene.run()

        #expect(Set(keys.withLock { $0 }).count == 64)
        #expect(scene.world.finish() == [])
    }

    @Test func `the program closes behind what it has sent`() {
        let scene = WebSocketScene(behaviour())
        scene.task.resume()
        scene.world.settle()
        scene.send(.string("last"))
        scene.task.cancel(with: .goingAway, reason: Data("bye".utf8))
        scene.send(.string("too late"))
        scene.run()

        #expect(scene.server.all == ["text [last]", "close 1001 bye"])
        #expect(scene.log.all.contains("unsent lost.closed") && scene.log.all.last == "completed")
        #expect(scene.task.closeCode == .goingAway)
        #expect(scene.world.finish() == [])
    }

    @Test func `a code of the program's own, and a reason that is too long`() {
        let scene = WebSocketScene(behaviour())
        scene.task.resume()
        scene.world.settle()
        let code = URLSessionWebSocketTask.CloseCode(rawValue: 4001)
        scene.task.cancel(with: code ?? .invalid, reason: Data(String(repeating: "é", count: 100).utf8))
        scene.run()

        #expect(scene.server.all == ["close 4001 \(String(repeating: "é", count: 61))"])
        #expect(scene.task.closeCode.rawValue == 4001 && scene.log.all.last == "completed")
        #expect(URLSessionWebSocketTask.CloseCode(rawValue: 999) == nil)
        #expect(scene.world.finish() == [])
    }

    @Test(arguments: [URLSessionWebSocketTask.CloseCode.invalid, .noStatusReceived, .abnormalClosure])
    func `a code that no frame may have closes without one`(code: URLSessionWebSocketTask.CloseCode) {
        let scene = WebSocketScene(behaviour())
        scene.task.resume()
        scene.world.settle()
        scene.task.cancel(with: code, reason: Data("why".utf8))
        scene.run()

        #expect(scene.server.all == ["close"] && scene.log.all.last == "completed")
        #expect(scene.world.finish() == [])
    }

    @Test func `a ping is answered as long as our Close frame waits behind a message`() {
        let scene = WebSocketScene(
            behaviour {
                $0.opened = { client in
                    client.stopReading()
                    client.after(.seconds(1)) { $0.send(WebSocketProgram.frame(0x89, [1])) }
                    client.after(.seconds(2)) { $0.startReading() }
                }
            }
        )
        scene.task.resume()
        scene.world.settle()
        scene.send(.data(Data(count: 5_000_000)))
        scene.task.cancel(with: .normalClosure, reason: nil)
        scene.run()

        #expect(scene.server.all.contains { $0.hasPrefix("pong") } && scene.server.all.last == "close 1000")
        #expect(scene.log.all == ["open", "closed 1000", "completed"])
        #expect(scene.world.finish() == [])
    }

    @Test func `a Close frame of the server brings ours to the front`() {
        let scene = WebSocketScene(
            behaviour {
                $0.opened = { client in
                    client.stopReading()
                    client.after(.seconds(1)) { $0.send(WebSocketProgram.frame(0x88, [0x03, 0xE9])) }
                    client.after(.seconds(2)) { $0.startReading() }
                }
            }
        )
        scene.task.resume()
        scene.world.settle()
        scene.send(.data(Data(count: 5_000_000)))
        scene.send(.string("never"))
        scene.task.cancel(with: .normalClosure, reason: nil)
        scene.run()

        #expect(scene.server.all.last == "close 1000" && !scene.server.all.contains("text [never]"))
        #expect(scene.log.all.count { $0.hasPrefix("unsent") } == 2 && scene.log.all.last == "completed")
        #expect(scene.task.closeCode == .goingAway)
        #expect(scene.world.finish() == [])
    }

    @Test func `T-WSS-09 of many pings only the last is answered, if there is no room for more`() {
        let payload = Array(repeating: UInt8(ascii: "."), count: 30)
        let pings = (0..<60_000).flatMap { WebSocketProgram.frame(0x89, payload + [UInt8($0 & 0x3F) | 0x40]) }
        let scene = WebSocketScene(
            behaviour {
                $0.answersClose = false
                $0.opened = { client in
                    client.stopReading()
                    client.send(pings)
                    client.after(.seconds(1)) { $0.startReading() }
                }
            }
        )
        scene.run()

        let last = String(decoding: payload + [UInt8(59_999 & 0x3F) | 0x40], as: UTF8.self)
        #expect(scene.server.all.count < 60_000 && scene.server.all.last == "pong [\(last)]")
        #expect(scene.world.finish() == [])
    }

    // MARK: - Back-pressure

    @Test func `T-WSS-17 a program that does not receive makes the server wait`() {
        var options = WebSocketOptions()
        options.receiveBufferSize = 10_000
        let message = WebSocketProgram.frame(0x82, Array(repeating: 7, count: 1000))
        let scene = WebSocketScene(
            behaviour { $0.opened = { client in for _ in 0..<5000 { client.send(message) } } },
            options: options,
            receives: false
        )
        scene.task.resume()
        scene.world.run(limit: .seconds(10))
        let before = scene.task.countOfBytesReceived
        #expect((10_000..<12_000).contains(before))

        let count = Lock(0)
        for _ in 0..<5000 { scene.task.receive { if case .success = $0 { count.withLock { $0 += 1 } } } }
        scene.world.run(limit: .seconds(10))
        #expect(count.withLock { $0 } == 5000)
        #expect(scene.world.finish() == [])
    }

    @Test func `T-WSS-17 empty messages count as well`() {
        let message = WebSocketProgram.frame(0x82, [])
        let scene = WebSocketScene(
            behaviour { $0.opened = { client in client.send((0..<100_000).flatMap { _ in message }) } },
            receives: false
        )
        scene.task.resume()
        scene.world.run(limit: .seconds(10))

        let count = Lock(0)
        for _ in 0..<100_000 { scene.task.receive { if case .success = $0 { count.withLock { $0 += 1 } } } }
        scene.world.run(limit: .seconds(10))
        #expect(count.withLock { $0 } == 100_000)
        #expect(scene.world.finish() == [])
    }

    @Test func `a send completes when the bytes have left`() {
        let log = WebSocketScene.Log()
        let scene = WebSocketScene(behaviour { $0.opened = { $0.stopReading() } })
        scene.task.resume()
        scene.world.settle()
        scene.task.send(.data(Data(count: 4 << 20))) { log.add($0.map { "\($0)" } ?? "sent") }
        scene.world.run(limit: .seconds(10))
        #expect(log.all.isEmpty)

        scene.task.cancel()
        scene.world.run(limit: .seconds(10))
        #expect(log.all.count == 1 && log.all != ["sent"])
        #expect(scene.world.finish() == [])
    }

    // MARK: - Ends

    @Test func `T-WSS-20 an end without a Close frame is an error`() {
        let scene = WebSocketScene(behaviour { $0.opened = { client in client.after(.seconds(1)) { $0.close() } } })

        #expect(scene.run() == ["open", "failed lost.truncated"])
        #expect(scene.task.closeCode == .abnormalClosure)
        #expect((scene.task.error as? URLError)?.code == .networkConnectionLost)
        #expect(scene.world.finish() == [])
    }

    @Test func `T-WSS-20 so is an end in the middle of a frame, and a reset`() {
        let half = WebSocketScene(
            behaviour {
                $0.opened = { client in
                    client.send([0x81, 5, 72])
                    client.after(.seconds(1)) { $0.close() }
                }
            }
        )
        #expect(half.run() == ["open", "failed lost.truncated"])
        #expect(half.world.finish() == [])

        let reset = WebSocketScene(behaviour { $0.opened = { client in client.after(.seconds(1)) { $0.reset() } } })
        #expect(reset.run() == ["open", "failed lost.reset"])
        #expect(reset.task.closeCode == .abnormalClosure)
        #expect(reset.world.finish() == [])
    }

    @Test func `T-WSS-15 a server that closes with its handshake has closed`() {
        let scene = WebSocketScene(behaviour { $0.opened = { $0.close() } })
        #expect(scene.run().last == "failed lost.truncated")
        #expect(scene.world.finish() == [])
    }

    @Test func `behind a close, no message is received after one that found no room`() {
        var options = WebSocketOptions()
        options.receiveBufferSize = 1
        func text(_ text: String) -> [UInt8] { WebSocketProgram.frame(0x81, Array(text.utf8)) }
        let scene = WebSocketScene(
            behaviour {
                $0.answersClose = false
                $0.received = { frame, client in
                    guard frame.opcode == 8 else { return }
                    client.send(text("first") + text("without room"))
                    client.after(.seconds(1)) { client in
                        client.send(text("late") + WebSocketProgram.frame(0x88, [3, 232]))
                        client.close()
                    }
                }
            },
            options: options,
            receives: false
        )
        scene.task.resume()
        scene.world.settle()
        scene.task.cancel(with: .normalClosure, reason: nil)
        scene.world.run(limit: .milliseconds(500))
        let received = Lock<[String]>([])
        for _ in 0..<3 {
            scene.task.receive { result in
                let text = (try? result.get()).map(WebSocketScene.Log.text) ?? "no message"
                received.withLock { $0.append(text) }
            }
        }
        scene.run()

        #expect(received.withLock { $0 } == ["text [first]", "no message", "no message"])
        #expect(scene.log.all == ["open", "closed 1000", "completed"] && scene.world.finish() == [])
    }

    @Test func `T-WSS-16 a server that does not answer the Close frame is left after a time`() {
        let scene = WebSocketScene(behaviour { $0.answersClose = false })
        scene.task.resume()
        scene.world.settle()
        scene.task.cancel(with: .normalClosure, reason: nil)

        let took = seconds(scene)
        #expect(scene.log.all == ["open", "failed timeout.close"] && abs(took - 5) < 0.01)
        #expect(scene.world.network.openConnections.isEmpty)
        #expect(scene.world.finish() == [])
    }

    @Test func `T-WSS-16 a server that does not close the connection behind its Close frame is left`() {
        let scene = WebSocketScene(
            behaviour {
                $0.answersClose = false
                $0.opened = { $0.send(WebSocketProgram.frame(0x88, [3, 233])) }
            }
        )

        let took = seconds(scene)
        #expect(scene.log.all == ["open", "closed 1001", "completed"] && abs(took - 5) < 0.01)
        #expect(scene.world.network.openConnections.isEmpty)
        #expect(scene.world.finish() == [])
    }

    @Test(arguments: [1001, 1011] as [UInt16])
    func `a WebSocket that is cancelled keeps the code of the server's Close frame`(code: UInt16) {
        let payload = [UInt8(code >> 8), UInt8(code & 0xFF)] + Array("bye".utf8)
        let scene = WebSocketScene(
            behaviour {
                $0.answersClose = false
                $0.opened = { $0.send(WebSocketProgram.frame(0x88, payload)) }
            }
        )
        scene.task.resume()
        #expect(scene.world.run(limit: .seconds(2)) { scene.log.all.contains { $0.hasPrefix("closed") } })

        scene.task.cancel()
        scene.run()

        #expect(scene.task.closeCode.rawValue == Int(code))
        #expect(scene.task.closeReason == Data("bye".utf8))
        #expect(scene.world.finish() == [])
    }

    @Test func `a Swift task that is cancelled waits for neither opening, sending nor a pong`() {
        let operations: [@Sendable (URLSessionWebSocketTask) async throws -> Void] = [
            { _ = try await $0.open() }, { try await $0.send(.string("x")) }, { try await $0.sendPing() },
        ]
        for (place, operation) in operations.enumerated() {
            let scene = WebSocketScene(behaviour { if place == 0 { $0.opened = { _ in } } })
            scene.world.network.link.latency = 1_000_000_000...1_000_000_000
            let task = scene.task
            let ended = Lock<(any Error)?>(nil)
            let waiting = Task(executorPreference: CallbackTaskExecutor(scene.world.queue)) {
                do { try await operation(task) } catch { ended.withLock { $0 = error } }
            }
            task.resume()
            scene.world.run(limit: .milliseconds(100))
            #expect(ended.withLock { $0 } == nil)

            waiting.cancel()
            scene.world.run(limit: .milliseconds(100))

            #expect(ended.withLock { $0 } is CancellationError, "\(place)")
            #expect(scene.hasEnded == (place == 0))
            task.cancel()
            scene.run()
            #expect(scene.world.finish() == [])
        }
    }

    @Test func `T-WSS-16 a server that goes on sending behind our Close frame does not hold the task`() {
        let message = WebSocketProgram.frame(0x82, Array(repeating: 7, count: 50_000))
        let scene = WebSocketScene(
            behaviour {
                $0.answersClose = false
                $0.opened = { client in for _ in 0..<200 { client.send(message) } }
            },
            receives: false
        )
        scene.task.resume()
        scene.world.settle()
        scene.task.cancel(with: .normalClosure, reason: nil)
        scene.run()

        #expect(scene.log.all.last == "failed timeout.close")
        #expect(scene.world.finish() == [])
    }

    @Test func `T-WSS-16 a silent server is asked, and left when it does not answer`() {
        var options = WebSocketOptions()
        options.pingInterval = .seconds(20)
        options.pongTimeout = .seconds(7)
        let scene = WebSocketScene(behaviour(), options: options)

        let took = seconds(scene)
        #expect(scene.server.all.count == 1 && scene.server.all.allSatisfy { $0.hasPrefix("ping") })
        #expect(scene.log.all == ["open", "failed timeout.pong"] && abs(took - 27) < 0.01)
        #expect(scene.world.finish() == [])
    }

    @Test func `a server that answers pings is there`() {
        var options = WebSocketOptions()
        options.pingInterval = .seconds(20)
        let scene = WebSocketScene(
            behaviour {
                $0.received = { frame, client in
                    if frame.opcode == 9 { client.send(WebSocketProgram.frame(0x8A, frame.payload)) }
                }
            },
            options: options
        )
        scene.run()
        #expect(scene.log.all == ["open"] && scene.server.all.count >= 4)
        #expect(scene.world.finish() == [])
    }

    @Test func `a server has its time to answer a ping once the ping has left`() {
        var options = WebSocketOptions()
        options.pingInterval = .seconds(1)
        options.pongTimeout = .seconds(3)
        let scene = WebSocketScene(
            behaviour {
                // It reads what has arrived once in a second.
                $0.opened = { client in
                    client.stopReading()
                    for second in 1...30 {
                        client.after(.seconds(second)) {
                            $0.startReading()
                            if second < 30 { $0.stopReading() }
                        }
                    }
                }
                $0.received = { frame, client in
                    if frame.opcode == 9 { client.send(WebSocketProgram.frame(0x8A, frame.payload)) }
                }
            },
            options: options
        )
        scene.task.resume()
        scene.world.settle()
        scene.send(.data(Data(count: 5_000_000)))
        scene.world.run(limit: .seconds(40))

        #expect(scene.log.all == ["open"])
        #expect(scene.server.all.first?.hasPrefix("data") == true)
        #expect(scene.server.all.contains { $0.hasPrefix("ping") })
        #expect(scene.world.finish() == [])
    }

    @Test func `a pong behind messages that are not received is no reason to leave`() {
        var options = WebSocketOptions()
        options.pingInterval = .seconds(10)
        options.receiveBufferSize = 1000
        let scene = WebSocketScene(
            behaviour {
                $0.received = { frame, client in
                    guard frame.opcode == 9 else { return }
                    for _ in 0..<100 { client.send(WebSocketProgram.frame(0x82, Array(repeating: 1, count: 60_000))) }
                    client.send(WebSocketProgram.frame(0x8A, frame.payload))
                }
            },
            options: options,
            receives: false
        )
        scene.run()
        #expect(scene.log.all == ["open"])
        #expect(scene.world.finish() == [])
    }

    @Test func `pings of the program are answered in order, and fail with the connection`() {
        let log = WebSocketScene.Log()
        let scene = WebSocketScene(
            behaviour {
                var count = 0
                $0.received = { frame, client in
                    guard frame.opcode == 9 else { return }
                    count += 1
                    // The second answer stands for the first two.
                    if count == 2 { client.send(WebSocketProgram.frame(0x8A, frame.payload)) }
                    if count == 3 { client.close() }
                }
            }
        )
        for number in 1...3 {
            scene.task.sendPing { log.add("\(number) \($0.map { WebSocketScene.Log.text(of: $0) } ?? "ok")") }
        }
        scene.run()
        #expect(log.all == ["1 ok", "2 ok", "3 lost.truncated"])
        #expect(scene.world.finish() == [])
    }

    @Test(arguments: [false, true]) func `monitors hear of the end of its connection once`(isCancelled: Bool) {
        let tape = EventTape()
        let scene = WebSocketScene(
            behaviour {
                if !isCancelled { $0.opened = { client in client.after(.seconds(1)) { $0.close() } } }
            }
        ) { $0.eventMonitors = [tape] }
        scene.task.resume()
        scene.world.run(limit: .seconds(5))
        if isCancelled { scene.task.cancel() }
        scene.run()

        #expect(tape.all.filter { $0.kind == .connectionClosed }.map(\.connection) == [1])
        #expect(scene.world.finish() == [])
    }

    // MARK: - Cancelling and suspending

    @Test(arguments: [0, 1, 2, 3, 5, 8, 13, 21, 34, 55]) func `cancelling ends it in every state`(turns: Int) {
        let scene = WebSocketScene(behaviour())
        scene.world.network.link.latency = 1_000_000...1_000_000
        scene.send(.string("hello"))
        scene.task.sendPing { _ in }
        if turns > 0 { scene.task.resume() }
        for _ in 0..<turns { _ = scene.world.step(until: scene.world.now + .seconds(1)) }
        scene.task.cancel()
        scene.run()

        #expect(scene.log.all.last == "failed cancelled" || scene.log.all.last == "unsent cancelled")
        #expect(scene.log.all.count { $0.hasPrefix("failed") || $0 == "completed" } == 1)
        #expect(scene.world.network.openConnections.isEmpty)
        #expect(scene.world.finish() == [])
    }

    @Test func `closing a WebSocket that is not open cancels it`() {
        let scene = WebSocketScene(behaviour())
        scene.task.cancel(with: .normalClosure, reason: nil)
        scene.run()
        #expect(scene.log.all == ["failed cancelled"])
        #expect(scene.world.finish() == [])
    }

    @Test func `a suspended task sends and receives nothing, and its times stand still`() {
        var options = WebSocketOptions()
        options.pingInterval = .seconds(1)
        let scene = WebSocketScene(
            behaviour {
                $0.opened = { client in client.after(.seconds(3)) { $0.send(WebSocketProgram.frame(0x81, [104, 105])) }
                }
                $0.received = { frame, client in
                    if frame.opcode == 9 { client.send(WebSocketProgram.frame(0x8A, frame.payload)) }
                }
            },
            options: options
        )
        scene.task.resume()
        scene.world.settle()
        scene.task.suspend()
        scene.send(.string("hello"))
        scene.world.advance(by: .seconds(1000))
        #expect(scene.log.all == ["open"] && scene.server.all.isEmpty)

        scene.task.resume()
        scene.world.advance(by: .milliseconds(500))
        #expect(scene.log.all == ["open", "text [hi]"] && scene.server.all == ["text [hello]"])
        #expect(scene.world.finish() == [])
    }

    @Test func `the time for the request ends with the handshake, that of the resource does not`() {
        let slow = WebSocketScene(behaviour { $0.answer = { _, _ in "" } }) { $0.timeoutIntervalForRequest = 7 }
        let took = seconds(slow)
        #expect(slow.log.all == ["failed timeout.idle"] && abs(took - 7) < 0.01)
        #expect(slow.world.finish() == [])

        let open = WebSocketScene(behaviour()) {
            $0.timeoutIntervalForRequest = 7
            $0.timeoutIntervalForResource = 50
        }
        let lasted = seconds(open)
        #expect(open.log.all == ["open", "failed timeout.resource"] && abs(lasted - 50) < 0.01)
        #expect(open.world.finish() == [])
    }

    @Test func `a session that ends lets it go on, or cancels it`() {
        let scene = WebSocketScene(behaviour())
        scene.task.resume()
        scene.world.settle()
        scene.session.finishTasksAndInvalidate()
        scene.send(.string("still there"))
        scene.world.run(limit: .seconds(5))
        #expect(scene.log.all == ["open", "text [still there]"])

        scene.session.invalidateAndCancel()
        scene.run()
        #expect(scene.log.all.last == "failed cancelled")
        #expect(scene.world.finish() == [])
    }

    @Test func `a limit that is lowered holds for the next message`() {
        let scene = WebSocketScene(behaviour())
        scene.task.resume()
        scene.world.settle()
        scene.send(.string(String(repeating: "a", count: 30)))
        scene.world.run(limit: .seconds(1))
        scene.task.maximumMessageSize = 20
        scene.send(.string(String(repeating: "b", count: 21)))
        scene.run()

        #expect(scene.log.all == ["open", "text [\(String(repeating: "a", count: 30))]", "failed limit.frame"])
        #expect(scene.server.all.last == "close 1009" && scene.task.maximumMessageSize == 20)
        #expect(scene.world.finish() == [])
    }
}
