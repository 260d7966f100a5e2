extension DownloadTests {
    struct Plain {
        let folder: ScratchFolder
        let server: TestServer

        init() throws {
            folder = try ScratchFolder()
            server = try TestServer()
        }

        @Test(arguments: [0, 1, 100_000, 1 << 20, 5_000_000])
        func `a download has every byte, and is removed when its handler returns`(count: Int) async throws {
            let body = pattern(count)
            server.route("GET", "/file", .data(body))
            let session = URLSession.downloading(to: folder)

            let outcome = try await session.download(server.url("/file"))

            #expect(outcome.contents == body)
            #expect(outcome.status == 200 && outcome.error == nil)
            try await folder.isEmptyAtLast()
        }

        @Test(arguments: [1, 1000, 200_000, 300_000])
        func `pieces of any size become one file, T-FIL-04`(chunk: Int) async throws {
            let body = pattern(3_000_001)
            server.route("GET", "/file", .data(body).chunked(chunk == 1 ? 4000 : chunk))
            let session = URLSession.downloading(to: folder)

            let outcome = try await session.download(server.url("/file"))

            #expect(outcome.contents == body)
            try await folder.isEmptyAtLast()
        }

        @Test func `a delegate hears of progress, the file, metrics and the end, T-FIL-06`() async throws {
            let body = pattern(4_000_000)
            server.route("GET", "/file", .data(body))
            let log = DownloadLog()
            let session = URLSession.downloading(to: folder, delegate: log)

            let task = session.downloadTask(with: server.url("/file"))
            task.resume()
            try await log.finished()

            #expect(log.steps == [.file(body.count), .metrics, .completed(nil)])
            #expect(log.progress.last == .wrote(4_000_000, of: 4_000_000))
            #expect(log.contents.withLock { $0 } == body)
            #expect(log.permissions.withLock { $0 } == 0o600)
            #expect(task.countOfBytesReceived == 4_000_000 && task.state == .completed)
            try await folder.isEmptyAtLast()
        }

        @Test(arguments: [false, true])
        func `a part is a file if it was asked for, by the request or by an adapter`(byAdapter: Bool) async throws {
            let body = pattern(200)
            server.route("GET", "/file") { .file(body, entityTag: "\"1\"", to: $0) }
            server.route("GET", "/deaf", ServerReply.data(body).header("ETag", "\"1\"").closing(after: 50))
            let session = URLSession.downloading(to: folder) {
                if byAdapter {
                    $0.requestInterceptors = [
                        AdaptingInterceptor { request, _ in
                            var request = request
                            request.setValue("bytes=0-9", forHTTPHeaderField: "Range")
                            return request
                        }
                    ]
                } else {
                    $0.httpAdditionalHeaders = ["Range": "bytes=0-9"]
                }
            }

            let outcome = try await session.download(server.url("/file"))

            #expect(outcome.contents == body.prefix(10) && outcome.status == 206, "\(outcome)")
            // A rest of it would be asked for with that range.
            let cut = try await session.download(server.url("/deaf"))
            #expect(cut.code == -1005 && cut.resumeData == nil)
            try await folder.isEmptyAtLast()
        }

        @Test func `a slow download reports its progress all the same`() async throws {
            server.route("GET", "/file", .text("0123456789").dribbling(1, every: .milliseconds(1)).stalling(after: 5))
            let log = DownloadLog()
            let session = URLSession.downloading(to: folder, delegate: log)

            let task = session.downloadTask(with: server.url("/file"))
            task.resume()
            try await log.events.wait("five bytes") { $0.contains(.wrote(5, of: 10)) }
            task.cancel()

            try await log.finished()
            #expect(log.steps == [.metrics, .completed(-999)])
            try await folder.isEmptyAtLast()
        }

        @Test func `a file that was moved stays`() async throws {
            server.route("GET", "/file", .text("to keep"))
            let session = URLSession.downloading(to: folder)
            let target = folder.file("kept")
            let isDone = Watched(false)

            let task = session.downloadTask(with: server.url("/file")) { url, _, _ in
                if let url { try? FileManager.default.moveItem(at: url, to: target) }
                isDone.change { $0 = true }
            }
            task.resume()
            try await isDone.wait { $0 }

            try await folder.isEmptyAtLast()
            #expect(try Data(contentsOf: target) == Data("to keep".utf8))
        }

        @Test func `another file that took its name is not removed, T-FIL-09`() async throws {
            server.route("GET", "/file", .text("content"))
            let session = URLSession.downloading(to: folder)
            let isDone = Watched<URL?>(nil)

            let task = session.downloadTask(with: server.url("/file")) { url, _, _ in
                guard let url else { return }
                try? FileManager.default.moveItem(at: url, to: url.appendingPathExtension("moved"))
                try? Data("another".utf8).write(to: url)
                isDone.change { $0 = url }
            }
            task.resume()
            let url = try #require(try await isDone.wait { $0 != nil })
            _ = try await session.download(server.url("/file"))

            #expect(try Data(contentsOf: url) == Data("another".utf8))
        }

        @Test func `the body of an error is a file too`() async throws {
            server.route("GET", "/file", .text("not here").status(404))
            let session = URLSession.downloading(to: folder)

            let outcome = try await session.download(server.url("/file"))

            #expect(outcome.status == 404 && outcome.contents == Data("not here".utf8))
        }

        @Test(arguments: [206, 416])
        func `a part that the request did not ask for is refused, T-MSG-19`(status: Int) async throws {
            server.route("GET", "/file", .text("part").status(status).header("Content-Range", "bytes 5-8/20"))
            let session = URLSession.downloading(to: folder)

            let outcome = try await session.download(server.url("/file"))

            #expect(outcome.code == -1017 && outcome.url == nil)
            try await folder.isEmptyAtLast()
        }

        @Test func `the file of a session without a delegate is removed`() async throws {
            server.route("GET", "/file", .data(pattern(2_000_000)))
            let session = URLSession.downloading(to: folder)

            let task = session.downloadTask(with: server.url("/file"))
            task.resume()

            try await eventually { task.state == .completed }
            #expect(task.error == nil)
            try await folder.isEmptyAtLast()
        }
    }
}
