import AFLoop
import AFNetworkingTesting
import AFTestFixtures
import AFTestSupport
import AFVirtualWorld
import AFWire
import Foundation
import Testing

@testable import AFURLSession
@testable import AFURLTypes

/// Coded bodies through whole sessions, against a real server on the loopback interface.
struct CodedTaskTests {
    let server: TestServer
    private let session = URLSession.loopback()

    init() throws {
        server = try TestServer()
    }

    private func serve(_ path: String, _ body: Data, _ coding: String = "gzip", status: Int = 200) {
        server.route("*", path, .data(body).status(status).header("Content-Encoding", coding))
    }

    // MARK: - Every kind of task

    @Test(arguments: [0, 1, 70_000, 3_000_000])
    func `a handler, a delegate, an awaiting caller, an upload and a download get the content`(count: Int) async throws
    {
        let folder = try ScratchFolder()
        let text = Coded.text(count)
        serve("/file", Coded.gzip(text))
        let log = EventLog()
        let session = URLSession.downloading(to: folder)
        let delegated = URLSession.loopback(delegate: log)

        let handled = try await session.outcome(of: server.url("/file"))
        let (awaited, _) = try await session.data(from: server.url("/file"))
        let (answer, _) = try await session.upload(
            for: URLRequest("POST", server.url("/file")),
            from: Data("question".utf8)
        )
        let download = try await session.download(server.url("/file"))
        delegated.dataTask(with: server.url("/file")).resume()
        try await log.finished()

        #expect(handled.data == text && awaited == text && answer == text && download.contents == text)
        #expect(log.bodies.withLock { $0 } == text)
        #expect(handled.response?.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
        #expect(handled.response?.expectedContentLength == -1)
        #expect(server.acceptedConnections == 2)
        try await folder.isEmptyAtLast()
    }

    @Test func `a session that does not decode asks for no coding, and gets what there is`() async throws {
        let body = Coded.gzip(Coded.text(70_000))
        server.route("*", "/file", .data(body).header("Content-Encoding", "gzip").header("Cache-Control", "max-age=60"))
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let raw = URLSession.loopback {
            $0.decodesContent = false
            $0.urlCache = cache
        }
        let usual = URLSession.loopback { $0.urlCache = cache }

        let fresh = try await raw.outcome(of: server.url("/file"))
        let kept = try await raw.outcome(of: server.url("/file"))
        // What one has stored is nothing for the other.
        let decoded = try await usual.outcome(of: server.url("/file"))

        #expect(fresh.data == body && kept.data == body && decoded.data == Coded.text(70_000))
        #expect(fresh.response?.expectedContentLength == Int64(body.count))
        #expect(kept.response?.expectedContentLength == Int64(body.count))
        #expect(server.requests.map { $0.headers["Accept-Encoding"] == nil } == [true, false])
    }

    @Test func `a request may keep the coding of its response`() async throws {
        let (text, body) = (Coded.text(70_000), Coded.gzip(Coded.text(70_000)))
        server.route("GET", "/away", ServerReply.status(302).header("Location", "/file"))
        server.route("*", "/file", .data(body).header("Content-Encoding", "gzip").header("Cache-Control", "max-age=60"))
        let session = URLSession.loopback { $0.urlCache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0) }
        var raw = URLRequest(url: server.url("/away"))
        raw.decodesContent = false

        let usual = try await session.outcome(of: server.url("/file"))
        for _ in 0..<2 {
            let outcome = try await session.outcome(of: raw)
            #expect(outcome.data == body && outcome.response?.expectedContentLength == Int64(body.count))
        }
        let stored = try await session.outcome(of: server.url("/file"))

        #expect(usual.data == text && stored.data == text)
        // The cache has both forms, and each request gets its own.
        #expect(server.requests.map(\.path) == ["/file", "/away", "/file", "/away"])
        #expect(server.requests.map { $0.headers["Accept-Encoding"] == nil } == [false, true, true, true])
    }

    @Test(arguments: [1, 7, 1000, 100_000])
    func `chunks of any size change nothing`(size: Int) async throws {
        let text = Coded.text(300_000)
        let body = Coded.zlib(Coded.gzip(text))
        server.route(
            "GET",
            "/file",
            .data(body).header("Content-Encoding", "gzip").header("Content-Encoding", "deflate").chunked(size)
        )

        let outcome = try await URLSession.loopback().outcome(of: server.url("/file"))

        #expect(outcome.data == text)
    }

    @Test func `T-RES-04 a body of single bytes, whether TCP or TLS brings them, is decoded`() async throws {
        let text = Coded.text(500)
        server.route(
            "GET",
            "/file",
            .data(Coded.gzip(text)).header("Content-Encoding", "gzip").dribbling(1)
        )

        #expect(try await URLSession.loopback().outcome(of: server.url("/file")).data == text)
    }

    @Test func `T-RES-04 a body in an unknown coding is delivered as it came, its field kept`() async throws {
        serve("/file", Data("as it came".utf8), "aes128gcm")

        let outcome = try await URLSession.loopback().outcome(of: server.url("/file"))

        #expect(outcome.text == "as it came")
        #expect(outcome.response?.value(forHTTPHeaderField: "content-encoding") == "aes128gcm")
        #expect(outcome.response?.expectedContentLength == 10)
    }

    @Test func `T-RES-04 where there is no body, a coding does no harm`() async throws {
        serve("/head", Coded.gzip(Data("x".utf8)))
        serve("/empty", Data())
        server.route("GET", "/204", .status(204).header("Content-Encoding", "gzip"))
        server.route("GET", "/304", .status(304).header("Content-Encoding", "gzip"))
        server.route(
            "GET",
            "/many",
            .data(Data()).header("Content-Encoding", "gzip, gzip, gzip, gzip, gzip, gzip, gzip")
        )

        let head = try await session.outcome(of: URLRequest("HEAD", server.url("/head")))
        #expect(head.error == nil && head.data == Data())
        for path in ["/empty", "/204", "/304", "/many"] {
            let outcome = try await session.outcome(of: server.url(path))
            #expect(outcome.error == nil && outcome.data == Data(), "\(path)")
        }
        #expect(server.acceptedConnections == 1)
    }

    // MARK: - Failures

    @Test(arguments: ["damaged", "cut", "garbage"])
    func `T-RES-04 content that cannot be decoded fails the task and says why`(kind: String) async throws {
        let good = Coded.gzip(Coded.text(5000))
        let body =
            switch kind {
            case "damaged": good.prefix(100) + Data(repeating: 0xFF, count: 50) + good.dropFirst(150)
            case "cut": good.dropLast(20)
            default: good + Data("garbage".utf8)
            }
        serve("/file", Data(body))
        let folder = try ScratchFolder()
        let session = URLSession.downloading(to: folder)

        let outcome = try await session.outcome(of: server.url("/file"))
        let download = try await session.download(server.url("/file"))

        for error in [outcome.error, download.error] {
            #expect(error?.code == .cannotDecodeRawData)
            #expect(error?.loadFailure?.reason == .decoding)
            #expect(error?.loadFailure?.detail == (kind == "cut" ? .truncated : .damaged))
            #expect(error?.loadFailure?.message.contains("gzip") == true)
            #expect(error?.userInfo[NSURLSessionDownloadTaskResumeData] == nil)
        }
        #expect(outcome.data == nil && outcome.status == 200)
        try await folder.isEmptyAtLast()
    }

    @Test func `T-RES-02 codings by the thousand are refused before a byte is decoded`() async throws {
        let many = Array(repeating: "gzip", count: 1000)
        let text = Data("x".utf8)
        server.route("GET", "/one", .data(text).header("Content-Encoding", many.joined(separator: ",")))
        server.route(
            "GET",
            "/fields",
            .data(text).headers(HeaderFields(many.prefix(900).map { .init(name: "Content-Encoding", value: $0) }))
        )

        for path in ["/one", "/fields"] {
            let outcome = try await session.outcome(of: server.url(path))
            #expect(outcome.error?.code == .cannotDecodeContentData, "\(outcome)")
            #expect(outcome.error?.loadFailure?.detail == .coding)
        }
    }

    @Test func `T-RES-01 T-RES-03 a bomb goes off nowhere: in no task, in no error, in no redirect`() async throws {
        let folder = try ScratchFolder()
        let bomb = Coded.gzip(Coded.gzip(Data(count: 64 << 20), level: 9), level: 9)
        for status in [200, 404, 302, 401] { serve("/\(status)", bomb, "gzip, gzip", status: status) }
        let log = EventLog()
        let session = URLSession.downloading(to: folder)
        let delegated = URLSession.loopback(delegate: log)

        for status in [200, 404, 302, 401] {
            let outcome = try await session.outcome(of: server.url("/\(status)"))
            #expect(outcome.error?.loadFailure?.detail == .bomb, "\(status): \(outcome)")
            #expect(outcome.error?.code == .cannotDecodeRawData)
        }
        #expect(try await session.download(server.url("/200")).error?.loadFailure?.detail == .bomb)
        await #expect(throws: URLError.self) {
            _ = try await session.upload(for: URLRequest("POST", server.url("/200")), from: Data("x".utf8))
        }
        let (bytes, _) = try await session.bytes(from: server.url("/200"))
        var count = 0
        await #expect(throws: URLError.self) { for try await chunk in bytes.chunks { count += chunk.count } }
        #expect(count <= 16 << 20)
        delegated.dataTask(with: server.url("/200")).resume()
        #expect(try await log.finished().last == .completed(-1015))
        #expect(log.bodies.withLock { $0.count } <= 16 << 20)
        try await folder.isEmptyAtLast()
    }

    @Test func `T-RES-03 T-RED-21 the body of a redirect that is followed is not decoded`() async throws {
        server.route("GET", "/to", .text("there"))
        let bad = ServerReply.text("no gzip").status(302).header("Location", "/to")
        server.route("GET", "/from", bad.header("Content-Encoding", "gzip"))
        server.route("GET", "/many", bad.header("Content-Encoding", "gzip, gzip, gzip, gzip, gzip, gzip"))

        #expect(try await session.outcome(of: server.url("/from")).text == "there")
        #expect(try await session.outcome(of: server.url("/many")).text == "there")
        #expect(server.acceptedConnections == 1)
    }

    @Test(arguments: [10, 300_000, 5_000_000])
    func `a redirect that the delegate turns down is decoded as any response`(count: Int) async throws {
        let text = Coded.text(count)
        server.route(
            "GET",
            "/from",
            .data(Coded.gzip(text)).status(302).header("Location", "/to").header("Content-Encoding", "gzip")
        )
        let session = URLSession.loopback(delegate: RedirectAnswer())

        let outcome = try await session.outcome(of: server.url("/from"))

        #expect(outcome.status == 302 && outcome.data == text)
    }

    @Test func `T-RES-01 a bomb that is still coming loses its connection`() async throws {
        server.route("GET", "/bomb") { _ in
            .data(Coded.bomb(gibibytes: 1)).header("Content-Encoding", "gzip").keepAlive(true)
        }

        let outcome = try await URLSession.loopback().outcome(of: server.url("/bomb"))

        #expect(outcome.error?.loadFailure?.detail == .bomb)
        try await server.waitForEnd(ofConnection: 1)
    }

    @Test func `maximumBodyInMemory counts what was decoded`() async throws {
        serve("/file", Coded.gzip(Data(count: 100_001)))
        let session = URLSession.loopback { $0.maximumBodyInMemory = 100_000 }

        let outcome = try await session.outcome(of: server.url("/file"))

        #expect(outcome.error?.code == .dataLengthExceedsMaximum)
    }

    @Test(arguments: [Int.min, -1, 0, 1, 300, Int.max])
    func `T-API-36 every value of the ratio means something`(ratio: Int) async throws {
        let zeros = Data(count: 20 << 20)
        serve("/file", Coded.gzip(zeros, level: 1))
        let session = URLSession.loopback { $0.maximumContentRatio = ratio }

        let outcome = try await session.outcome(of: server.url("/file"))

        if ratio < 250 {
            #expect(outcome.error?.loadFailure?.detail == .bomb)
        } else {
            #expect(outcome.data == zeros)
        }
    }

    // MARK: - What is asked for

    @Test func `T-REQ-30 codings are asked for, but not for parts, and not against the caller's will`() async throws {
        server.route("*", "/file", .text("x"))
        let own = URLSession.loopback { $0.httpAdditionalHeaders = ["accept-encoding": "deflate"] }
        func asked(_ session: URLSession, _ fields: [String: String] = [:]) async throws -> [String] {
            _ = try await session.outcome(of: URLRequest("GET", server.url("/file"), fields: fields))
            return server.requests.last?.headers.values(of: "Accept-Encoding") ?? []
        }

        #expect(try await asked(session) == [ContentCoding.accepted])
        #expect(try await asked(session, ["X": "1"]) == [ContentCoding.accepted])
        #expect(try await asked(session, ["range": "bytes=1-"]) == ["identity"])
        #expect(try await asked(session, ["Range": "bytes=1-", "Accept-Encoding": "gzip"]) == ["gzip"])
        #expect(try await asked(session, ["accept-encoding": "br"]) == ["br"])
        #expect(try await asked(own) == ["deflate"])
        #expect(try await asked(own, ["Accept-Encoding": "gzip"]) == ["gzip"])
        let parts = URLSession.loopback { $0.httpAdditionalHeaders = ["Range": "bytes=0-0"] }
        #expect(try await asked(parts) == ["identity"])
    }

    @Test func `T-REQ-30 a part of coded content is delivered as it came`() async throws {
        let part = Coded.gzip(Coded.text(1000)).dropFirst(100).prefix(50)
        server.route(
            "GET",
            "/file",
            .data(part).status(206).header("Content-Range", "bytes 100-149/500").header("Content-Encoding", "gzip")
        )

        let request = URLRequest("GET", server.url("/file"), fields: ["Range": "bytes=100-149"])
        let outcome = try await URLSession.loopback().outcome(of: request)

        #expect(outcome.data == Data(part) && outcome.response?.expectedContentLength == 50)
    }

    // MARK: - Counting

    @Test func `T-FIL-26 progress counts decoded bytes, of an unknown total; metrics tell both`() async throws {
        let folder = try ScratchFolder()
        let text = Coded.text(2_000_000)
        let body = Coded.gzip(text)
        serve("/file", body)
        let log = DownloadLog()
        let session = URLSession.downloading(to: folder, delegate: log)
        let delegate = EventLog()
        let delegated = URLSession.loopback(delegate: delegate)

        let task = session.downloadTask(with: server.url("/file"))
        let progress = task.progress
        task.resume()
        try await log.finished()
        #expect(task.countOfBytesReceived == 2_000_000 && task.countOfBytesExpectedToReceive == -1)
        #expect(log.progress.last == .wrote(2_000_000, of: -1))
        #expect(progress.fractionCompleted <= 1 && progress.completedUnitCount == 2_000_000)
        delegated.dataTask(with: server.url("/file")).resume()
        try await delegate.finished()

        let metrics = try #require(delegate.metrics.withLock { $0 }?.transactionMetrics.first)
        #expect(metrics.countOfResponseBodyBytesReceived == Int64(body.count))
        #expect(metrics.countOfResponseBodyBytesAfterDecoding == 2_000_000)
        try await folder.isEmptyAtLast()
    }

    @Test func `T-FIL-19 a coded download that is cancelled leaves nothing to go on with`() async throws {
        let folder = try ScratchFolder()
        let body = Coded.gzip(Coded.text(3_000_000))
        server.route(
            "GET",
            "/file",
            .data(body).header("ETag", "\"one\"").header("Content-Encoding", "gzip").stalling(after: body.count / 2)
        )
        let session = URLSession.downloading(to: folder)
        let task = session.downloadTask(with: server.url("/file"))
        task.resume()
        try await eventually { task.countOfBytesReceived > 1_000_000 }

        #expect(await task.cancelByProducingResumeData() == nil)
        try await folder.isEmptyAtLast()
    }

    // MARK: - Holding up

    @Test func `T-RES-01 T-RES-40 a delegate that stops stops the inflating too`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let log = EventLog { event, _ in
            if case .data = event { _ = gate.wait(timeout: .now() + 20) }
        }
        let zeros = Data(count: 12 << 20)
        serve("/file", Coded.gzip(zeros, level: 9))
        let session = URLSession.loopback(delegate: log)

        let task = session.dataTask(with: server.url("/file"))
        task.resume()
        try await log.events.wait("data") { $0.count >= 2 }
        for _ in 1...50 { await session.settled() }
        // Mailbox, and what the delegate is being shown.
        #expect(task.countOfBytesReceived <= Int64(2 * DelegateConsumer.highWater))
        for _ in 1...1000 { gate.signal() }

        #expect(try await log.finished().last == .completed(nil))
        #expect(log.bodies.withLock { $0 } == zeros)
    }

    @Test func `a suspended task inflates nothing, and goes on where it was`() async throws {
        let zeros = Data(count: 12 << 20)
        serve("/file", Coded.gzip(zeros, level: 9))
        let outcomes = Outcomes()
        let task = session.dataTask(with: server.url("/file"), completionHandler: outcomes.handler)
        task.resume()
        try await eventually { task.countOfBytesReceived > 0 }
        task.suspend()
        await session.settled()
        let received = task.countOfBytesReceived
        for _ in 1...50 { await session.settled() }

        #expect(task.countOfBytesReceived == received)
        task.resume()
        #expect(try await outcomes.first().data == zeros)
    }

    @Test func `a data task with a coded body becomes a download of its content`() async throws {
        let folder = try ScratchFolder()
        let text = Coded.text(2_000_000)
        serve("/file", Coded.gzip(text))
        let log = DownloadLog(disposition: .becomeDownload)
        let session = URLSession.downloading(to: folder, delegate: log)

        session.dataTask(with: server.url("/file")).resume()
        try await log.finished()

        #expect(log.contents.withLock { $0 } == text)
        #expect(log.steps == [.response(200), .became, .file(2_000_000), .metrics, .completed(nil)])
        try await folder.isEmptyAtLast()
    }

    @Test func `T-API-01 cancelled at any moment of decoding, a task completes once`() async throws {
        let zeros = Data(count: 8 << 20)
        serve("/file", Coded.gzip(zeros, level: 9))
        var random = SeededGenerator(seed: 11)

        for _ in 1...30 {
            let outcomes = Outcomes()
            let task = session.dataTask(with: server.url("/file"), completionHandler: outcomes.handler)
            task.resume()
            let enough = Int64(random.next() % (9 << 20))
            while task.countOfBytesReceived < enough, task.state == .running { await Task.yield() }
            task.cancel()
            let outcome = try await outcomes.first()
            #expect(outcome.code == -999 || outcome.data == zeros)
            await session.settled()
            #expect(outcomes.all.value.count == 1)
        }
    }
}
