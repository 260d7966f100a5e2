extension DownloadTests {
    struct Becoming {
        let folder: ScratchFolder
        let server: TestServer

        init() throws {
            folder = try ScratchFolder()
            server = try TestServer()
        }

        @Test(arguments: [0, 5, 300_000, 5_000_000])
        func `a data task becomes a download, and loses no byte`(count: Int) async throws {
            let body = pattern(count)
            server.route("GET", "/file", .data(body))
            let log = DownloadLog(disposition: .becomeDownload)
            let session = URLSession.downloading(to: folder, delegate: log)

            let task = session.dataTask(with: server.url("/file"))
            task.resume()
            try await log.finished()

            #expect(log.steps == [.response(200), .became, .file(count), .metrics, .completed(nil)])
            #expect(log.contents.withLock { $0 } == body)
            #expect(task.state == .completed && task.error == nil)
            try await folder.isEmptyAtLast()
        }

        @Test func `bytes that had arrived before the delegate answered are in the file`() async throws {
            let body = pattern(90_000)
            server.route("GET", "/file", .data(body))
            let waiter = SlowAnswer()
            let session = URLSession.downloading(to: folder, delegate: waiter)

            let task = session.dataTask(with: server.url("/file"))
            task.resume()
            try await eventually { task.countOfBytesReceived > 0 && waiter.answer.value != nil }
            waiter.answer.value?(.becomeDownload)
            try await waiter.log.finished()

            #expect(waiter.log.contents.withLock { $0 } == body)
            #expect(waiter.log.steps == [.became, .file(90_000), .metrics, .completed(nil)])
        }

        @Test func `the new task is the one to cancel, and to resume later`() async throws {
            let body = pattern(2_000_000)
            let isFirst = Lock(true)
            server.route("GET", "/file") { request in
                let reply = ServerReply.file(body, entityTag: "\"one\"", to: request)
                return isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst ? reply.stalling(after: 1_200_000) : reply
                }
            }
            let became = Watched<URLSessionDownloadTask?>(nil)
            let log = DownloadLog(disposition: .becomeDownload) { event, task in
                if event == .became { became.change { $0 = task as? URLSessionDownloadTask } }
            }
            let session = URLSession.downloading(to: folder, delegate: log)
            session.dataTask(with: server.url("/file")).resume()
            let download = try #require(try await became.wait { $0 != nil })
            try await eventually { download.countOfBytesReceived == 1_200_000 }

            let (data, uploads, downloads) = await session.tasks
            #expect(data.isEmpty && uploads.isEmpty && downloads == [download])
            let resumeData = try #require(await download.cancelByProducingResumeData())

            let (file, _) = try await session.download(resumeFrom: resumeData)
            #expect(try Data(contentsOf: file) == body)
            #expect(download.taskIdentifier == 2)
        }
    }
}

private final class SlowAnswer: URLSessionDownloadDelegate, URLSessionDataDelegate {
    let answer = Watched<(@Sendable (URLSession.ResponseDisposition) -> Void)?>(nil)
    let log = DownloadLog()

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        answer.change { $0 = completionHandler }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didBecome task: URLSessionDownloadTask) {
        log.urlSession(session, dataTask: dataTask, didBecome: task)
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        log.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        log.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.urlSession(session, task: task, didCompleteWithError: error)
    }
}
