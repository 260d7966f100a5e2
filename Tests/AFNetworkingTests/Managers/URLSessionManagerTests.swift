@testable import AFNetworking

/// The acceptance catalogue, 13.7, and the rules of section 5.
@Suite struct URLSessionManagerTests {
    private let site: ManagerSite
    private let manager: URLSessionManager
    private let heard = Heard<Answer>()
    private let steps = Heard<Double>()

    init() throws {
        site = try ManagerSite()
        manager = site.owned(URLSessionManager(sessionConfiguration: site.configuration))
        manager.responseSerializer = HTTPResponseSerializer()
    }

    private func finish(_ task: URLSessionTask, _ heard: Heard<Answer>) async throws -> Answer {
        task.resume()
        return try await heard.first
    }

    // MARK: - Queues

    private final class WhereAmI: HTTPResponseSerializer, @unchecked Sendable {
        let seen = Heard<Bool>()

        override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
            dispatchPrecondition(condition: .onQueue(URLSessionManager.processingQueue))
            seen.add(true)
            return data
        }
    }

    @Test func `5.1 a serializer of the program's is called on the processing queue`() async throws {
        let serializer = WhereAmI()
        manager.responseSerializer = serializer
        for _ in 1...2 {
            let heard = Heard<Answer>()
            let task = manager.dataTask(with: site.request("/bytes/10"), completionHandler: heard.completion)
            #expect(try await finish(task, heard).error == nil)
        }
        #expect(serializer.seen.all == [true, true])
    }

    // MARK: - Delegates of single tasks

    private final class Metering: URLSessionTaskDelegate {
        let heard = Heard<Int>()

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            heard.add(metrics.transactionMetrics.count)
        }
    }

    @Test func `the session calls the manager for methods that a task's own delegate lacks`() async throws {
        let own = Metering()
        for count in 1...2 {
            let heard = Heard<Answer>()
            let task = manager.dataTask(with: site.request("/bytes/10"), completionHandler: heard.completion)
            task.delegate = own
            let answer = try await finish(task, heard)
            #expect(answer.error == nil && (answer.object as? Data)?.count == 10)
            #expect(own.heard.all.count == count && heard.all.count == 1)
        }
    }

    // MARK: - Progress

    @Test func `13.7.1 13.7.2 a data task reports how much has arrived, step by step, up to everything`() async throws {
        let task = manager.dataTask(
            with: site.request("/bytes/2000000"),
            uploadProgress: nil,
            downloadProgress: { steps.add($0.fractionCompleted) },
            completionHandler: heard.completion
        )
        let progress = try #require(manager.downloadProgress(for: task))
        #expect(progress.totalUnitCount == -1 && progress.completedUnitCount == 0)

        #expect(try await finish(task, heard).error == nil)
        #expect(steps.all.last == 1 && steps.all.count > 1)
        #expect(steps.all == steps.all.sorted() && steps.all.first ?? 0 > 0)
        #expect(progress.fractionCompleted == 1 && progress.totalUnitCount == 2_000_000)
        #expect(manager.downloadProgress(for: task) == nil)
    }

    @Test func `13.7.3 13.7.4 a download reports how much has arrived, and its metrics`() async throws {
        let metrics = Heard<Int>()
        manager.setTaskDidFinishCollectingMetricsBlock { metrics.add($2.transactionMetrics.count) }
        let task = manager.downloadTask(
            with: site.request("/bytes/2000000"),
            progress: { steps.add($0.fractionCompleted) },
            destination: nil,
            completionHandler: heard.download
        )
        let observed = Observed(.networkingTaskDidComplete, of: task)

        let answer = try await finish(task, heard)
        #expect(answer.error == nil && answer.object == nil)
        #expect(steps.all.last == 1)
        #expect(metrics.all == [1])
        let notification = try await observed.heard.first
        #expect(notification.userInfo[Notification.NetworkingTaskKey.sessionTaskMetrics] is URLSessionTaskMetrics)
    }

    @Test func `13.7.7 13.7.8 an upload reports how much was sent, up to everything`() async throws {
        let task = manager.uploadTask(
            with: site.request("/count", method: "POST"),
            from: Data(count: 3_000_000),
            progress: { steps.add($0.fractionCompleted) },
            completionHandler: heard.completion
        )
        let progress = try #require(manager.uploadProgress(for: task))

        #expect(try await finish(task, heard).error == nil)
        #expect(steps.all.last == 1 && progress.fractionCompleted == 1)
    }

    @Test func `5.5 a data task with a body reports uploads too, and an upload from a file`() async throws {
        let folder = try ScratchFolder()
        let file = folder.url.appendingPathComponent("body")
        try Data(count: 100_000).write(to: file)
        let steps = Heard<Int64>()
        var request = site.request("/count", method: "POST")
        let upload = manager.uploadTask(
            with: request,
            fromFile: file,
            progress: { steps.add($0.completedUnitCount) },
            completionHandler: heard.completion
        )
        request.httpBody = Data(count: 50_000)
        let data = manager.dataTask(
            with: request,
            uploadProgress: { steps.add($0.completedUnitCount) },
            downloadProgress: nil,
            completionHandler: heard.completion
        )

        upload.resume()
        try await heard.wait(for: 1)
        #expect(steps.all.last == 100_000)
        data.resume()
        try await heard.wait(for: 2)
        #expect(steps.all.last == 50_000)
    }

    @Test func `13.7 2.x an upload and a download are children of the progress that is current`() throws {
        for isUpload in [true, false] {
            let parent = Progress(totalUnitCount: 100)
            parent.becomeCurrent(withPendingUnitCount: 80)
            let task: URLSessionTask =
                isUpload
                ? manager.uploadTask(
                    with: site.request("/post", method: "POST"),
                    from: Data(count: 3),
                    progress: nil,
                    completionHandler: nil
                )
                : manager.downloadTask(
                    with: site.request("/get"),
                    progress: nil,
                    destination: nil,
                    completionHandler: nil
                )
            parent.resignCurrent()
            let progress = isUpload ? manager.uploadProgress(for: task) : manager.downloadProgress(for: task)
            let child = try #require(progress)

            #expect(parent.fractionCompleted == 0)
            child.totalUnitCount = 1
            child.completedUnitCount = 1
            #expect(abs(parent.fractionCompleted - 0.8) < 0.0001)
        }
    }

    @Test func `5.5 pausing, resuming and cancelling a progress does it to the task`() async throws {
        let task = manager.dataTask(with: site.request("/delay/30"), completionHandler: heard.completion)
        let progress = try #require(manager.downloadProgress(for: task))
        #expect(progress.isCancellable && progress.isPausable)
        task.resume()

        // Foundation calls these handlers on a queue of its own.
        progress.pause()
        try await reached(.suspended, by: task)
        progress.resume()
        try await reached(.running, by: task)
        progress.cancel()
        #expect(try await heard.first.error?.code == NSURLErrorCancelled)
    }

    private func reached(_ state: URLSessionTask.State, by task: URLSessionTask) async throws {
        for _ in 0..<500 where task.state != state { try await Task.sleep(for: .milliseconds(10)) }
        #expect(task.state == state)
    }

    @Test func `the steps of a progress can be awaited, by several, until the task ends`() async throws {
        let task = manager.dataTask(with: site.request("/bytes/500000"), completionHandler: heard.completion)
        let (one, other) = (manager.progressSteps(of: task), manager.progressSteps(of: task))
        task.resume()
        var last: TransferProgress?
        for await step in one { last = step }
        for await step in other { #expect(step.received <= 500_000) }

        #expect(last?.received == 500_000 && last?.fractionReceived == 1)
        for await _ in manager.progressSteps(of: task) { Issue.record("the task has ended") }
    }

    // MARK: - The session

    @Test func `13.7.5 13.7.6 an invalidated session stays, unless it is reset`() async throws {
        let old = manager.session
        let invalid = Heard<String>()
        manager.setSessionDidBecomeInvalidBlock { session, error in
            if session === old, error == nil { invalid.add(Queues.current) }
        }
        let observed = Observed(.urlSessionDidInvalidate, of: old)

        manager.invalidateSessionCancelingTasks(true, resetSession: false)
        #expect(manager.session === old)
        #expect(try await invalid.first == manager.operationQueue.name)
        #expect(try await observed.heard.first.queue == manager.operationQueue.name)
        // Made too late: it fails with an error.
        let late = manager.dataTask(with: site.request("/get"), completionHandler: heard.completion)
        late.resume()
        #expect(try await heard.first.error?.localizedDescription.contains("invalidated") == true)

        manager.invalidateSessionCancelingTasks(false, resetSession: true)
        #expect(manager.session !== old)
        let task = manager.dataTask(with: site.request("/get"), completionHandler: heard.completion)
        task.resume()
        #expect(try await heard.wait(for: 2)[1].error == nil)
    }

    @Test func `5.1 tasks that end after a reset, and those never resumed, complete once`() async throws {
        let running = Heard<Answer>()
        let waiting = Heard<Answer>()
        let new = Heard<Answer>()
        let request = site.request("/delay/0.2")
        let old = manager.dataTask(with: request, completionHandler: running.completion)
        let never = manager.dataTask(with: request, completionHandler: waiting.completion)
        old.resume()
        manager.invalidateSessionCancelingTasks(false, resetSession: true)
        #expect(manager.downloadProgress(for: old) != nil)
        // Of the same number as the old one.
        let other = manager.dataTask(with: site.request("/get"), completionHandler: new.completion)
        #expect(other.taskIdentifier == old.taskIdentifier)
        other.resume()

        #expect(try await new.first.response?.url?.path == "/get")
        #expect(try await running.first.response?.url?.path == "/delay/0.2")
        #expect(try await waiting.first.error?.code == NSURLErrorCancelled)
        #expect(never.state != .running)
    }

    @Test func `5.1 the tasks can be read anywhere, also on the delegate queue`() async throws {
        let asked = Heard<[Int]>()
        let data = manager.dataTask(with: site.request("/delay/20"), completionHandler: nil)
        let upload = manager.uploadTask(
            with: site.request("/post", method: "POST"),
            from: nil,
            progress: nil,
            completionHandler: nil
        )
        let download = manager.downloadTask(
            with: site.request("/get"),
            progress: nil,
            destination: nil,
            completionHandler: nil
        )
        data.resume()
        manager.operationQueue.addOperation { [manager] in
            asked.add([
                manager.tasks.count, manager.dataTasks.count, manager.uploadTasks.count, manager.downloadTasks.count,
            ])
        }
        #expect(try await asked.first == [3, 1, 1, 1])
        #expect(await manager.allTasks == [data, upload, download])
        #expect(manager.tasks == [data, upload, download])
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    @Test func `5.11 description, copy and archive`() throws {
        let configuration = site.configuration
        configuration.timeoutIntervalForRequest = 7
        configuration.httpAdditionalHeaders = ["X-Mine": "yes"]
        let manager = site.owned(URLSessionManager(sessionConfiguration: configuration))
        manager.completionQueue = .global()
        #expect(manager.description.contains("URLSessionManager") && manager.description.contains("operationQueue"))

        let copy = site.owned(try #require(manager.copy() as? URLSessionManager))
        #expect(copy !== manager && copy.completionQueue == nil)
        #expect(copy.session.configuration.timeoutIntervalForRequest == 7)

        #expect(URLSessionManager.supportsSecureCoding)
        let data = try NSKeyedArchiver.archivedData(withRootObject: manager, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: URLSessionManager.self, from: data)
        )
        #expect(site.owned(read).session.configuration.timeoutIntervalForRequest == 7)
        #expect(read.session.configuration.httpAdditionalHeaders?["X-Mine"] as? String == "yes")
    }

    // MARK: - Notifications

    enum Kind: CaseIterable {
        case data
        case upload
        case download
    }

    @Test(arguments: Kind.allCases)
    func `13.7.9–20 a notification is posted each time resuming or suspending changes a task`(
        _ kind: Kind
    ) async throws {
        // A GET with a body would fail at once, and then there is nothing to suspend.
        let method = kind == .upload ? "PUT" : "GET"
        site.server.route(method, "/held", ServerReply.text("late").held(until: "never"))
        let request = site.request("/held", method: method)
        let task: URLSessionTask =
            switch kind {
            case .data:
                manager.dataTask(with: request, completionHandler: nil)
            case .upload:
                manager.uploadTask(with: request, from: Data(count: 5), progress: nil, completionHandler: nil)
            case .download:
                manager.downloadTask(with: request, progress: nil, destination: nil, completionHandler: nil)
            }
        let observed = Observed(.networkingTaskDidResume, .networkingTaskDidSuspend, of: task)

        task.resume()
        task.resume()
        task.suspend()
        task.suspend()
        task.resume()
        task.resume()
        let heard = try await observed.heard.wait(for: 3)
        #expect(
            heard.map(\.name) == [
                .networkingTaskDidResume, .networkingTaskDidSuspend, .networkingTaskDidResume,
            ]
        )
        #expect(heard.allSatisfy { $0.queue == "main" })
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    @Test func `5.9 no notification is posted for a task that the manager did not make`() async throws {
        let foreign = manager.session.dataTask(with: site.request("/get"))
        let own = manager.dataTask(with: site.request("/get"), completionHandler: nil)
        let ofForeign = Observed(.networkingTaskDidResume, .networkingTaskDidComplete, of: foreign)
        let ofOwn = Observed(.networkingTaskDidResume, .networkingTaskDidComplete, of: own)
        foreign.resume()
        own.resume()

        try await ofOwn.heard.wait(for: 2)
        try await eventually { foreign.state == .completed }
        #expect(ofForeign.heard.all.isEmpty)
        #expect(foreign.taskDescription == nil)
    }

    @Test func `a task may have a completion queue of its own`() async throws {
        manager.completionQueue = Queues.named("the manager's")
        let tasks = (0..<2).map { _ in
            manager.dataTask(with: site.request("/get"), completionHandler: heard.completion)
        }
        manager.setCompletionQueue(Queues.named("the task's"), for: tasks[0])
        #expect(tasks[0].session === manager.session)

        tasks[0].resume()
        #expect(try await heard.first.queue == "the task's")
        // It has completed: setting the queue has no effect.
        manager.setCompletionQueue(.global(), for: tasks[0])
        tasks[1].resume()
        #expect(try await heard.wait(for: 2)[1].queue == "the manager's")
    }

    @Test func `1.3 the notification of the completion comes after the handler, with all details`() async throws {
        let queue = Queues.named("mine")
        manager.completionQueue = queue
        manager.responseSerializer = JSONResponseSerializer()
        let task = manager.dataTask(with: site.request("/get?a=1"), completionHandler: heard.completion)
        let observed = Observed(.networkingTaskDidComplete, of: task)
        let answer = try await finish(task, heard)
        let notification = try await observed.heard.first

        #expect(answer.queue == "mine" && answer["args.a"] == "1")
        #expect(notification.queue == "main")
        let info = notification.userInfo
        #expect(info[Notification.NetworkingTaskKey.serializedResponse] is [String: Any])
        #expect(info[Notification.NetworkingTaskKey.responseSerializer] is JSONResponseSerializer)
        #expect((info[Notification.NetworkingTaskKey.responseData] as? Data)?.isEmpty == false)
        #expect(info[Notification.NetworkingTaskKey.error] == nil)
        #expect(info[Notification.NetworkingTaskKey.assetPath] == nil)
    }

    @Test func `1.3 names and keys are those of AFNetworking`() {
        #expect(Notification.Name.networkingTaskDidResume.rawValue == "com.alamofire.networking.task.resume")
        #expect(Notification.Name.networkingTaskDidSuspend.rawValue == "com.alamofire.networking.task.suspend")
        #expect(Notification.Name.networkingTaskDidComplete.rawValue == "com.alamofire.networking.task.complete")
        #expect(Notification.Name.urlSessionDidInvalidate.rawValue == "com.alamofire.networking.session.invalidate")
        let prefix = "com.alamofire.networking.session.download."
        #expect(
            Notification.Name.urlSessionDownloadTaskDidMoveFileSuccessfully.rawValue
                == prefix + "file-manager-succeed"
        )
        #expect(Notification.Name.urlSessionDownloadTaskDidFailToMoveFile.rawValue == prefix + "file-manager-error")
        let keys = [
            Notification.NetworkingTaskKey.serializedResponse, Notification.NetworkingTaskKey.responseSerializer,
            Notification.NetworkingTaskKey.responseData, Notification.NetworkingTaskKey.error,
            Notification.NetworkingTaskKey.assetPath, Notification.NetworkingTaskKey.sessionTaskMetrics,
        ]
        #expect(
            keys == [
                "com.alamofire.networking.task.complete.serializedresponse",
                "com.alamofire.networking.task.complete.responseserializer",
                "com.alamofire.networking.complete.finish.responsedata",
                "com.alamofire.networking.task.complete.error",
                "com.alamofire.networking.task.complete.assetpath",
                "com.alamofire.networking.complete.sessiontaskmetrics",
            ]
        )
    }

    // MARK: - Downloads

    @Test func `13.7.31 a download is moved to its destination, and a notification is posted`() async throws {
        let folder = try ScratchFolder()
        let place = folder.url.appendingPathComponent("file")
        let asked = Heard<String>()
        let task = manager.downloadTask(with: site.request("/bytes/1000"), progress: nil) { location, response in
            asked.add(Queues.current)
            #expect(FileManager.default.fileExists(atPath: location.path))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            return place
        } completionHandler: {
            heard.download($0, $1, $2)
        }
        let observed = Observed(
            .urlSessionDownloadTaskDidMoveFileSuccessfully,
            .networkingTaskDidComplete,
            of: task
        )
        let answer = try await finish(task, heard)

        #expect(answer.error == nil && answer.object as? URL == place)
        #expect(try Data(contentsOf: place).count == 1000)
        #expect(asked.all == [manager.operationQueue.name])
        let notifications = try await observed.heard.wait(for: 2)
        #expect(notifications[0].queue == manager.operationQueue.name)
        #expect(notifications[1].userInfo[Notification.NetworkingTaskKey.assetPath] as? URL == place)
        #expect(notifications[1].userInfo[Notification.NetworkingTaskKey.responseData] == nil)
    }

    @Test func `13.7.32 16 5.7 a download that cannot be moved reports it, also to its handler`() async throws {
        let folder = try ScratchFolder()
        let taken = folder.url.appendingPathComponent("taken")
        try Data("old".utf8).write(to: taken)
        for place in [URL(fileURLWithPath: "/nowhere/b/c"), taken] {
            let heard = Heard<Answer>()
            let task = manager.downloadTask(
                with: site.request("/bytes/10"),
                progress: nil,
                destination: { _, _ in place },
                completionHandler: heard.download
            )
            let observed = Observed(.urlSessionDownloadTaskDidFailToMoveFile, of: task)
            let answer = try await finish(task, heard)

            #expect(answer.object == nil)
            #expect(answer.error?.domain == NSCocoaErrorDomain)
            #expect(answer.error?.localizedDescription.contains(place.path) == true)
            #expect(try await observed.heard.first.userInfo.isEmpty == false)
        }
        #expect(try Data(contentsOf: taken) == Data("old".utf8))
    }

    @Test func `5.7 the manager's own block goes before the task's destination`() async throws {
        let folder = try ScratchFolder()
        let (one, other) = (folder.url.appendingPathComponent("1"), folder.url.appendingPathComponent("2"))
        manager.setDownloadTaskDidFinishDownloadingBlock { _, task, _ in
            task.originalRequest?.url?.path == "/bytes/1" ? one : nil
        }
        for path in ["/bytes/1", "/bytes/2"] {
            manager.downloadTask(
                with: site.request(path),
                progress: nil,
                destination: { _, _ in other },
                completionHandler: heard.download
            )
            .resume()
        }
        let answers = try await heard.wait(for: 2)
        #expect(Set(answers.compactMap { $0.object as? URL }) == [one, other])
    }

    @Test func `5.6 a download with a bad status is moved all the same, and fails`() async throws {
        let folder = try ScratchFolder()
        let place = folder.url.appendingPathComponent("file")
        let task = manager.downloadTask(
            with: site.request("/status/404"),
            progress: nil,
            destination: { _, _ in place },
            completionHandler: heard.download
        )
        let answer = try await finish(task, heard)

        #expect(answer.object as? URL == place && answer.error?.code == NSURLErrorBadServerResponse)
        #expect(FileManager.default.fileExists(atPath: place.path))
    }

    @Test func `5.6 T-API-27 a download needs neither a certain content type nor a destination`() async throws {
        manager.responseSerializer = JSONResponseSerializer()
        let task = manager.downloadTask(
            with: site.request("/bytes/10"),
            progress: nil,
            destination: nil,
            completionHandler: heard.download
        )
        let answer = try await finish(task, heard)
        #expect(answer.error == nil && answer.object == nil)
    }

    @Test func `5.3 a download continues where it was cancelled`() async throws {
        let folder = try ScratchFolder()
        let place = folder.url.appendingPathComponent("file")
        let began = Heard<Int64>()
        let offsets = Heard<Int64>()
        manager.setDownloadTaskDidWriteDataBlock { _, _, _, total, _ in began.add(total) }
        manager.setDownloadTaskDidResumeBlock { _, _, offset, _ in offsets.add(offset) }
        let task = manager.downloadTask(
            with: site.request("/range/3000000?duration=0.3&chunk_size=100000"),
            progress: nil,
            destination: nil,
            completionHandler: heard.download
        )
        task.resume()
        try await began.wait()
        let data = try #require(await task.cancelByProducingResumeData())
        #expect(try await heard.first.error?.code == NSURLErrorCancelled)

        let rest = manager.downloadTask(
            withResumeData: data,
            progress: nil,
            destination: { _, _ in place },
            completionHandler: heard.download
        )
        rest.resume()
        #expect(try await heard.wait(for: 2)[1].error == nil)
        #expect(try Data(contentsOf: place).count == 3_000_000)
        #expect(try await offsets.first > 0)
    }

    @Test func `5.7 a data task that becomes a download keeps its handler`() async throws {
        let folder = try ScratchFolder()
        let place = folder.url.appendingPathComponent("file")
        let became = Heard<Int>()
        manager.setDataTaskDidReceiveResponseBlock { _, _, _ in .becomeDownload }
        manager.setDataTaskDidBecomeDownloadTaskBlock { became.add($2.taskIdentifier) }
        manager.setDownloadTaskDidFinishDownloadingBlock { _, _, _ in place }
        let task = manager.dataTask(with: site.request("/bytes/500"), completionHandler: heard.completion)
        let answer = try await finish(task, heard)

        #expect(answer.object as? URL == place && became.all.count == 1)
        #expect(try Data(contentsOf: place).count == 500)
    }

    // MARK: - Ending

    @Test func `5.6 a bad status gives an object and an error`() async throws {
        manager.responseSerializer = JSONResponseSerializer()
        site.server.route("GET", "/broken", ServerReply.json("{\"why\": \"because\"}").status(500))
        let task = manager.dataTask(with: site.request("/broken"), completionHandler: heard.completion)
        let answer = try await finish(task, heard)

        #expect(answer["why"] == "because")
        #expect(answer.error?.domain == HTTPResponseSerializer.errorDomain)
        #expect(answer.error?.code == NSURLErrorBadServerResponse)
    }

    @Test func `5.1 a task uses the serializer that is set when it completes`() async throws {
        let task = manager.dataTask(with: site.request("/delay/0.1"), completionHandler: heard.completion)
        task.resume()
        manager.responseSerializer = JSONResponseSerializer()
        #expect(try await heard.first["method"] == "GET")
    }

    @Test func `a body longer than the memory allows for fails its task`() async throws {
        let configuration = site.configuration
        configuration.maximumBodyInMemory = 100_000
        let manager = site.owned(URLSessionManager(sessionConfiguration: configuration))
        let task = manager.dataTask(with: site.request("/bytes/5000000"), completionHandler: heard.completion)
        let answer = try await finish(task, heard)
        #expect(answer.error?.code == URLError.Code.dataLengthExceedsMaximum.rawValue && answer.object == nil)
    }

    @Test func `a body longer than the memory allows for fails its task, also if all of it is there by then`()
        async throws
    {
        site.server.route("GET", "/long", .json("\"\(String(repeating: "x", count: 5000))\""))
        let configuration = site.configuration
        configuration.maximumBodyInMemory = 1000
        let manager = site.owned(URLSessionManager(sessionConfiguration: configuration))
        let task = manager.dataTask(with: site.request("/long"), completionHandler: heard.completion)
        manager.operationQueue.isSuspended = true
        task.resume()
        try await eventually("the end of the task") { task.state == .completed }
        manager.operationQueue.isSuspended = false

        let answer = try await heard.first
        #expect(answer.error?.code == URLError.Code.dataLengthExceedsMaximum.rawValue && answer.object == nil)
    }

    @Test func `1.2 the group of completions is the one that was set`() async throws {
        let group = DispatchGroup()
        let queue = Queues.named("slow")
        manager.completionGroup = group
        manager.completionQueue = queue
        queue.suspend()
        let ended = Heard<Bool>()
        let notified = Heard<Bool>()
        manager.setTaskDidCompleteBlock { _, _, _ in ended.add(true) }
        manager.dataTask(with: site.request("/status/500"), completionHandler: nil)
            .resume()
        try await ended.wait()
        // The serializer runs beside: the group is entered a moment later.
        while group.wait(timeout: .now()) == .success { await Task.yield() }
        group.notify(queue: .global()) { notified.add(true) }
        #expect(notified.all.isEmpty)
        queue.resume()
        try await notified.wait()
    }
}
