@testable import AFImages

/// The acceptance catalogue, 13.12, and the rules of sections 12.1 to 12.3.
@MainActor @Suite final class FollowingTests {
    private let site: ImageSite
    private let manager: HTTPSessionManager

    init() throws {
        site = try ImageSite()
        manager = HTTPSessionManager(baseURL: nil, sessionConfiguration: .ephemeral)
        manager.responseSerializer = HTTPResponseSerializer()
    }

    deinit {
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    private func task(_ path: String) -> URLSessionDataTask {
        manager.dataTask(
            with: site.request(path),
            uploadProgress: nil,
            downloadProgress: nil,
            completionHandler: nil
        )
    }

    private func operation(_ path: String) -> HTTPRequestOperation { HTTPRequestOperation(request: site.request(path)) }

    enum Step: CaseIterable, Sendable { case resumes, completes, suspends }

    @Test(arguments: Step.allCases, [false, true])
    func `13.12 an indicator, or a refresh control, may be released before its task does anything`(
        step: Step,
        isRefreshing: Bool
    ) async throws {
        let task = task("/waiting/1")
        if step != .resumes { task.resume() }
        weak var forgotten: Spinner?
        do {
            let spinner = Spinner()
            forgotten = spinner
            if isRefreshing {
                spinner.setRefreshingWithState(of: task)
            } else {
                spinner.setAnimatingWithState(of: task)
            }
        }
        #expect(forgotten == nil)

        switch step {
        case .resumes: task.resume()
        case .suspends: task.suspend()
        case .completes: site.server.signal("go")
        }
        if step == .completes { try await eventually("the end") { task.state == .completed } }
        await mainQueueSettled()
    }

    @Test func `12.1 an indicator turns while its task runs`() async throws {
        let spinner = Spinner()
        let task = task("/waiting/1")
        spinner.setAnimatingWithState(of: task)
        #expect(spinner.calls == ["stop"])

        task.resume()
        try await eventually("a start") { spinner.calls == ["stop", "start"] }
        task.suspend()
        try await eventually("a stop") { spinner.calls == ["stop", "start", "stop"] }
        task.resume()
        try await eventually("a start") { spinner.calls.count == 4 }
        site.server.signal("go")
        try await eventually("a stop") { spinner.calls.count == 5 }

        #expect(spinner.calls == ["stop", "start", "stop", "start", "stop"])
    }

    @Test func `12.1 a task that runs is shown at once, one that has completed is not followed`() async throws {
        let spinner = Spinner()
        let running = task("/waiting/1")
        running.resume()
        spinner.setAnimatingWithState(of: running)
        #expect(spinner.calls == ["start"])

        site.server.signal("go")
        // That it was resumed is announced, too.
        try await eventually("the end") { spinner.changes == ["start", "stop"] }
        let count = spinner.calls.count
        spinner.setAnimatingWithState(of: running)
        spinner.setAnimatingWithState(of: nil)
        #expect(spinner.calls.count == count)
    }

    @Test func `12.1 an indicator stops when its task becomes a download`() async throws {
        manager.setDataTaskDidReceiveResponseBlock { _, _, _ in .becomeDownload }
        let spinner = Spinner()
        let task = task("/waiting/1")
        spinner.setAnimatingWithState(of: task)
        task.resume()
        try await eventually("a start") { spinner.calls == ["stop", "start"] }
        site.server.signal("go")
        try await eventually("a stop") { spinner.calls == ["stop", "start", "stop"] }
    }

    @Test func `12.1 a view stops following the former task`() async throws {
        let spinner = Spinner()
        let (old, new) = (task("/waiting/1"), task("/waiting/2"))
        spinner.setAnimatingWithState(of: old)
        spinner.setAnimatingWithState(of: new)
        old.resume()
        new.resume()
        try await eventually("a start") { spinner.calls == ["stop", "stop", "start"] }
        // Posted, and not delivered yet.
        new.suspend()
        spinner.setAnimatingWithState(of: nil)
        await mainQueueSettled()
        await mainQueueSettled()
        #expect(spinner.calls == ["stop", "stop", "start"])
    }

    @Test func `12.1 2.x an indicator turns while its operation executes`() async throws {
        let spinner = Spinner()
        let operation = operation("/waiting/1")
        spinner.setAnimatingWithState(of: operation)
        operation.start()
        try await eventually("a start") { spinner.calls == ["stop", "start"] }
        site.server.signal("go")
        try await eventually("a stop") { spinner.calls == ["stop", "start", "stop"] }
        spinner.setAnimatingWithState(of: operation)
        #expect(spinner.calls.count == 3)
    }

    @Test func `12.2 a control refreshes while its task runs, also if it was not resumed before`() async throws {
        let control = Spinner()
        let task = task("/waiting/1")
        control.setRefreshingWithState(of: task)
        task.resume()
        try await eventually("a begin") { control.calls == ["end", "begin"] }
        site.server.signal("go")
        try await eventually("an end") { control.calls == ["end", "begin", "end"] }
        control.setRefreshingWithState(of: task)
        control.setRefreshingWithState(of: nil)
        #expect(control.calls.suffix(2) == ["end", "end"] && control.calls.count == 5)
    }

    @Test func `12.2 2.x a control refreshes while its operation executes`() async throws {
        let control = Spinner()
        let operation = operation("/waiting/1")
        operation.start()
        control.setRefreshingWithState(of: operation)
        #expect(control.calls == ["begin"])
        site.server.signal("go")
        try await eventually("an end") { control.changes == ["begin", "end"] }
        control.setRefreshingWithState(of: operation)
        #expect(control.calls.suffix(2) == ["end", "end"])
    }

    // MARK: - Progress

    @Test func `12.3 a bar shows how much has arrived, up to everything`() async throws {
        let bar = Bar()
        let task = task("/bytes/2000000")
        bar.setProgressWithDownloadProgress(of: task, animated: true)
        task.resume()

        try await eventually("everything") { bar.steps.last?.progress == 1 }
        #expect(bar.steps.allSatisfy { $0.isAnimated })
        #expect(bar.steps.map(\.progress) == bar.steps.map(\.progress).sorted())
    }

    @Test func `12.3 a bar shows how much was sent, and nothing while the total is unknown`() async throws {
        let bar = Bar()
        var request = site.request("/post")
        request.httpMethod = "POST"
        let upload = manager.uploadTask(
            with: request,
            from: Data(count: 3_000_000),
            progress: nil,
            completionHandler: nil
        )
        bar.setProgressWithUploadProgress(of: upload, animated: false)
        await mainQueueSettled()
        #expect(bar.steps.isEmpty)

        upload.resume()
        try await eventually("everything") { bar.steps.last == Bar.Step(progress: 1, isAnimated: false) }
    }

    @Test func `12.3 a task that has completed is not followed, and one of two is, in each direction`() async throws {
        let bar = Bar()
        let (old, new) = (task("/bytes/100000"), task("/bytes/100001"))
        bar.setProgressWithDownloadProgress(of: old, animated: false)
        bar.setProgressWithDownloadProgress(of: new, animated: true)
        old.resume()
        try await eventually("the end") { old.state == .completed }
        await mainQueueSettled()
        #expect(bar.steps.isEmpty)
        bar.setProgressWithDownloadProgress(of: old, animated: false)
        new.resume()
        try await eventually("everything") { bar.steps.last == Bar.Step(progress: 1, isAnimated: true) }
    }

    @Test func `12.3 a bar may be released before its task`() async throws {
        let task = task("/waiting/1")
        task.resume()
        weak var forgotten: Bar?
        do {
            let bar = Bar()
            forgotten = bar
            bar.setProgressWithDownloadProgress(of: task, animated: true)
        }
        site.server.signal("go")
        try await eventually("the end") { task.state == .completed && forgotten == nil }
    }

    @Test func `12.3 2.x an operation's own progress block is called first`() async throws {
        let bar = Bar()
        let operation = operation("/bytes/100000")
        let heard = Heard<Int64>()
        operation.setDownloadProgressBlock { _, total, _ in heard.add(total) }
        bar.setProgressWithDownloadProgress(of: operation, animated: false)
        operation.start()

        try await eventually("everything") { bar.steps.last?.progress == 1 }
        #expect(heard.all.last == 100_000 && heard.all.count == bar.steps.count)
    }
}
