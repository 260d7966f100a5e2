import AFFaults
import AFWire
import CAFLinux
import Glibc

@testable import AFURLSession
@testable import AFURLTypes

extension DownloadTests {
    /// What may happen to a download at an unexpected moment, in virtual time.
    struct Orders {
        private static let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 9\r\n\r\n"
        private static let cut: [ServerStep] = [.expectRequest, .reply(head + "all"), .close]
        private static let all: [ServerStep] = [.expectRequest, .reply(head + "all of it"), .again]

        private let url = URL(string: "http://api.test/") ?? URL(fileURLWithPath: "/")
        private let folder: ScratchFolder
        private let outcomes = DownloadOutcomes()

        init() throws {
            folder = try ScratchFolder()
        }

        private func world(
            _ scripts: [ServerStep]...,
            configure: (URLSessionConfiguration) -> Void = { _ in }
        ) -> VirtualWorld {
            let world = VirtualWorld()
            world.configure {
                settings($0)
                configure($0)
            }
            world.scripts("api.test", scripts)
            return world
        }

        private func settings(_ configuration: URLSessionConfiguration) {
            configuration.temporaryFolder = folder.url
            configuration.timeoutIntervalForRequest = 5
            configuration.timeoutIntervalForResource = 30
        }

        private func begin(in world: VirtualWorld) -> URLSessionDownloadTask {
            let task = world.session.downloadTask(with: url, completionHandler: outcomes.handler)
            task.resume()
            return task
        }

        private func run(_ world: VirtualWorld, untilOutcome count: Int) -> DownloadOutcome? {
            world.run { outcomes.all.value.count == count }
            return outcomes.all.value.last
        }

        private var codes: [Int?] { outcomes.all.value.map(\.code) }

        // MARK: - Cancelling

        @Test(arguments: [false, true])
        func `T-FIL-07 a download that is cancelled while its disk is slow ends at once`(isWhole: Bool) {
            let world = world(isWhole ? Self.all : [.expectRequest, .reply(Self.head + "all"), .stall])
            world.workers.take(.seconds(2))
            let task = begin(in: world)
            world.advance(by: .seconds(1))

            task.cancel()
            world.advance(by: .milliseconds(100))

            #expect(codes == [-999] && task.state == .completed)
            #expect(world.finish() == [])
            #expect(codes == [-999] && folder.leftovers.isEmpty)
        }

        /// Bytes that end with their message are written and named after two seconds. Others are written after two
        /// seconds, and have their name after four.
        @Test(arguments: [(1, true), (1, false), (3, false)])
        func `T-FIL-18 who asks for resume data while the file is being made gets the file`(
            second: Int,
            endsAtOnce: Bool
        ) {
            let late = Self.head.replacing("Content-Length: 9", with: "Connection: close") + "all of it"
            let steps: [ServerStep] = [.expectRequest, .reply(late), .delay(.milliseconds(500)), .close]
            let world = world(endsAtOnce ? Self.all : steps)
            world.workers.take(.seconds(2))
            let task = begin(in: world)
            world.advance(by: .seconds(second))
            #expect(codes == [])

            let resumeData = Lock<[Data?]>([])
            task.cancel { data in resumeData.withLock { $0.append(data) } }
            let outcome = run(world, untilOutcome: 1)

            #expect(outcome?.contents == Data("all of it".utf8) && outcome?.error == nil)
            #expect(resumeData.withLock { $0 } == [nil])
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        @Test func `who asks for resume data is let go of once that is answered`() {
            final class Asker: Sendable {}
            let world = world([.expectRequest, .reply(Self.head + "all"), .stall])
            let task = begin(in: world)
            world.advance(by: .seconds(1))
            weak var asker: Asker?
            do {
                let kept = Asker()
                asker = kept
                task.cancel { _ in withExtendedLifetime(kept) {} }
            }
            #expect(asker != nil)
            #expect(run(world, untilOutcome: 1)?.resumeData != nil)
            world.settle()
            #expect(asker == nil && task.state == .completed)
            #expect(world.finish() == [])
        }

        // MARK: - The disk

        @Test func `T-FIL-28 as much as may wait for the disk is read, and not a byte more`() {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n"
            let most = DownloadConsumer.highWater
            let world = world([
                .expectRequest, .reply(head), .fill(most), .delay(.seconds(1)), .fill(8_000_000 - most), .again,
            ])
            world.workers.take(.seconds(100))
            let task = begin(in: world)
            world.advance(by: .seconds(3))
            #expect(task.countOfBytesReceived == Int64(most))
            task.cancel()
            #expect(world.finish() == [])
            #expect(codes == [-999] && folder.leftovers.isEmpty)
        }

        @Test func `T-FIL-28 a disk that fails after the time was over is not what the task fails with`() throws {
            let world = world([.expectRequest, .reply(Self.head + "all"), .stall])
            world.workers.take(.seconds(20))
            _ = begin(in: world)
            // The time was over after five seconds, and what was being written then still is.
            world.advance(by: .seconds(10))
            #expect(codes == [])
            try FileManager.default.removeItem(at: folder.url)
            let outcome = run(world, untilOutcome: 1)
            #expect(codes == [-1001] && outcome?.resumeData == nil)
            #expect(world.finish() == [])
        }

        // MARK: - Another request

        @Test func `what an earlier attempt still writes is not in the file of the next`() {
            var rules = RetryRules()
            rules.baseDelay = .milliseconds(1)
            let broken: [ServerStep] = [.expectRequest, .reply(Self.head + "no!"), .delay(.seconds(1)), .close]
            let world = world(broken, Self.all) { [rules] in $0.requestInterceptors = [rules] }
            world.workers.take(.seconds(2))
            _ = begin(in: world)

            let outcome = run(world, untilOutcome: 1)

            #expect(outcome?.contents == Data("all of it".utf8))
            #expect(world.network.connections.count == 2)
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        /// A delegate that never answers.
        private final class Silent: URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession,
                task: URLSessionTask,
                willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest,
                completionHandler: @escaping @Sendable (URLRequest?) -> Void
            ) {}
        }

        @Test func `a delegate that never answers costs no part`() throws {
            let redirect = "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"
            let rest = "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Range: bytes 3-8/9\r\n"
            let world = world(
                Self.cut,
                [.expectRequest, .reply(redirect), .close],
                [.expectRequest, .reply(rest + "Content-Length: 6\r\n\r\n of it"), .again]
            )
            let (session, _) = world.makeSession(delegate: Silent(), settings)
            session.downloadTask(with: url, completionHandler: outcomes.handler).resume()
            let part = try #require(run(world, untilOutcome: 1)?.resumeData)

            session.downloadTask(withResumeData: part, completionHandler: outcomes.handler).resume()
            let same = try #require(run(world, untilOutcome: 2)?.resumeData)
            session.downloadTask(withResumeData: same, completionHandler: outcomes.handler).resume()
            let outcome = run(world, untilOutcome: 3)

            #expect(codes == [-1005, -1001, nil])
            #expect(outcome?.contents == Data("all of it".utf8) && outcome?.status == 206)
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        @Test(arguments: ["3\r\n of\r\n", "9\r\n of it, no\r\n"])
        func `T-FIL-13 what was written of a rest that breaks its word is cut off the part again`(chunk: String) throws
        {
            let rest = "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Range: bytes 3-8/9\r\n"
            let broken: [ServerStep] = [
                .expectRequest, .reply(rest + "Transfer-Encoding: chunked\r\n\r\n2\r\n o\r\n"), .delay(.seconds(1)),
                .reply(chunk), .delay(.seconds(1)), .reply("0\r\n\r\n"), .close,
            ]
            let world = world(
                Self.cut,
                broken,
                [.expectRequest, .reply(rest + "Content-Length: 6\r\n\r\n of it"), .again]
            )
            _ = begin(in: world)
            for count in 2...3 {
                let data = try #require(run(world, untilOutcome: count - 1)?.resumeData)
                #expect(try ResumeRecord(data).point.offset == 3)
                world.session.downloadTask(withResumeData: data, completionHandler: outcomes.handler).resume()
            }
            #expect(run(world, untilOutcome: 3)?.contents == Data("all of it".utf8))
            #expect(codes == [-1005, -1017, nil])
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        @Test func `T-FIL-07 behind a response that is not HTTP's there is no going on from an earlier part`() throws {
            let request = URLRequest(url: url)
            let record = ResumeRecord(
                request: request,
                at: ResumePoint(offset: 0, total: 9, validator: .entityTag("\"1\"")),
                part: KeptPart(token: String(repeating: "0a", count: 16), length: 3, modified: 1, digest: 2),
                under: [7]
            )
            let wire = try RequestFreezer.freeze(request, defaults: world().session.headers)
            let part = EarlierPart(record: record, data: record.encoded(), rest: .success(wire), restRequest: request)
            var resumption = DownloadResumption(after: .part(part))
            #expect(resumption.ground?.point.offset == 3)

            let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 9, textEncodingName: nil)
            let question = DownloadQuestion(request: request, scope: nil, asksForPart: true)
            #expect(try resumption.judge(response, to: question) == .whole)

            #expect(resumption.ground == nil && !resumption.mayStartOver)
        }

        @Test func `a data task that becomes a download refuses a part, and drops what had come of it`() {
            let part = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/9\r\nContent-Length: 4\r\n\r\nall "
            let world = world([.expectRequest, .reply(part), .again])
            let log = DownloadLog(disposition: .becomeDownload)
            let (session, _) = world.makeSession(delegate: log, settings)

            session.dataTask(with: url).resume()
            world.run { log.steps.last == .completed(-1017) }

            #expect(log.steps == [.response(206), .became, .metrics, .completed(-1017)])
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        /// A request whose head is as long as a head may be.
        private func longestRequest(in session: URLSession) -> URLRequest {
            var request = URLRequest(url: url)
            var counts = 200_000..<RequestSyntax.maximumHeadLength
            while counts.count > 1 {
                let middle = counts.lowerBound + counts.count / 2
                request.setValue(String(repeating: "x", count: middle), forHTTPHeaderField: "X-Longer")
                let fits = (try? RequestFreezer.freeze(request, defaults: session.headers)) != nil
                counts = fits ? middle..<counts.upperBound : counts.lowerBound..<middle
            }
            request.setValue(String(repeating: "x", count: counts.lowerBound), forHTTPHeaderField: "X-Longer")
            return request
        }

        @Test func `T-FIL-10 a whole is not written behind a part whose rest cannot be asked for`() throws {
            let request = ServerStep.expectBytes(RequestSyntax.maximumHeadLength)
            let scripts = ["all", "all of it"].map { [request, .reply(Self.head + $0), .close] }
            let world = world(scripts[0], scripts[1]) {
                $0.httpAdditionalHeaders = ["X-Long": String(repeating: "x", count: 2000)]
            }
            let longest = longestRequest(in: world.session)
            world.session.downloadTask(with: longest, completionHandler: outcomes.handler).resume()
            let data = try #require(run(world, untilOutcome: 1)?.resumeData)
            let rest = try ResumeRecord(data).restRequest(of: longest)
            #expect(throws: RequestRejection.self) {
                try RequestFreezer.freeze(rest, defaults: world.session.headers)
            }

            world.session.downloadTask(withResumeData: data, completionHandler: outcomes.handler).resume()

            #expect(run(world, untilOutcome: 2)?.contents == Data("all of it".utf8))
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }
    }
}

extension LoopbackTests.Alone {
    @Test func `T-FIL-16 a part that is exchanged while it is looked at is not gone on with`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let server = try TestServer()
            let body = pattern(200)
            let isFirst = Lock(true)
            server.route("GET", "/file") { request in
                let reply = ServerReply.file(body, entityTag: "\"1\"", to: request)
                return isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst ? reply.closing(after: 100) : reply
                }
            }
            let session = URLSession.downloading(to: folder)
            let data = try #require(try await session.download(server.url("/file")).resumeData)
            let part = try #require(folder.leftovers.first)
            // Its other name leads to another file.
            let taken = part.replacing(".partial", with: ".download")
            try Data("another".utf8).write(to: folder.downloads.appendingPathComponent(taken))
            FaultInjector.plan(.answers(0), of: CAF_CALL_RENAME, 1)

            let outcome = try await session.goingOn(with: data)

            #expect(FaultInjector.hasFired)
            #expect(outcome.contents == body && outcome.error == nil)
            #expect(server.requests.map { $0.headers["Range"] } == [nil, nil])
            FaultInjector.stop()
        }
    }

    @Test func `T-FIL-03 a disk that is full while the peer waits for it keeps what it had written`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let world = VirtualWorld()
            world.configure { $0.temporaryFolder = folder.url }
            let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 8000000\r\n\r\n"
            world.script("api.test", .expectRequest, .reply(head), .fill(8_000_000), .again)
            world.workers.take(.seconds(1))
            FaultInjector.plan(.fails(ENOSPC), of: CAF_CALL_PWRITE, 2)
            let outcomes = DownloadOutcomes()
            let url = try #require(URL(string: "http://api.test/"))
            let task = world.session.downloadTask(with: url, completionHandler: outcomes.handler)
            task.resume()
            world.advance(by: .milliseconds(900))
            #expect((DownloadConsumer.highWater...4 << 20).contains(Int(task.countOfBytesReceived)))

            world.run { outcomes.all.value.count == 1 }

            let outcome = try #require(outcomes.all.value.first)
            #expect(FaultInjector.hasFired && outcome.code == -3003 && outcome.error?.loadFailure?.errno == ENOSPC)
            #expect(try ResumeRecord(#require(outcome.resumeData)).point.offset == 1 << 20)
            #expect(world.finish() == [])
            #expect(folder.leftovers.count == 1)
        }
    }
}
