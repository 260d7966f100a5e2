extension DownloadTests {
    /// What a cache has of downloads.
    struct Stored {
        private let folder: ScratchFolder
        private let server: TestServer
        private let cache: URLCache

        init() throws {
            folder = try ScratchFolder()
            server = try TestServer()
            cache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 4 << 20, directory: folder.file("cache"))
        }

        private func session(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
            URLSession.downloading(to: folder, delegate: delegate) { $0.urlCache = cache }
        }

        private func serve(_ path: String, _ fields: (String, String)...) -> URL {
            let reply = fields.reduce(ServerReply.text("a file")) { $0.header($1.0, $1.1) }
            server.route("GET", path, reply)
            return server.url(path)
        }

        private func stored(_ url: URL) -> String? {
            cache.cachedResponse(for: URLRequest(url: url)).map { String(decoding: $0.data, as: UTF8.self) }
        }

        /// The ways to load a file.
        enum Way: CaseIterable {
            case handler, delegate, awaited, becoming
        }

        @Test(arguments: Way.allCases)
        func `a download is in its file, and not in the cache as well`(way: Way) async throws {
            let url = serve("/file", ("Cache-Control", "max-age=600"))
            let log = DownloadLog(disposition: way == .becoming ? .becomeDownload : .allow)
            let session = session(way == .delegate || way == .becoming ? log : nil)

            switch way {
            case .handler: #expect(try await session.download(url).contents == Data("a file".utf8))
            case .awaited:
                let (file, _) = try await session.download(from: url)
                #expect(try Data(contentsOf: file) == Data("a file".utf8))
            case .delegate:
                session.downloadTask(with: url).resume()
                try await log.finished()
            case .becoming:
                session.dataTask(with: url).resume()
                try await log.finished()
            }

            #expect(stored(url) == nil && cache.currentMemoryUsage == 0 && cache.currentDiskUsage == 0)
            #expect(try await session.outcome(of: url).text == "a file")
            #expect(server.requests.count == 2)
            #expect(stored(url) == "a file")
        }

        @Test func `a download that is resumed leaves nothing in the cache`() async throws {
            let body = pattern(3000)
            let isFirst = Watched(true)
            server.route("GET", "/file") { request in
                let reply = ServerReply.file(body, entityTag: "\"1\"", to: request).header(
                    "Cache-Control",
                    "max-age=600"
                )
                let isCut = isFirst.change { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                return isCut ? reply.closing(after: 1000) : reply
            }
            let session = session()

            let cut = try await session.download(server.url("/file"))
            let whole = try await session.goingOn(with: try #require(cut.resumeData))

            #expect(whole.contents == body)
            #expect(cache.currentMemoryUsage == 0 && cache.currentDiskUsage == 0)
        }

        @Test func `a download that a class of the program loads leaves nothing in the cache`() async throws {
            let site = StubSite { stub in
                stub.begin(stub.response(200, ["Cache-Control": "max-age=600"]), .allowed)
                stub.load("a file")
                stub.finish()
            }
            let session = StubSite.session { [cache, folder] in
                $0.urlCache = cache
                $0.temporaryFolder = folder.url
            }

            #expect(try await session.download(site.url()).contents == Data("a file".utf8))
            await session.settled()
            #expect(stored(site.url()) == nil)
        }

        @Test func `a download may be answered from the cache`() async throws {
            let url = serve("/file", ("Cache-Control", "max-age=600"))
            let session = session()
            #expect(try await session.outcome(of: url).text == "a file")

            #expect(try await session.download(url).contents == Data("a file".utf8))

            #expect(server.requests.count == 1)
            #expect(stored(url) == "a file")
        }

        @Test func `a download that its server confirms is made from the cache, which goes on with it`() async throws {
            server.route("GET", "/file") { request in
                guard request.headers["If-None-Match"] == nil else {
                    return ServerReply.status(304).header("ETag", "\"1\"").header("Cache-Control", "max-age=600")
                }
                return ServerReply.text("a file").header("ETag", "\"1\"").header("Cache-Control", "no-cache")
            }
            let session = session()
            #expect(try await session.outcome(of: server.url("/file")).text == "a file")

            #expect(try await session.download(server.url("/file")).contents == Data("a file".utf8))

            #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\""])
            #expect(stored(server.url("/file")) == "a file")
        }

        @Test func `T-CAC-11 a download of another version removes the former one`() async throws {
            server.route("GET", "/file", ServerReply.text("former").header("ETag", "\"1\""))
            let session = session()
            #expect(try await session.outcome(of: server.url("/file")).text == "former")
            server.route("GET", "/file", ServerReply.text("latter").header("ETag", "\"2\""))

            #expect(try await session.download(server.url("/file")).contents == Data("latter".utf8))

            #expect(stored(server.url("/file")) == nil)
        }

        @Test func `a delegate is not asked what to store of a download`() async throws {
            let url = serve("/file", ("Cache-Control", "max-age=600"))
            let delegate = AskedAboutDownloads()
            let session = session(delegate)

            session.dataTask(with: url).resume()
            try await delegate.log.finished()

            #expect(delegate.asked.value == 0 && delegate.log.contents.withLock { $0 } == Data("a file".utf8))
        }
    }
}

/// Turns data tasks into downloads, and counts what it is asked.
private final class AskedAboutDownloads: URLSessionDownloadDelegate, URLSessionDataDelegate {
    let asked = Watched(0)
    let log = DownloadLog()

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.becomeDownload)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        asked.change { $0 += 1 }
        completionHandler(proposedResponse)
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        log.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.urlSession(session, task: task, didCompleteWithError: error)
    }
}
