import Dispatch
import Foundation

/// Bodies of requests that are coded on their way.
@Suite struct BodyCodingTests {
    enum Kind: CaseIterable {
        case memory, upload, file, stream, measuredStream
    }

    private let server: TestServer
    private let folder: ScratchFolder

    init() throws {
        server = try TestServer()
        folder = try ScratchFolder()
        server.route("*", "/", .text("taken"))
        server.install(.authentication)
    }

    private func request(
        _ url: URL? = nil,
        coding: BodyCoding? = .gzip,
        fields: [String: String] = [:]
    ) -> AFURLSession.URLRequest {
        var request = URLRequest("PUT", url ?? server.url("/"), fields: fields)
        request.bodyCoding = coding
        return request
    }

    /// Sends the content as a body of a kind.
    private func send(
        _ content: Data,
        as kind: Kind,
        _ request: AFURLSession.URLRequest,
        in session: URLSession = .loopback()
    ) async throws -> Outcome {
        var request = request
        let outcomes = Outcomes()
        switch kind {
        case .memory: request.httpBody = content
        case .upload:
            session.uploadTask(with: request, from: content, completionHandler: outcomes.handler).resume()
            return try await outcomes.first()
        case .file:
            let file = try folder.file(content)
            session.uploadTask(with: request, fromFile: file, completionHandler: outcomes.handler).resume()
            return try await outcomes.first()
        case .measuredStream:
            request.setValue("\(content.count)", forHTTPHeaderField: "Content-Length")
            request.httpBodyStream = TestStream(content, pieces: 50_000)
        case .stream: request.httpBodyStream = TestStream(content, pieces: 50_000)
        }
        return try await session.outcome(of: request)
    }

    private func codings(_ place: Int = 0) -> [String] { server.requests[place].headers.values(of: "Content-Encoding") }

    // MARK: - What is sent

    @Test(arguments: Kind.allCases, [5000, 2_000_000])
    func `each kind of body arrives coded, and with the framing that fits`(kind: Kind, size: Int) async throws {
        let content = Coded.text(size)
        for coding in [BodyCoding.gzip, .deflate] {
            let outcome = try await send(content, as: kind, request(coding: coding))
            #expect(outcome.text == "taken", "\(outcome)")
            let received = try #require(server.requests.last)
            #expect(Coded.plain(received.body) == content && received.body.count < size / 2)
            #expect(received.headers.values(of: "Content-Encoding") == [coding.rawValue])
            let isWhole = size == 5000 && (kind == .memory || kind == .upload)
            let length = isWhole ? ["\(received.body.count)"] : []
            #expect(received.headers.values(of: "Content-Length") == length)
            #expect(received.headers.values(of: "Transfer-Encoding") == (isWhole ? [] : ["chunked"]))
        }
    }

    @Test func `T-COD-01 nothing is coded that was not asked for`() async throws {
        let content = Coded.text(5000)
        for kind in Kind.allCases {
            _ = try await send(content, as: kind, request(coding: nil))
            _ = try await send(content, as: kind, request(coding: .identity), in: .loopback { $0.bodyCoding = .gzip })
        }

        #expect(server.requests.count == 10 && server.requests.allSatisfy { $0.body == content })
        #expect((0..<10).allSatisfy { codings($0).isEmpty })
    }

    @Test func `a session codes the bodies of all its requests`() async throws {
        let content = Coded.text(5000)
        let session = URLSession.loopback { $0.bodyCoding = .deflate }

        #expect(try await send(content, as: .memory, request(coding: nil), in: session).text == "taken")
        #expect(try await send(content, as: .memory, request(coding: .gzip), in: session).text == "taken")
        #expect(try await session.outcome(of: server.url("/")).text == "taken")

        #expect(codings(0) == ["deflate"] && codings(1) == ["gzip"] && codings(2).isEmpty)
    }

    @Test func `a body in memory that does not become shorter goes as it is`() async throws {
        for content in [Data("short".utf8), pattern(20), Data((0..<3000).map { _ in UInt8.random(in: 0...255) })] {
            #expect(try await send(content, as: .memory, request()).text == "taken")
            let received = try #require(server.requests.last)
            #expect(received.body == content && received.headers.values(of: "Content-Encoding").isEmpty)
            #expect(received.headers.values(of: "Content-Length") == ["\(content.count)"])
        }
    }

    @Test(arguments: [
        "Content-Encoding", "content-range", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest",
    ])
    func `T-COD-02 a body whose bytes a field speaks of goes as it is`(name: String) async throws {
        let content = Coded.text(5000)
        let value = name == "Content-Encoding" ? "zstd" : "x"

        #expect(try await send(content, as: .memory, request(fields: [name: value])).text == "taken")
        let session = URLSession.loopback { $0.httpAdditionalHeaders = [name: value] }
        #expect(try await send(content, as: .memory, request(), in: session).text == "taken")

        #expect(server.requests.allSatisfy { $0.body == content && $0.headers.values(of: name) == [value] })
    }

    @Test func `an empty stream is a coded body of no content`() async throws {
        #expect(try await send(Data(), as: .stream, request()).text == "taken")
        #expect(try await send(Data(), as: .file, request()).text == "taken")

        #expect(Coded.plain(server.requests[0].body) == Data() && codings(0) == ["gzip"])
        #expect(server.requests[1].body.isEmpty && codings(1).isEmpty)
    }

    @Test func `HTTP of version 1.0 has no chunks, so only what is coded beforehand is coded`() async throws {
        let content = Coded.text(5000)
        var request = request()
        request.usesHTTP10 = true

        #expect(try await send(content, as: .memory, request).text == "taken")
        #expect(try await send(content, as: .file, request).text == "taken")

        #expect(codings(0) == ["gzip"] && Coded.plain(server.requests[0].body) == content)
        #expect(codings(1).isEmpty && server.requests[1].body == content)
    }

    @Test func `T-COD-05 a stream of another length than announced is an error, coded as well`() async throws {
        for (announced, actual) in [(10_000, 9_000), (9_000, 10_000)] {
            var request = request(fields: ["Content-Length": "\(announced)"])
            request.httpBodyStream = TestStream(Coded.text(actual))

            let outcome = try await URLSession.loopback().outcome(of: request)
            #expect(outcome.error?.loadFailure?.message.contains("\(announced) bytes were announced") == true)
        }
        #expect(server.requests.allSatisfy { !$0.isComplete })
    }

    @Test func `T-COD-06 what a stream has given so far does not wait for more`() async throws {
        let body = FedStream()
        let log = EventLog()
        var request = request()
        request.httpBodyStream = body
        URLSession.loopback(delegate: log).dataTask(with: request).resume()

        body.feed("first")
        try await log.events.wait("five bytes to leave") { $0.contains(.sent(5, of: -1)) }
        body.feed("second")
        try await log.events.wait("eleven bytes to leave") { $0.contains(.sent(11, of: -1)) }
        body.end()

        #expect(try await log.finished().last == .completed(nil))
        #expect(Coded.plain(try #require(server.requests.first).body) == Data("firstsecond".utf8))
    }

    // MARK: - Counting

    @Test(arguments: Kind.allCases, [5000, 2_000_000])
    func `progress and metrics count the bytes that the program gave`(kind: Kind, size: Int) async throws {
        let content = Coded.text(size)
        let witness = SentBytes()
        let session = URLSession.loopback(delegate: witness)

        _ = try await send(content, as: kind, request(), in: session)

        let metrics = try await witness.metrics.wait("metrics") { $0 != nil }
        let transaction = try #require(metrics?.transactionMetrics.last)
        let sent = try #require(server.requests.first).body.count
        #expect(transaction.countOfRequestBodyBytesBeforeEncoding == size)
        #expect(transaction.countOfRequestBodyBytesSent == sent && sent < size / 2)
        #expect(witness.totals.withLock { $0 } == [Int64(size), kind == .stream ? -1 : Int64(size)])
        let counts = witness.counts.value
        #expect(counts == counts.sorted() && counts.last == Int64(size), "\(counts)")
    }

    private final class SentBytes: URLSessionTaskDelegate {
        let counts = Watched<[Int64]>([])
        let metrics = Watched<URLSessionTaskMetrics?>(nil)
        /// What the task has sent, and was to send.
        let totals = Lock<[Int64]>([])

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didSendBodyData bytesSent: Int64,
            totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            counts.change { $0.append(totalBytesSent) }
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            totals.withLock { $0 = [task.countOfBytesSent, task.countOfBytesExpectedToSend] }
            self.metrics.change { $0 = metrics }
        }
    }

    // MARK: - Servers that do not take it

    /// Refuses coded bodies under /strict as RFC 9110 §15.5.16 has it.
    private func refuse(_ server: TestServer, naming accepted: String?) {
        server.route("PUT", "/strict") { request in
            guard !request.headers.values(of: "Content-Encoding").isEmpty else { return .text("taken") }
            let reply = ServerReply.text("what is this?").status(415)
            return accepted.map { reply.header("Accept-Encoding", $0) } ?? reply
        }
    }

    @Test(arguments: Kind.allCases)
    func `T-COD-03 a refused coding is left away, and the origin is remembered`(kind: Kind) async throws {
        refuse(server, naming: "identity, br;q=0.5")
        let other = try TestServer()
        other.route("*", "/", .text("taken"))
        let content = Coded.text(50_000)
        let session = URLSession.loopback(delegate: Streams(content))

        #expect(try await send(content, as: kind, request(server.url("/strict")), in: session).text == "taken")
        #expect(try await send(content, as: kind, request(), in: session).text == "taken")
        #expect(try await send(content, as: kind, request(other.url("/")), in: session).text == "taken")

        #expect(server.requests.count == 3 && codings(0) == ["gzip"] && codings(1).isEmpty && codings(2).isEmpty)
        #expect(server.requests.dropFirst().allSatisfy { $0.body == content })
        #expect(other.requests.first?.headers.values(of: "Content-Encoding") == ["gzip"])
    }

    /// Gives the stream once more.
    private final class Streams: URLSessionTaskDelegate {
        private let content: Data

        init(_ content: Data) {
            self.content = content
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(TestStream(content, pieces: 50_000))
        }
    }

    @Test(arguments: [nil, "gzip", "br, GZIP;q=0.1", "*", "x, * ; q=0.2"])
    func `T-COD-04 a 415 that is about something else is the answer`(accepted: String?) async throws {
        refuse(server, naming: accepted)
        let session = URLSession.loopback()

        let outcome = try await send(Coded.text(5000), as: .memory, request(server.url("/strict")), in: session)
        _ = try await send(Coded.text(5000), as: .memory, request(), in: session)

        #expect(outcome.status == 415 && outcome.text == "what is this?")
        #expect(server.requests.count == 2 && codings(1) == ["gzip"])
    }

    @Test(arguments: ["", "gzip;q=0", "*, gzip; q=0.000"])
    func `T-COD-03 a coding of no weight is refused`(accepted: String) async throws {
        refuse(server, naming: accepted)
        #expect(try await send(Coded.text(5000), as: .memory, request(server.url("/strict"))).text == "taken")
        #expect(server.requests.count == 2)
    }

    @Test func `T-COD-03 a server that refuses whatever comes is asked twice at most`() async throws {
        server.route("PUT", "/never", ServerReply.text("no").status(415).header("Accept-Encoding", "identity"))

        let outcome = try await send(Coded.text(5000), as: .file, request(server.url("/never")))

        #expect(outcome.status == 415 && server.requests.count == 2)
    }

    // MARK: - Sent again

    @Test(arguments: Kind.allCases)
    func `a redirect has it coded again, for a server that refuses it as it is`(kind: Kind) async throws {
        let strict = try TestServer()
        refuse(strict, naming: "identity")
        server.route("*", "/again", .status(307).header("Location", "/"))
        server.route("*", "/away", .status(307).header("Location", strict.url("/strict").absoluteString))
        let content = Coded.text(300_000)
        let session = URLSession.loopback(delegate: Streams(content)) {
            $0.redirectPolicy.sendsBodyToOtherOrigins = true
        }

        #expect(try await send(content, as: kind, request(server.url("/again")), in: session).text == "taken")
        #expect(codings(0) == ["gzip"] && codings(1) == ["gzip"])
        #expect(Coded.plain(server.requests[1].body) == content)

        for _ in 0..<2 {
            #expect(try await send(content, as: kind, request(server.url("/away")), in: session).text == "taken")
        }
        // The second time the session knows.
        #expect(strict.requests.map { $0.headers.values(of: "Content-Encoding") } == [["gzip"], [], []])
        #expect(strict.requests.dropFirst().allSatisfy { $0.body == content })
    }

    @Test(arguments: ["auth", "auth-int"], Kind.allCases)
    func `credentials are for the body as it is sent`(quality: String, kind: Kind) async throws {
        // What is coded on its way cannot be hashed before it leaves.
        let isHashed = kind == .memory || kind == .upload
        let content = Coded.text(50_000)
        final class Keys: URLSessionTaskDelegate {
            let streams: Streams
            init(_ streams: Streams) { self.streams = streams }
            func urlSession(
                _ session: URLSession,
                task: URLSessionTask,
                didReceive challenge: URLAuthenticationChallenge,
                completionHandler:
                    @escaping @Sendable (
                        URLSession.AuthChallengeDisposition, URLCredential?
                    ) -> Void
            ) {
                completionHandler(
                    challenge.previousFailureCount == 0 ? .useCredential : .performDefaultHandling,
                    URLCredential(user: "user", password: "secret", persistence: .none)
                )
            }
            func urlSession(
                _ session: URLSession,
                task: URLSessionTask,
                needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
            ) {
                streams.urlSession(session, task: task, needNewBodyStream: completionHandler)
            }
        }
        let session = URLSession.loopback(delegate: Keys(Streams(content)))
        let url = server.url("/digest-auth/\(quality)/user/secret/SHA-256")

        let outcome = try await send(content, as: kind, request(url), in: session)

        #expect(outcome.status == (quality == "auth" || isHashed ? 200 : 401), "\(outcome)")
        let last = try #require(server.requests.last)
        #expect(Coded.plain(last.body) == content && last.headers.values(of: "Content-Encoding") == ["gzip"])
    }

    @Test(arguments: Kind.allCases)
    func `an interceptor's next attempt sends it coded once`(kind: Kind) async throws {
        server.enqueue(.status(503), .text("taken"))
        let content = Coded.text(50_000)
        var rules = RetryRules(maximumAttempts: 2)
        rules.baseDelay = .milliseconds(1)
        let session = URLSession.loopback(delegate: Streams(content)) { [rules] in $0.requestInterceptors = [rules] }

        #expect(try await send(content, as: kind, request(server.url("/busy")), in: session).text == "taken")

        #expect(server.requests.count == 2 && codings(0) == ["gzip"] && codings(1) == ["gzip"])
        #expect(server.requests.allSatisfy { Coded.plain($0.body) == content })
    }

    @Test func `a server that wants to be asked first, and trailer fields, go with it`() async throws {
        var request = request(fields: ["Expect": "100-continue"])
        request.trailers = RequestTrailers("X-Sum") { ["X-Sum": "9"] }
        let content = Coded.text(5000)

        #expect(try await send(content, as: .memory, request).text == "taken")

        let received = try #require(server.requests.first)
        #expect(Coded.plain(received.body) == content && received.headers.values(of: "Content-Encoding") == ["gzip"])
        #expect(received.trailers.fields.map(\.value) == ["9"])
        #expect(received.headers.values(of: "Transfer-Encoding") == ["chunked"])
    }

    @Test func `a proxy passes it on`() async throws {
        let proxy = try TestProxy()
        let proxies = ProxyConfiguration(try ProxyServer(proxy.url.absoluteString))
        let session = URLSession.loopback { $0.proxies = proxies }

        #expect(try await send(Coded.text(300_000), as: .file, request(), in: session).text == "taken")
        #expect(Coded.plain(try #require(server.requests.first).body) == Coded.text(300_000))
    }

    @Test func `T-COD-07 cancelling while a worker codes closes what the body came from`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let stream = TestStream(Coded.text(5_000_000), end: .block(gate))
        var request = request()
        request.httpBodyStream = stream
        let task = URLSession.loopback().dataTask(with: request)
        task.resume()
        try await stream.doings.wait("reading") { $0.given > 1_000_000 }

        task.cancel()
        gate.signal()

        try await stream.doings.wait("closing") { $0.closings == 1 }
        try await server.waitForEnd(ofConnection: 1)
        #expect(server.requests.allSatisfy { !$0.isComplete })
    }

    @Test func `T-COD-08 a server that does not read holds up the stream`() async throws {
        var random = SeededGenerator(seed: 5)
        let words = (0..<6_250_000).map { _ in random.next() }
        let stream = TestStream(words.withUnsafeBytes { Data($0) })
        server.script(.expectHead, .stall)
        var request = request()
        request.httpBodyStream = stream
        let task = URLSession.loopback().dataTask(with: request)
        task.resume()

        var former = -1
        while former != stream.doings.value.given {
            former = stream.doings.value.given
            try await Task.sleep(for: .milliseconds(300))
        }

        // What the kernel holds, and two pieces of each kind.
        #expect(former > 0 && former < 20_000_000)
        task.cancel()
        try await stream.doings.wait("closing") { $0.closings == 1 }
    }

    @Test func `a task that is suspended sends nothing of what its body has, and the rest when it is resumed`()
        async throws
    {
        let body = FedStream()
        let log = EventLog()
        var request = request()
        request.httpBodyStream = body
        let task = URLSession.loopback(delegate: log).dataTask(with: request)
        task.resume()
        body.feed("first")
        try await log.events.wait("five bytes to leave") { $0.contains(.sent(5, of: -1)) }

        task.suspend()
        body.feed("second")
        try await Task.sleep(for: .milliseconds(300))
        #expect(log.events.value == [.sent(5, of: -1)])
        task.resume()
        try await log.events.wait("eleven bytes to leave") { $0.contains(.sent(11, of: -1)) }
        body.end()

        #expect(try await log.finished().last == .completed(nil))
        #expect(Coded.plain(try #require(server.requests.first).body) == Data("firstsecond".utf8))
    }

    // MARK: - What the request keeps

    @Test func `archives, copies and comparisons have the coding`() throws {
        let request = request(coding: .deflate)
        var other = request
        other.bodyCoding = nil
        #expect(request != other && request.bodyCoding == .deflate)
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: request as NSURLRequest,
            requiringSecureCoding: true
        )
        let restored = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSURLRequest.self, from: archive)
        #expect((restored.map { $0 as AFURLSession.URLRequest })?.bodyCoding == .deflate)
    }
}
