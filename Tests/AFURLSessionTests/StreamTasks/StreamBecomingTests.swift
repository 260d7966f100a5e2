import AFTLS

extension StreamTaskTests {
    struct Becoming {
        private let server: TestServer
        private let log = StreamLog()

        init() throws {
            server = try TestServer()
        }

        private func becomes() async throws -> URLSessionStreamTask {
            URLSession.loopback(delegate: log).dataTask(with: server.url("/")).resume()
            return try #require(try await log.became.wait("a stream task") { $0 != nil })
        }

        @Test(arguments: [0, 5, 300_000, 2_000_000])
        func `T-STR-06 a body is read as a stream, with its end and no more`(count: Int) async throws {
            let body = pattern(count)
            server.route("GET", "/", .data(body).chunked(1000))
            let task = try await becomes()
            #expect(task.originalRequest != nil && task.taskIdentifier == 2)

            var received = Data()
            var isOver = false
            while !isOver {
                let (data, isAtEnd) = try await task.readData(ofMinLength: 1, maxLength: 100_000, timeout: 10)
                received += data ?? Data()
                isOver = isAtEnd
            }

            #expect(received == body)
            #expect(try await log.finished() == [.response(200), .became, .readClosed, .completed(nil)])
            // The connection is another request's now.
            let error = await #expect(throws: URLError.self) { try await task.write(Data("GET".utf8), timeout: 1) }
            #expect(error?.loadFailure?.detail == .closed)
        }

        @Test(arguments: [true, false])
        func `T-CAC-12 a body that became a stream is not stored`(hasLength: Bool) async throws {
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\n"
            server.script(
                .expectRequest,
                .send(head + (hasLength ? "Content-Length: 10\r\n\r\n01234" : "\r\n01234")),
                .pause(until: "the end")
            )
            let session = URLSession.loopback(delegate: log) {
                $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            }
            session.dataTask(with: server.url("/")).resume()
            let task = try #require(try await log.became.wait("a stream task") { $0 != nil })
            log.read(task, 5, 5)
            try await log.events.wait { $0.contains(.read("01234", isAtEnd: false)) }
            task.closeWrite()
            task.closeRead()
            _ = try await log.finished()
            server.signal("the end")
            await session.settled()

            #expect(session.configuration.urlCache?.cachedResponse(for: URLRequest(url: server.url("/"))) == nil)
        }

        @Test func `a body that comes by no connection is read, though its host has pins`() async throws {
            struct Pinned: ServerEvaluator {
                func forbidsPlainText(to host: String) -> Bool { true }
                func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
            }
            let site = StubSite()
            let session = StubSite.session(delegate: log) { $0.tls.evaluator = Pinned() }
            session.dataTask(with: site.url("/", scheme: "https")).resume()
            let task = try #require(try await log.became.wait("a stream task") { $0 != nil })
            log.read(task, 5, 5)
            log.read(task, 1, 1)

            let events: [StreamLog.Event] = [
                .response(200), .became, .read("hello", isAtEnd: false), .read("", isAtEnd: true), .readClosed,
                .completed(nil),
            ]
            #expect(try await log.finished() == events)
        }

        @Test func `a body that stalls, breaks or is given up ends the stream once`() async throws {
            server.enqueue(.text("0123456789").closing(after: 5), .text("0123456789").stalling(after: 5))
            let broken = try await becomes()
            log.read(broken, 10, 10)
            try await log.events.wait { $0.count == 4 }
            let answers = log.events.value.filter { if case .readFailed(-1005, _) = $0 { true } else { false } }
            #expect(answers.count == 1 && log.events.value.contains(.completed(-1005)))

            let other = StreamLog()
            URLSession.loopback(delegate: other).dataTask(with: server.url("/")).resume()
            let task = try #require(try await other.became.wait { $0 != nil })
            other.read(task, 5, 5)
            try await other.events.wait { $0.contains(.read("01234", isAtEnd: false)) }
            task.closeRead()
            let events: [StreamLog.Event] = [
                .response(200), .became, .read("01234", isAtEnd: false), .readClosed, .completed(nil),
            ]
            #expect(try await other.finished() == events)
        }

        @Test func `a response that only its end ends is the connection itself`() async throws {
            server.script(
                .expectRequest,
                .send("HTTP/1.1 200 OK\r\nContent-Type: raw\r\n\r\nfirst"),
                .expect("ping"),
                .send("pong"),
                .expectEnd,
                .send("last"),
                .close
            )
            let task = try await becomes()
            log.read(task, 5, 5)
            log.write(task, "ping")
            log.read(task, 4, 4)
            try await log.events.wait { $0.contains(.read("pong", isAtEnd: false)) }
            task.closeWrite()
            log.read(task, 100, 100)

            let events = try await log.finished()

            #expect(events.prefix(2) == [.response(200), .became])
            #expect(events.contains(.read("first", isAtEnd: false)))
            #expect(events.suffix(4) == [.writeClosed, .read("last", isAtEnd: true), .readClosed, .completed(nil)])
            #expect(server.acceptedConnections == 1)
        }

        @Test func `streams are made of a connection, and end it`() async throws {
            server.script(
                .expect("hello"),
                .send("HELLO"),
                .expect("more"),
                .send("rest"),
                .shutdownWrite,
                .expectEnd,
                .close
            )
            let told = Watched<[String]>([])
            let log = StreamLog { input, output in
                let streams = Both(input, output)
                Thread { told.change { [lines = streams.talk()] in $0 = lines } }.start()
            }
            let task = URLSession.loopback(delegate: log).streamTask(withHostName: "127.0.0.1", port: Int(server.port))
            log.write(task, "hello")
            task.captureStreams()
            log.read(task, 1, 1)
            task.resume()

            let lines = try await told.wait("the streams") { !$0.isEmpty }

            #expect(lines == ["HELLO", "rest", "end"])
            #expect(task.state == .completed)
            #expect(Set(log.events.value) == [.wrote, .readFailed(-1005, nil), .streams])
            #expect(try await server.waitForEnd(ofConnection: 1) == .serverClosed)
        }

        /// The streams of a task that closes a direction and captures them then, and what they say.
        private func captured(
            after close: (URLSessionStreamTask) -> Void
        ) async throws -> (said: [String], streams: Both) {
            let told = Watched<(said: [String], streams: Both)?>(nil)
            let log = StreamLog { input, output in
                let streams = Both(input, output)
                told.change { [said = streams.ask()] in $0 = (said, streams) }
            }
            let task = URLSession.loopback(delegate: log).streamTask(withHostName: "127.0.0.1", port: Int(server.port))
            close(task)
            task.captureStreams()
            task.resume()
            return try #require(try await told.wait("the streams") { $0 != nil })
        }

        @Test func `captured streams leave a direction closed that was closed before`() async throws {
            server.script(.expectEnd, .send("answer"), .close)
            #expect(try await captured { $0.closeWrite() }.said == ["wrote -1", "read answer"])

            // More than the kernel takes: it has to be read and dropped before the server reads.
            server.script(.send(bytes: [UInt8](repeating: 7, count: 16_000_000)), .expect("x"), .stall)
            let (said, streams) = try await captured { $0.closeRead() }
            #expect(said == ["wrote 1", "read "])
            try await eventually { server.connections.last?.bytesReceived == 1 }
            withExtendedLifetime(streams) {}
        }

        @Test func `streams that no delegate takes fail the task`() async throws {
            server.script(.stall)
            final class Deaf: URLSessionTaskDelegate {
                let end = Watched<Int?>(nil)

                func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                    end.change { $0 = (error as? URLError)?.code.rawValue ?? 0 }
                }
            }
            let deaf = Deaf()
            let session = URLSession.loopback(delegate: deaf)
            let task = session.streamTask(withHostName: "127.0.0.1", port: Int(server.port))
            task.captureStreams()
            task.resume()

            #expect(try await deaf.end.wait { $0 != nil } == -1000)
        }
    }
}

/// Two streams on their way to one thread.
private final class Both: @unchecked Sendable {
    private let input: InputStream
    private let output: OutputStream

    init(_ input: InputStream, _ output: OutputStream) {
        self.input = input
        self.output = output
    }

    func talk() -> [String] {
        input.open()
        output.open()
        var lines = [line(5)]
        _ = Array("more".utf8).withUnsafeBufferPointer { output.write($0.baseAddress!, maxLength: 4) }
        lines.append(line(4))
        var byte: UInt8 = 0
        lines.append(input.read(&byte, maxLength: 1) == 0 ? "end" : "more")
        output.close()
        input.close()
        return lines
    }

    /// Writes a byte, and reads to the end.
    func ask() -> [String] {
        input.open()
        output.open()
        let count = output.write([UInt8(ascii: "x")], maxLength: 1)
        return ["wrote \(count)", "read \(line(100))"]
    }

    private func line(_ count: Int) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: count)
        while bytes.count < count, case let found = input.read(&buffer, maxLength: count - bytes.count), found > 0 {
            bytes += buffer[..<found]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
