import AFTLS

@testable import AFURLSession

extension PartsTests {
    /// Downloads in parts from a server on the loopback interface.
    struct Loading {
        private let server: PartsServer

        init() throws {
            server = try PartsServer()
        }

        @Test func `a file is loaded in parts, each once, with a validator`() async throws {
            let progress = Progress(totalUnitCount: 0)
            let response = try await server.load(4, progress: progress)
            #expect(try server.isThere())
            #expect((response as? HTTPURLResponse)?.statusCode == 200 && response.expectedContentLength == 6_000_000)
            #expect(progress.totalUnitCount == 6_000_000 && progress.completedUnitCount == 6_000_000)
            #expect(server.ranges.first == "whole")
            let others = server.server.requests.dropFirst()
            #expect(others.allSatisfy { $0.headers["If-Range"] == "\"one\"" })
            #expect(
                Set(server.ranges.dropFirst()).isSuperset(
                    of: ["bytes=1499136-2998271", "bytes=2998272-4497407", "bytes=4497408-5999999"]
                )
            )
            #expect(server.server.requests.allSatisfy { $0.headers["Accept-Encoding"] == "identity" })
        }

        @Test func `there are no more connections than the host may have`() async throws {
            let session = URLSession.loopback { $0.httpMaximumConnectionsPerHost = 2 }
            let (most, service) = (Lock(0), server.server)
            server.serve { _, reply in
                most.withLock { $0 = max($0, service.openConnections) }
                return reply.pacing(every: .milliseconds(1))
            }
            try await server.load(8, in: session)
            #expect(try server.isThere())
            // One more while the server has not seen that the client has closed another.
            #expect(most.withLock { $0 } <= 3)
        }

        @Test(arguments: [1, 0, -3])
        func `one part is one request`(count: Int) async throws {
            try await server.load(DownloadParts(count))
            #expect(try server.isThere() && server.ranges == ["whole"])
        }

        @Test func `a small file is one request`() async throws {
            let server = try PartsServer(pattern(1_000_000))
            try await server.load(8)
            #expect(try server.isThere() && server.ranges == ["whole"])
        }

        @Test func `the part of a slow connection is split again, and the fast ones take it over`() async throws {
            // The first connection is slow: the others load what is left of its part.
            server.serve { number, reply in number == 1 ? reply.dribbling(4096, every: .milliseconds(20)) : reply }
            var parts = DownloadParts(3)
            parts.smallestSize = 65_536
            try await server.load(parts)
            #expect(try server.isThere())
            #expect(server.ranges.count > 4)
        }

        // MARK: - Servers that do not play

        @Test func `a server that knows no ranges sends the whole once`() async throws {
            let body = server.body
            server.server.route("GET", "/file") { _ in
                ServerReply.data(body).header("ETag", "\"one\"").pacing(every: .milliseconds(1))
            }
            try await server.load(4)
            #expect(try server.isThere())
        }

        @Test(arguments: [("ETag", "W/\"one\""), ("X", "no validator"), ("Accept-Ranges", "none")])
        func `a file that cannot be told from another is loaded by one request`(name: String, value: String)
            async throws
        {
            let body = server.body
            server.server.route("GET", "/file") { _ in
                let reply = ServerReply.data(body).header(name, value)
                return name == "Accept-Ranges" ? reply.header("ETag", "\"one\"") : reply
            }
            try await server.load(4)
            #expect(try server.isThere() && server.ranges == ["whole"])
        }

        @Test func `a file whose length is not said is loaded by one request`() async throws {
            server.serve { $1.chunked(10_000) }
            try await server.load(4)
            #expect(try server.isThere() && server.ranges == ["whole"])
        }

        @Test(arguments: [503, 429, 403])
        func `T-PAR-07 a server that refuses a second connection gets no more of them`(status: Int) async throws {
            server.serve { number, reply in
                number == 2 || number == 3 ? .status(status) : reply.pacing(every: .milliseconds(2))
            }
            try await server.load(4)
            #expect(try server.isThere())
            #expect(server.ranges.count <= 6)
        }

        @Test func `a connection that breaks off costs what had not arrived`() async throws {
            server.serve { number, reply in number == 2 ? reply.resetting(after: 500_000) : reply }
            try await server.load(3)
            #expect(try server.isThere())
            #expect(server.ranges.count == 4)
        }

        @Test func `a server that sends fewer bytes than asked for is asked again`() async throws {
            let body = server.body
            server.server.route("GET", "/file") { request in
                guard let range = request.headers["Range"] else {
                    return .file(body, entityTag: "\"one\"", to: request)
                }
                let bounds = range.dropFirst(6).split(separator: "-").compactMap { Int($0) }
                let end = min(bounds[1], bounds[0] + 499_999)
                return ServerReply.data(body[bounds[0]...end]).status(206).header("ETag", "\"one\"")
                    .header("Content-Range", "bytes \(bounds[0])-\(end)/\(body.count)")
            }
            try await server.load(2)
            #expect(try server.isThere())
            #expect(server.ranges.count > 3)
        }

        @Test(arguments: [404, 500, 301])
        func `a status that is no success is an error, and nothing is left`(status: Int) async throws {
            server.serve { _, _ in ServerReply.text("no such file").status(status) }
            let error = await #expect(throws: URLError.self) { try await self.server.load(4) }
            #expect(error?.code == .badServerResponse)
            #expect(
                error?.refusedResponse?.response.statusCode == status && error?.refusedResponse?.text == "no such file"
            )
            #expect(server.names == [] && server.ranges == ["whole"])
        }

        @Test func `a part that no request asked for is an error`() async throws {
            let body = server.body
            server.server.route("GET", "/file") { _ in
                ServerReply.data(body.prefix(10)).status(206).header("Content-Range", "bytes 0-9/6000000")
            }
            await #expect(throws: URLError.self) { try await self.server.load(4) }
            #expect(server.names == [])
        }

        @Test func `a server that cannot be reached is an error at once`() async throws {
            let session = URLSession.loopback()
            let nowhere = try #require(URL(string: "http://127.0.0.1:1/file"))
            let error = await #expect(throws: URLError.self) {
                try await session.download(from: nowhere, to: self.server.file, inParts: 4)
            }
            #expect(error?.code == .cannotConnectToHost && server.names == [])
        }

        // MARK: - Files that change

        @Test func `T-PAR-01 a file that changes meanwhile is loaded anew, and never mixed`() async throws {
            let other = Data(server.body.reversed())
            let (content, tag) = (server.content, server.tag)
            server.serve { number, reply in
                if number == 1 {
                    content.withLock { $0 = other }
                    tag.withLock { $0 = "\"two\"" }
                }
                return reply.pacing(every: .milliseconds(1))
            }
            try await server.load(3)
            #expect(try server.isThere(other))
        }

        @Test func `a file that changes each time is loaded by one request`() async throws {
            let tag = server.tag
            server.serve { number, reply in
                tag.withLock { $0 = "\"\(number)\"" }
                return reply.pacing(every: .milliseconds(1))
            }
            try await server.load(3)
            #expect(try server.isThere() && server.ranges.count <= 9)
        }

        @Test func `a file that changes each time, on connections that break off, is given up`() async throws {
            let tag = server.tag
            server.serve { number, reply in
                tag.withLock { $0 = "\"\(number)\"" }
                return reply.resetting(after: 300_000)
            }
            let error = await #expect(throws: URLError.self) { try await self.server.load(3) }
            #expect(error?.loadFailure?.message.contains("another file each of 4 times") == true, "\(error as Any)")
        }

        @Test func `T-PAR-03 a server whose ranges are always wrong is asked for the whole`() async throws {
            let body = server.body
            server.server.route("GET", "/file") { request in
                let reply = ServerReply.file(body, entityTag: "\"one\"", to: request)
                return request.headers["Range"] == nil ? reply : reply.header("Content-Range", "bytes 5-9/6000000")
            }
            try await server.load(3)
            #expect(try server.isThere())
        }

        @Test(arguments: ["bytes 0-9/6000000", "bytes 1499136-2998271/6000001", "bytes */6000000", "items 1-2/3"])
        func `T-PAR-03 a part with the wrong place is not written`(range: String) async throws {
            let body = server.body
            let isFirst = Lock(true)
            server.server.route("GET", "/file") { request in
                let isWrong =
                    request.headers["Range"] != nil
                    && isFirst.withLock { first in
                        defer { first = false }
                        return first
                    }
                let reply = ServerReply.file(body, entityTag: "\"one\"", to: request)
                return isWrong ? reply.header("Content-Range", range) : reply
            }
            try await server.load(4)
            #expect(try server.isThere())
        }

        // MARK: - Going on

        private func brokenOff() async throws {
            server.serve { number, reply in number <= 3 ? reply.resetting(after: 700_000) : .status(503) }
            await #expect(throws: URLError.self) { try await self.server.load(3) }
            #expect(server.names.contains("file.parts"))
        }

        @Test func `a download goes on where another ended`() async throws {
            try await brokenOff()
            let before = server.ranges.count
            server.serve { $1 }
            let progress = Progress(totalUnitCount: 0)
            try await server.load(3, progress: progress)
            #expect(try server.isThere())
            let asked = server.server.requests.dropFirst(before)
            #expect(asked.allSatisfy { $0.headers["Range"] != nil && $0.headers["If-Range"] == "\"one\"" })
        }

        @Test func `a download of another URL, or of another file there, begins anew`() async throws {
            try await brokenOff()
            let other = Data(server.body.reversed())
            server.content.withLock { $0 = other }
            server.tag.withLock { $0 = "\"two\"" }
            server.serve { $1 }
            try await server.load(3)
            #expect(try server.isThere(other))

            try await brokenOff()
            server.server.route("GET", "/else") { .file(other, entityTag: "\"one\"", to: $0) }
            try await URLSession.loopback().download(from: server.server.url("/else"), to: server.file, inParts: 3)
            #expect(try server.isThere(other))
        }

        /// Writes down what is missing as a process leaves it that was killed.
        private func rewrite(boot: [UInt8]?, _ change: (inout PartsRecord) -> Void = { _ in }) throws {
            let content = try Data(contentsOf: server.partial)
            #expect(content.count == 6_000_000 + 2 * PartsRecord.slotSize)
            var (record, number) = try #require(PartsRecord.latest(in: Array(content.dropFirst(6_000_000))))
            #expect(record.boot == nil)
            record.boot = boot
            change(&record)
            let bytes = try #require(record.encoded(number: number + 1))
            let file = try FileHandle(forWritingTo: server.partial)
            try file.seek(toOffset: 6_000_000 + (number + 1) % 2 * UInt64(PartsRecord.slotSize))
            try file.write(contentsOf: bytes)
            try file.close()
        }

        @Test(arguments: [true, false])
        func `T-PAR-05 what a killed process left is worth something until the next start of the system`(isSame: Bool)
            async throws
        {
            try await brokenOff()
            let boot = try Data(contentsOf: URL(fileURLWithPath: "/proc/sys/kernel/random/boot_id")).prefix(36)
            try rewrite(boot: isSame ? Array(boot) : [1, 2, 3])
            let before = server.ranges.count
            server.serve { $1 }
            try await server.load(3)
            #expect(try server.isThere())
            #expect(server.ranges.dropFirst(before).contains("whole") == !isSame)
        }

        @Test func `T-PAR-02 bytes that came under another judgement are not gone on with`() async throws {
            try await brokenOff()
            try rewrite(boot: nil) { $0.scope = [UInt8](repeating: 7, count: 16) }
            let before = server.ranges.count
            server.serve { $1 }
            try await server.load(3)
            #expect(try server.isThere())
            #expect(server.ranges.dropFirst(before).contains("whole"))
        }

        @Test func `a download that was cancelled before it began leaves what another has left`() async throws {
            try await brokenOff()
            let elsewhere = server.server.url("/elsewhere")
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await URLSession.loopback().download(from: elsewhere, to: server.file, inParts: 3)
            }
            let error = await #expect(throws: URLError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            let before = server.ranges.count
            server.serve { $1 }
            try await server.load(3)
            #expect(try server.isThere() && !server.ranges.dropFirst(before).contains("whole"))
        }

        @Test func `a file whose parts are all there only gets its name`() async throws {
            try await brokenOff()
            try rewrite(boot: nil) { $0.missing = [] }
            let content = try FileHandle(forWritingTo: server.partial)
            try content.write(contentsOf: server.body)
            try content.close()
            let before = server.ranges.count
            let response = try await server.load(3)
            #expect(try server.isThere() && server.ranges.count == before)
            #expect(response.expectedContentLength == 6_000_000)
        }

        @Test func `T-PAR-04 a file that is in the way is not touched`() async throws {
            try server.folder.write("file.parts", pattern(100_000))
            let error = await #expect(throws: URLError.self) { try await self.server.load(3) }
            #expect(error?.code == .cannotCreateFile)
            #expect(error?.loadFailure?.message.contains("no download has made it") == true)
            #expect(try Data(contentsOf: server.partial) == pattern(100_000) && server.ranges == [])
        }

        @Test func `T-PAR-04 a link in the way is not followed`() async throws {
            try server.folder.write("precious", pattern(100))
            try FileManager.default.createSymbolicLink(
                at: server.partial,
                withDestinationURL: server.folder.file("precious")
            )
            await #expect(throws: URLError.self) { try await self.server.load(3) }
            #expect(try Data(contentsOf: server.folder.file("precious")) == pattern(100))
        }

        @Test func `T-PAR-04 two downloads do not write one file`() async throws {
            server.serve { number, reply in number <= 2 ? reply.stalling(after: 400_000) : reply }
            let session = URLSession.loopback()
            let first = Task { try await server.load(2, in: session) }
            try await eventually { self.server.names == ["file.parts"] }
            let error = await #expect(throws: URLError.self) { try await self.server.load(2, in: session) }
            #expect(error?.loadFailure?.message.contains("another one writes") == true)
            first.cancel()
            await #expect(throws: URLError.self) { try await first.value }
            try await server.load(2, in: session)
            #expect(try server.isThere())
        }

        @Test func `a file that is there is replaced when the new one is complete`() async throws {
            try server.folder.write("file", pattern(10))
            try await server.load(3)
            #expect(try server.isThere())
        }

        // MARK: - Digests

        @Test func `T-PAR-08 the digest that the program expects is compared with the file`() async throws {
            let right = try #require(FileDigest(SHA256Digest.of(Array(server.body))))
            try await server.load(DownloadParts(3, digest: right))
            #expect(try server.isThere())
            let wrong = try #require(FileDigest(hexadecimal: String(repeating: "ab", count: 32)))
            let error = await #expect(throws: URLError.self) {
                try await self.server.load(DownloadParts(3, digest: wrong))
            }
            #expect(error?.loadFailure?.detail == .digest)
            #expect(error?.loadFailure?.message.contains(right.hexadecimal) == true)
            // The file that was there stays.
            #expect(try server.isThere())
        }

        @Test(arguments: [true, false])
        func `T-PAR-08 the digest that the server announces is compared with the file`(isRight: Bool) async throws {
            let bytes = SHA256Digest.of(Array(isRight ? server.body : pattern(3)))
            let field = "md5=:AAAA:, sha-256=:\(Data(bytes).base64EncodedString()):"
            server.serve { $1.header("Repr-Digest", field) }
            if isRight {
                try await server.load(3)
                #expect(try server.isThere())
            } else {
                await #expect(throws: URLError.self) { try await self.server.load(3) }
                #expect(server.names == [])
            }
        }

        // MARK: - The caller

        @Test func `cancelling the task leaves the parts`() async throws {
            server.serve { $1.stalling(after: 500_000) }
            let progress = Progress(totalUnitCount: 0)
            let task = Task { try await server.load(3, progress: progress) }
            try await eventually { progress.completedUnitCount > 0 }
            task.cancel()
            let error = await #expect(throws: URLError.self) { try await task.value }
            #expect(error?.code == .cancelled && server.names == ["file.parts"])
            server.serve { $1 }
            try await server.load(3)
            #expect(try server.isThere())
        }

        @Test func `cancelling before the first response leaves nothing`() async throws {
            server.serve { $1.held(until: "never") }
            let task = Task { try await server.load(3) }
            try await eventually { self.server.ranges.count == 1 }
            task.cancel()
            await #expect(throws: URLError.self) { try await task.value }
            #expect(server.names == [])
        }

        @Test func `cancelling the progress cancels, and pausing it suspends`() async throws {
            server.serve { $1.dribbling(20_000, every: .milliseconds(50)) }
            let progress = Progress(totalUnitCount: 0)
            let task = Task { try await server.load(3, progress: progress) }
            try await eventually { progress.completedUnitCount > 0 }
            progress.pause()
            try await Task.sleep(for: .milliseconds(300))
            let before = progress.completedUnitCount
            try await Task.sleep(for: .milliseconds(700))
            #expect(progress.completedUnitCount == before)
            progress.resume()
            try await eventually { progress.completedUnitCount > before }
            progress.cancel()
            let error = await #expect(throws: URLError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }

        @Test func `a progress that the program keeps holds nothing of a download that is over`() async throws {
            let progress = Progress(totalUnitCount: 0)
            weak var session: URLSession?
            try await {
                let made = URLSession.loopback()
                session = made
                try await server.load(3, in: made, progress: progress)
            }()
            try await eventually { session == nil }
            #expect(progress.isFinished)
        }

        @Test func `the time for the whole is that of the request`() async throws {
            server.serve { $1.dribbling(1000, every: .milliseconds(20)) }
            var request = URLRequest(url: server.url)
            request.timeoutIntervalForResource = 1
            let question = request
            let error = await #expect(throws: URLError.self) {
                try await URLSession.loopback().download(for: question, to: self.server.file, inParts: 3)
            }
            #expect(error?.code == .timedOut)
        }

        @Test func `a session that is invalidated cancels the download`() async throws {
            server.serve { $1.stalling(after: 500_000) }
            let session = URLSession.loopback()
            let progress = Progress(totalUnitCount: 0)
            let task = Task { try await server.load(3, in: session, progress: progress) }
            try await eventually { progress.completedUnitCount > 0 }
            session.invalidateAndCancel()
            let error = await #expect(throws: URLError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }

        @Test func `a session that ends when its tasks do lets the download end`() async throws {
            server.serve { $1.pacing(every: .milliseconds(1)) }
            let session = URLSession.loopback()
            let progress = Progress(totalUnitCount: 0)
            let task = Task { try await server.load(3, in: session, progress: progress) }
            try await eventually { progress.completedUnitCount > 0 }
            session.finishTasksAndInvalidate()
            _ = try await task.value
            #expect(try server.isThere())
        }

        @Test func `a place that is no file, or in no folder, is an error`() async throws {
            let session = URLSession.loopback()
            let web = await #expect(throws: URLError.self) {
                try await session.download(from: self.server.url, to: self.server.url, inParts: 2)
            }
            #expect(web?.code == .cannotOpenFile)
            let missing = server.folder.file("missing").appendingPathComponent("file")
            let error = await #expect(throws: URLError.self) {
                try await session.download(from: self.server.url, to: missing, inParts: 2)
            }
            #expect(error?.code == .cannotCreateFile && server.ranges == [])
            #expect(error?.loadFailure?.advice?.contains("temporaryFolder") == false)
        }
    }
}
