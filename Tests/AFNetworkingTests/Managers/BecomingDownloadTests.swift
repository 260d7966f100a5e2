import AFBase

@testable import AFNetworking

/// Data tasks of managers that become downloads.
@Suite struct BecomingDownloadTests {
    private let site: ManagerSite
    private let manager: HTTPSessionManager
    private let heard = Heard<Answer>()
    private let downloads = Heard<URLSessionDownloadTask>()

    init() throws {
        site = try ManagerSite()
        manager = site.manager
        site.server.route("GET", "/stalled", ServerReply.text("too slow").stalling(after: 3))
        manager.setDataTaskDidReceiveResponseBlock { _, _, _ in .becomeDownload }
        manager.setDataTaskDidBecomeDownloadTaskBlock { [downloads] in downloads.add($2) }
    }

    /// Starts a task, and keeps no reference.
    private func begin(_ path: String) {
        _ = manager.get(path, parameters: nil, success: heard.success, failure: heard.failure)
    }

    /// Returns when the delegate's queue has run all enqueued blocks.
    private func settled() async throws {
        let isDone = Heard<Bool>()
        manager.operationQueue.addOperation { isDone.add(true) }
        try await isDone.wait()
    }

    @Test func `5.7 a verb whose task the program released succeeds, with the task`() async throws {
        let folder = try ScratchFolder()
        let place = folder.url.appendingPathComponent("file")
        manager.setDownloadTaskDidFinishDownloadingBlock { _, _, _ in place }
        begin("bytes/500")

        let answer = try await heard.first
        #expect(answer.object as? URL == place && answer.error == nil)
        #expect(answer.task?.originalRequest?.url?.path == "/bytes/500")
        #expect(try Data(contentsOf: place).count == 500)
    }

    @Test func `5.7 it fails with its task too, and is not lost among the tasks that are made meanwhile`() async throws
    {
        begin("stalled")
        let download = try await downloads.first
        try await settled()
        for _ in 0..<200 {
            _ = manager.dataTask(with: site.request("/get"), completionHandler: nil)
        }
        download.cancel()

        let answer = try await heard.first
        #expect(answer.error?.code == NSURLErrorCancelled && answer.task != nil)
    }

    @Test func `5.5 the progress of the data task is that of the download`() async throws {
        let task = manager.dataTask(with: site.request("/stalled"), completionHandler: heard.completion)
        let progress = try #require(manager.downloadProgress(for: task))
        task.resume()
        let download = try await downloads.first
        #expect(manager.downloadProgress(for: download) === progress)

        progress.pause()
        try await eventually("a pause") { download.state == .suspended }
        progress.resume()
        try await eventually("the end of the pause") { download.state == .running }
        progress.cancel()
        #expect(try await heard.first.error?.code == NSURLErrorCancelled)
    }

    @Test func `5.5 a progress that is cancelled while the task becomes a download cancels the download`() async throws
    {
        let queue = manager.operationQueue
        manager.setDataTaskDidReceiveResponseBlock { _, _, _ in
            queue.isSuspended = true
            return .becomeDownload
        }
        let task = manager.dataTask(with: site.request("/stalled"), completionHandler: heard.completion)
        let progress = try #require(manager.downloadProgress(for: task))
        task.resume()
        try await eventually("the end of the data task") { task.state == .completed }
        progress.cancel()
        // Foundation calls its handler on a queue of its own.
        let record = try #require(manager.record(of: task))
        try await eventually("the cancellation") { record.state.withLock { $0.isCancelled } }
        queue.isSuspended = false

        #expect(try await heard.first.error?.code == NSURLErrorCancelled)
        #expect(downloads.all.count == 1)
    }

    @Test func `cancelling the Swift task cancels the download`() async throws {
        let ended = Heard<RequestFailure.Kind?>()
        let work = Task { [manager] in
            do throws(RequestFailure) {
                try await manager.get("stalled")
                ended.add(nil)
            } catch {
                ended.add(error.kind)
            }
        }
        try await downloads.wait()
        work.cancel()
        #expect(try await ended.first == .cancelled)
    }
}
