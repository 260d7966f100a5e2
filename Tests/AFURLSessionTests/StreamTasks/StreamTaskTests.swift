import AFTLS

/// Stream tasks against real servers on the loopback interface.
enum StreamTaskTests {}

extension StreamTaskTests {
    struct Moving {
        private let server: TestServer
        private let log = StreamLog()

        init() throws {
            server = try TestServer()
        }

        private func task(_ session: URLSession? = nil) -> URLSessionStreamTask {
            let session = session ?? .loopback(delegate: log)
            return session.streamTask(withHostName: "127.0.0.1", port: Int(server.port))
        }

        @Test func `operations before the task runs are done in order`() async throws {
            server.script(.expect("hello"), .send("HELLO"), .expect("bye"), .send("BYE"), .expectEnd, .close)
            let task = task()
            log.write(task, "hello")
            log.read(task, 5, 5)
            log.write(task, "bye")
            log.read(task, 3, 100)
            #expect(task.originalRequest == nil && task.currentRequest == nil && task.state == .suspended)

            task.resume()
            try await log.events.wait { $0.count == 4 }
            task.closeWrite()
            log.read(task, 1, 1)

            let events = try await log.finished()
            #expect(events.prefix(4).filter { $0 == .wrote }.count == 2)
            #expect(events.contains(.read("HELLO", isAtEnd: false)) && events.contains(.read("BYE", isAtEnd: false)))
            #expect(events.suffix(4) == [.writeClosed, .read("", isAtEnd: true), .readClosed, .completed(nil)])
            #expect(task.countOfBytesSent == 8 && task.countOfBytesReceived == 8)
            #expect(try await server.waitForEnd(ofConnection: 1) == .serverClosed)
        }

        @Test func `a read takes as much as it may and leaves the rest`() async throws {
            server.script(.send("0123456789"), .stall)
            let task = task()
            log.read(task, 4, 4)
            log.read(task, 0, 0)
            log.read(task, 6, 100)
            log.read(task, 0, 5)
            task.resume()

            let events = try await log.events.wait { $0.count == 4 }

            #expect(
                events == [
                    .read("0123", isAtEnd: false), .read("", isAtEnd: false), .read("456789", isAtEnd: false),
                    .read("", isAtEnd: false),
                ]
            )
            task.cancel()
            #expect(try await log.finished().last == .completed(-999))
        }

        @Test func `the end comes with what there is, and what is read after it fails`() async throws {
            server.script(.expect("all"), .expectEnd, .send("answer"), .close)
            let task = task()
            log.write(task, "all")
            task.closeWrite()
            log.read(task, 100, 1000)
            log.read(task, 1, 1)
            task.resume()

            let events = try await log.finished()
            log.read(task, 1, 1)
            log.write(task, "late")
            try await log.events.wait { $0.count == 8 }

            let wanted: [StreamLog.Event] = [
                .wrote, .writeClosed, .read("answer", isAtEnd: true), .read("", isAtEnd: true), .readClosed,
                .completed(nil),
            ]
            #expect(events == wanted)
            #expect(log.events.value.suffix(2) == [.readFailed(-1005, nil), .writeFailed(-1005)])
        }

        @Test func `a peer that has ended its side is still written to`() async throws {
            server.script(.send("bye"), .shutdownWrite, .expect("still here"), .expectEnd, .close)
            let task = task()
            task.resume()
            log.read(task, 10, 10)
            try await log.events.wait { $0.contains(.readClosed) }
            log.write(task, "still here")
            task.closeWrite()

            let wanted: [StreamLog.Event] = [
                .read("bye", isAtEnd: true), .readClosed, .wrote, .writeClosed, .completed(nil),
            ]
            #expect(try await log.finished() == wanted)
            #expect(try await server.waitForEnd(ofConnection: 1) == .serverClosed)
        }

        @Test func `a side that is closed here drops what comes, and refuses what is asked`() async throws {
            server.script(.receive(1), .send(bytes: pattern(1_000_000)), .expect("x"), .expectEnd, .close)
            let task = task()
            task.resume()
            task.closeRead()
            log.read(task, 1, 1)
            log.write(task, "g")
            try await log.events.wait { $0.count == 3 }
            log.write(task, "x")
            task.closeWrite()

            let events = try await log.finished()

            #expect(Set(events.prefix(3)) == [.readFailed(-1005, nil), .readClosed, .wrote])
            #expect(events.suffix(3) == [.wrote, .writeClosed, .completed(nil)])
        }

        @Test func `T-STR-07 megabytes go both ways at once, and no more is read than was asked for`() async throws {
            let body = pattern(3_000_000)
            server.script(.send(bytes: body), .receive(3_000_000), .expectEnd, .close)
            let session = URLSession.loopback(delegate: log)
            let task = task(session)
            task.resume()
            let (first, _) = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 10)
            await session.settled()
            #expect(first == body.prefix(1) && task.countOfBytesReceived == 1)

            async let written: Void = task.write(body, timeout: 30)
            var received = first ?? Data()
            while received.count < body.count {
                let (data, isAtEnd) = try await task.readData(ofMinLength: 1, maxLength: 1 << 20, timeout: 10)
                received += data ?? Data()
                if isAtEnd { break }
            }
            try await written
            task.closeWrite()
            let (rest, isAtEnd) = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 10)

            #expect(received == body)
            #expect(rest?.isEmpty == true && isAtEnd)
            #expect(try await log.finished() == [.writeClosed, .readClosed, .completed(nil)])
        }

        // MARK: - What goes wrong

        @Test func `T-STR-03 a connection that breaks tells every caller once, with what has arrived`() async throws {
            server.script(.receive(1), .send("half"), .pause(until: "it was read"), .reset)
            let task = task()
            task.resume()
            log.write(task, "x")
            log.read(task, 8, 8)
            log.read(task, 1, 1)
            try await eventually { task.countOfBytesReceived == 4 }
            // The network thread knows of both reads when it answers.
            _ = await task.session.allTasks
            server.signal("it was read")

            let events = try await log.finished()
            log.read(task, 1, 1)
            try await log.events.wait { $0.count == 5 }

            #expect(events == [.wrote, .readFailed(-1005, "half"), .readFailed(-1005, nil), .completed(-1005)])
            #expect(log.error.withLock { $0?.loadFailure?.message.contains("127.0.0.1:\(server.port)") } == true)
        }

        @Test func `a port without a server fails all that was asked`() async throws {
            let port = server.port
            server.stop()
            let task = URLSession.loopback(delegate: log).streamTask(withHostName: "127.0.0.1", port: Int(port))
            log.read(task, 1, 1)
            log.write(task, "x")
            task.closeWrite()
            task.resume()

            #expect(try await log.finished() == [.readFailed(-1004, nil), .writeFailed(-1004), .completed(-1004)])
        }

        @Test(arguments: [
            ("a b", 1), ("evil.test/x", 1), ("u@evil.test", 1), ("", 1), ("a.test:80", 1), ("a.test", 0),
            ("a.test", -1),
            ("a.test", 65_536), ("\u{FC}/x", 1), ("[::1", 1),
        ])
        func `T-STR-05 an invalid host or port is refused`(host: String, port: Int) async throws {
            let task = URLSession.loopback(delegate: log).streamTask(withHostName: host, port: port)
            log.read(task, 1, 1)
            task.resume()

            #expect(try await log.finished() == [.readFailed(-1000, nil), .completed(-1000)])
        }

        @Test func `absurd lengths and times are as good as others`() async throws {
            server.script(.send("x"), .expect("y"), .close)
            let task = task()
            task.resume()
            log.read(task, -5, .max, timeout: .nan)
            log.read(task, .max, .max, timeout: .infinity)
            log.write(task, "", timeout: -1)
            log.write(task, "y", timeout: .greatestFiniteMagnitude)
            task.closeWrite()

            let events = try await log.finished()
            #expect(events.filter { $0 == .wrote }.count == 2)
            #expect(events.contains { if case .read(_, isAtEnd: true) = $0 { true } else { false } })
            #expect(events.last == .completed(nil))
        }

        @Test func `cancelling the one who awaits cancels the task`() async throws {
            server.script(.stall)
            let task = task()
            task.resume()
            let reader = Task { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) }
            _ = try await server.waitForConnections(1)

            reader.cancel()

            let error = await #expect(throws: URLError.self) { try await reader.value }
            #expect(error?.code == .cancelled && (task.error as? URLError)?.code == .cancelled)
        }

        @Test func `a session knows its stream tasks, and ends them`() async throws {
            server.script(.stall)
            let session = URLSession.loopback(delegate: log)
            let task = task(session)
            let unborn = session.streamTask(withHostName: "127.0.0.1", port: Int(server.port))
            log.read(unborn, 1, 1)
            task.resume()
            _ = try await server.waitForConnections(1)
            #expect(await session.allTasks == [task, unborn])

            session.invalidateAndCancel()

            try await log.events.wait { $0.count == 3 }
            #expect(Set(log.events.value) == [.completed(-999), .readFailed(-999, nil)])
        }

        @Test func `a proxy leads on by a tunnel`() async throws {
            server.script(.expect("hi"), .send("there"), .expectEnd, .close)
            let proxy = try TestProxy()
            var proxies = ProxyConfiguration(try ProxyServer("http://127.0.0.1:\(proxy.server.port)"))
            proxies.includesLoopback = true
            let task = task(URLSession.loopback(delegate: log) { [proxies] in $0.proxies = proxies })
            task.resume()
            log.write(task, "hi")
            log.read(task, 5, 5)
            try await log.events.wait { $0.count == 2 }
            task.closeWrite()
            log.read(task, 1, 1)

            #expect(try await log.finished().contains(.read("there", isAtEnd: false)))
            #expect(proxy.requests.last?.method == "CONNECT")
        }
    }
}
