import AFTLS

extension StreamTaskTests {
    struct Securing {
        private let authority: CertificateAuthority
        private let tls: ServerTLS
        private let server: TestServer
        private let log = StreamLog()

        init() throws {
            authority = try CertificateAuthority()
            tls = ServerTLS(try authority.issue(for: "localhost"))
            server = try TestServer()
        }

        private func task(
            trusting authority: CertificateAuthority? = nil,
            log: StreamLog? = nil,
            _ configure: (inout TLSConfiguration) -> Void = { _ in }
        ) -> URLSessionStreamTask {
            var rules = TLSConfiguration()
            rules.anchors = .certificates([(authority ?? self.authority).certificate])
            configure(&rules)
            let session = URLSession.loopback(delegate: log ?? self.log) { [rules] in $0.tls = rules }
            return session.streamTask(withHostName: "localhost", port: Int(server.port))
        }

        @Test(arguments: TLSVersion.allCases)
        func `a stream is secured in the middle, and closed in order`(version: TLSVersion) async throws {
            server.script(
                .expect("start"),
                .send("go"),
                .handshake(tls),
                .expect("secret"),
                .send("answer"),
                .expectEnd,
                .announceEnd,
                .close
            )
            let task = task { $0.speak(version) }
            log.write(task, "start")
            log.read(task, 2, 2)
            task.startSecureConnection()
            log.write(task, "secret")
            log.read(task, 6, 6)
            task.startSecureConnection()
            task.closeWrite()
            log.read(task, 1, 1)
            task.resume()

            let events = try await log.finished()

            #expect(events.first == .wrote && events.contains(.read("go", isAtEnd: false)))
            #expect(events.contains(.read("answer", isAtEnd: false)))
            #expect(events.suffix(3) == [.read("", isAtEnd: true), .readClosed, .completed(nil)])
            let connection = try #require(server.connections.first)
            #expect(connection.tls != nil && !String(decoding: connection.wire, as: UTF8.self).contains("secret"))
        }

        @Test func `a server that is not trusted gets nothing that was meant for it`() async throws {
            server.script(.handshake(tls), .expect("secret"))
            let task = task(trusting: try CertificateAuthority())
            task.startSecureConnection()
            log.write(task, "secret")
            task.resume()

            #expect(try await log.finished() == [.writeFailed(-1203), .completed(-1203)])
            try await server.waitForEnd(ofConnection: 1)
            #expect(server.connections.first?.bytesReceived == 0)
        }

        @Test func `T-STR-01 bytes injected in the clear before the handshake are not taken for the server's`()
            async throws
        {
            server.script(.expect("start"), .send("go\r\nEVIL\r\n"), .handshake(tls), .send("fine"), .stall)
            let task = task()
            log.write(task, "start")
            log.read(task, 4, 4)
            task.startSecureConnection()
            log.read(task, 4, 4)
            task.resume()

            let events = try await log.finished()

            #expect(events == [.wrote, .read("go\r\n", isAtEnd: false), .readFailed(-1200, nil), .completed(-1200)])
        }

        @Test func `T-STR-02 a host with pins is not talked to in the clear`() async throws {
            struct Pinned: ServerEvaluator {
                func forbidsPlainText(to host: String) -> Bool { host == "localhost" }
                func evaluate(_ trust: ServerTrust) -> ServerTrustDecision { .accept }
            }
            server.script(.expectEnd, .close)
            let plain = task { $0.evaluator = Pinned() }
            log.write(plain, "secret")
            plain.resume()
            #expect(try await log.finished() == [.writeFailed(-1002), .completed(-1002)])
            try await server.waitForEnd(ofConnection: 1)
            #expect(server.connections.first?.bytesReceived == 0)

            server.script(.expectEnd, .close)
            let captured = task { $0.evaluator = Pinned() }
            captured.captureStreams()
            captured.resume()
            try await log.events.wait { $0.count == 3 }
            #expect(log.events.value.last == .completed(-1002))

            let other = StreamLog()
            server.script(.handshake(tls), .expect("secret"), .close)
            let secured = task { $0.evaluator = Pinned() }
            secured.startSecureConnection()
            other.write(secured, "secret")
            secured.resume()
            try await other.events.wait { $0 == [.wrote] }
            secured.cancel()
        }

        @Test func `T-STR-04 a stream that was cut off is no stream that ended`() async throws {
            server.script(.handshake(tls), .send("half"), .closeUnannounced)
            let task = task()
            task.startSecureConnection()
            log.read(task, 100, 100)
            task.resume()

            #expect(try await log.finished() == [.readFailed(-1005, "half"), .completed(-1005)])
            #expect(log.error.withLock { $0?.loadFailure?.detail } == .truncated)
        }

        @Test(arguments: [false, true])
        func `T-STR-04 T-TLS-64 streams that were captured are cut off too, and say so`(tolerates: Bool) async throws {
            server.script(.handshake(tls), .send("half"), .closeUnannounced)
            let told = Watched<CapturedEnding?>(nil)
            let log = StreamLog { input, _ in told.change { $0 = CapturedEnding(of: input) } }
            let task = task(log: log) { $0.toleratesMissingCloseNotify = tolerates }
            task.startSecureConnection()
            task.captureStreams()
            task.resume()

            let ending = try await told.wait("the end of the stream") { $0 != nil }

            #expect(ending == CapturedEnding(text: "half", result: tolerates ? 0 : -1, code: tolerates ? nil : -1005))
        }

        @Test func `T-STR-04 T-TLS-64 nor is a response that became streams at its end`() async throws {
            server.script(
                .handshake(tls),
                .expectRequest,
                .send("HTTP/1.1 200 OK\r\nContent-Type: raw\r\n\r\nhalf"),
                .closeUnannounced
            )
            let told = Watched<CapturedEnding?>(nil)
            let log = StreamLog { input, _ in told.change { $0 = CapturedEnding(of: input) } }
            let session = task(log: log).session
            session.dataTask(with: try #require(URL(string: "https://localhost:\(server.port)/"))).resume()
            try #require(try await log.became.wait { $0 != nil }).captureStreams()

            let ending = try await told.wait("the end of the stream") { $0 != nil }

            #expect(ending == CapturedEnding(text: "half", result: -1, code: -1005))
        }

        @Test func `a delegate may vouch for the server`() async throws {
            server.script(.handshake(tls), .expect("hi"), .close)
            let delegate = Voucher()
            let session = URLSession.loopback(delegate: delegate)
            let task = session.streamTask(withHostName: "localhost", port: Int(server.port))
            task.startSecureConnection()
            task.resume()

            try await task.write(Data("hi".utf8), timeout: 10)

            #expect(delegate.asked.value == 1)
            task.cancel()
        }

        @Test func `a handshake that gets nowhere is given up`() async throws {
            server.script(.stall)
            let session = URLSession.loopback(delegate: log) { $0.tlsTimeout = 0.05 }
            let task = session.streamTask(withHostName: "localhost", port: Int(server.port))
            task.startSecureConnection()
            log.read(task, 1, 1)
            task.resume()

            #expect(try await log.finished() == [.readFailed(-1001, nil), .completed(-1001)])
            #expect(log.error.withLock { $0?.loadFailure?.phase } == .tls)
        }
    }
}

/// What was read from a stream, and how that ended.
private struct CapturedEnding: Equatable {
    let text: String
    let result: Int
    let code: Int?

    init(text: String, result: Int, code: Int?) {
        (self.text, self.result, self.code) = (text, result, code)
    }

    init(of input: InputStream) {
        input.open()
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 100))
        var last = input.read(&buffer, maxLength: buffer.count)
        while last > 0 {
            bytes += buffer[..<last]
            last = input.read(&buffer, maxLength: buffer.count)
        }
        let error = input.streamError as? URLError
        self.init(text: String(decoding: bytes, as: UTF8.self), result: last, code: error?.code.rawValue)
    }
}

private final class Voucher: URLSessionDelegate {
    let asked = Watched(0)

    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        asked.change { $0 += 1 }
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }
}
