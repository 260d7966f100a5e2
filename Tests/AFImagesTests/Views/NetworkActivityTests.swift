import AFBase

@testable import AFImages

/// A clock that the test advances.
private final class Hands: ActivityClock {
    private struct Alarm: Sendable {
        let time: TimeInterval
        let body: @MainActor @Sendable () -> Void
    }

    private let state = Lock((now: 0.0, alarms: [Alarm]()))

    var count: Int { state.withLock { $0.alarms.count } }

    func call(after seconds: TimeInterval, body: @escaping @MainActor @Sendable () -> Void) {
        state.withLock { $0.alarms.append(Alarm(time: $0.now + seconds, body: body)) }
    }

    @MainActor func advance(by seconds: TimeInterval) async {
        await mainQueueSettled()
        let due = state.withLock { state in
            state.now += seconds
            let due = state.alarms.filter { $0.time <= state.now + 1e-9 }
            state.alarms.removeAll { $0.time <= state.now + 1e-9 }
            return due
        }
        for alarm in due { alarm.body() }
        await mainQueueSettled()
    }
}

/// The acceptance catalogue, 13.12, and the rules of section 12.4.
@MainActor @Suite final class NetworkActivityTests {
    private let site: ImageSite
    private let sessions: HTTPSessionManager
    private let hands = Hands()
    /// A notification center for the tasks of this test only.
    private let center = NotificationCenter()
    private var relays: [NotificationObservation] = []
    private let indicator: NetworkActivityIndicatorManager
    private let seen = Heard<Bool>()

    init() throws {
        site = try ImageSite()
        sessions = HTTPSessionManager(baseURL: nil, sessionConfiguration: .ephemeral)
        sessions.responseSerializer = HTTPResponseSerializer()
        indicator = NetworkActivityIndicatorManager(clock: hands, center: center)
        indicator.setNetworkingActivityAction { [seen] in seen.add($0) }
    }

    deinit {
        sessions.invalidateSessionCancelingTasks(true, resetSession: false)
    }

    private func relay(_ object: any AnyObject & Sendable, _ names: [Notification.Name]) {
        for name in names {
            relays.append(NotificationObservation(of: name, object: object) { [center] in center.post($0) })
        }
    }

    private func task(_ path: String) -> URLSessionDataTask {
        let task = sessions.dataTask(
            with: site.request(path),
            uploadProgress: nil,
            downloadProgress: nil,
            completionHandler: nil
        )
        relay(task, [.networkingTaskDidResume, .networkingTaskDidSuspend, .networkingTaskDidComplete])
        return task
    }

    private func counted(_ count: Int) async throws {
        try await eventually("\(count) activities") { indicator.activityCount == count }
        await mainQueueSettled()
    }

    @Test func `activity is heard of in a program that reads no name of a notification`() async {
        await #expect(processExitsWith: .success) {
            let (site, heard) = (try ImageSite(), Heard<Bool>())
            let notifications = ActivityNotifications(center: .default) { _ in heard.add(true) }
            let manager = HTTPSessionManager(baseURL: nil, sessionConfiguration: .ephemeral)
            _ = try? await manager.get(site.server.url("/status/500").absoluteString)
            try await heard.wait()
            withExtendedLifetime(notifications) {}
        }
    }

    // MARK: - 13.12

    @Test(arguments: ["/waiting/1", "/status/500"])
    func `13.12 without delays it is shown during a request, and hidden after it`(path: String) async throws {
        (indicator.activationDelay, indicator.completionDelay) = (0, 0)
        indicator.isEnabled = true
        let (task, ended) = (task(path), Heard<Bool>())
        relays.append(NotificationObservation(of: .networkingTaskDidComplete, object: task) { _ in ended.add(true) })
        task.resume()
        // Both notifications of the failure may come at once: then there is no activity to see.
        if path == "/status/500" { try await ended.wait() }
        if path == "/waiting/1" { try await eventually("a timer") { hands.count == 1 } }
        await hands.advance(by: 0)
        site.server.signal("go")
        try await counted(0)
        await hands.advance(by: 0)

        #expect(seen.all == [true, false] || path == "/status/500" && seen.all == [])
        #expect(!indicator.isNetworkActivityIndicatorVisible)
    }

    @Test func `13.12 with delays of a second it is shown and hidden a second later`() async throws {
        (indicator.activationDelay, indicator.completionDelay) = (1, 1)
        indicator.isEnabled = true
        task("/waiting/1").resume()
        try await counted(1)

        await hands.advance(by: 0.9)
        #expect(seen.all == [])
        await hands.advance(by: 0.2)
        #expect(seen.all == [true] && indicator.isNetworkActivityIndicatorVisible)
        site.server.signal("go")
        try await counted(0)
        await hands.advance(by: 0.9)
        #expect(seen.all == [true])
        await hands.advance(by: 0.2)
        #expect(seen.all == [true, false] && !indicator.isNetworkActivityIndicatorVisible)
    }

    @Test func `13.12 two requests that overlap are one show and one hide`() async throws {
        indicator.isEnabled = true
        let short = task("/waiting/1")
        let long = task("/waiting/2")
        short.resume()
        long.resume()
        try await counted(2)
        await hands.advance(by: 1)
        short.cancel()
        try await counted(1)
        await hands.advance(by: 9)
        #expect(seen.all == [true])
        long.cancel()
        try await counted(0)
        await hands.advance(by: 1)
        #expect(seen.all == [true, false])
    }

    @Test func `13.12 one increment reports the count once`() async throws {
        let counts = Heard<Int>()
        indicator.setActivityCountDidChange { counts.add($0) }

        indicator.incrementActivityCount()
        await mainQueueSettled()
        #expect(counts.all == [1])
        indicator.decrementActivityCount()
        indicator.decrementActivityCount()
        await mainQueueSettled()
        #expect(counts.all == [1, 0] && indicator.activityCount == 0)
    }

    @Test(arguments: ["/image.png", "/status/500"])
    func `13.12 2.x an operation is an activity until it has finished`(path: String) async throws {
        let counts = Heard<Int>()
        indicator.setActivityCountDidChange { counts.add($0) }
        let operation = HTTPRequestOperation(request: site.request(path))
        relay(operation, [.networkingOperationDidStart, .networkingOperationDidFinish])
        operation.start()

        try await counts.wait(for: 2)
        #expect(counts.all == [1, 0])
    }

    // MARK: - 12.4

    @Test func `12.4 an activity that ends before the delay is not shown, and a shorter pause does not flicker`()
        async throws
    {
        indicator.isEnabled = true
        indicator.incrementActivityCount()
        await hands.advance(by: 0.5)
        indicator.decrementActivityCount()
        await hands.advance(by: 0.6)
        #expect(seen.all == [])

        indicator.incrementActivityCount()
        await hands.advance(by: 1)
        indicator.decrementActivityCount()
        await hands.advance(by: 0.1)
        indicator.incrementActivityCount()
        await hands.advance(by: 5)
        #expect(seen.all == [true])
        indicator.decrementActivityCount()
        await hands.advance(by: 0.16)
        #expect(seen.all == [true])
        await hands.advance(by: 0.02)
        #expect(seen.all == [true, false])
    }

    @Test func `12.4 it counts while it is disabled, and shows what runs when it is enabled`() async throws {
        task("/waiting/1").resume()
        try await counted(1)
        await hands.advance(by: 9)
        #expect(seen.all == [])

        indicator.isEnabled = true
        await hands.advance(by: 1)
        #expect(seen.all == [true])
        indicator.isEnabled = false
        await mainQueueSettled()
        #expect(seen.all == [true, false])
        await hands.advance(by: 9)
        #expect(seen.all == [true, false] && indicator.activityCount == 1)
    }

    @Test func `12.4 a timer of a phase that is over does nothing`() async throws {
        indicator.isEnabled = true
        indicator.incrementActivityCount()
        await hands.advance(by: 0.5)
        indicator.isEnabled = false
        indicator.isEnabled = true
        await hands.advance(by: 0.6)
        #expect(seen.all == [])
        await hands.advance(by: 0.4)
        #expect(seen.all == [true])
    }

    @Test func `12.4 a data task that becomes a download counts once, until that has completed`() async throws {
        let session = ObjectIdentifier(sessions.session)
        for name in [Notification.Name.networkingTaskDidResume, .networkingTaskDidSuspend, .networkingTaskDidComplete] {
            relays.append(
                NotificationObservation(of: name) { [center] notification in
                    guard let task = notification.object as? URLSessionTask, ObjectIdentifier(task.session) == session
                    else { return }
                    center.post(notification)
                }
            )
        }
        let counts = Heard<Int>()
        indicator.setActivityCountDidChange { counts.add($0) }
        let downloads = Heard<URLSessionDownloadTask>()
        sessions.setDataTaskDidReceiveResponseBlock { _, _, _ in .becomeDownload }
        sessions.setDataTaskDidBecomeDownloadTaskBlock { downloads.add($2) }
        site.server.route("GET", "/stalled.png", ServerReply.picture(site.png).stalling(after: 3))
        let task = sessions.dataTask(
            with: site.request("/stalled.png"),
            uploadProgress: nil,
            downloadProgress: nil,
            completionHandler: nil
        )
        task.resume()
        let download = try await downloads.first
        await mainQueueSettled()
        await mainQueueSettled()
        #expect(indicator.activityCount == 1)
        download.cancel()
        try await eventually("no activity") { indicator.activityCount == 0 }
        await mainQueueSettled()
        #expect(counts.all.max() == 1)
    }

    @Test func `12.4 a task counts once, and only if it was resumed`() async throws {
        let first = task("/waiting/1")
        let second = task("/waiting/2")
        first.cancel()
        second.resume()
        try await counted(1)
        second.suspend()
        try await counted(0)
        second.resume()
        try await counted(1)
        second.cancel()
        try await counted(0)
    }

    @Test func `12.4 a task whose last notification was dropped does not count forever`() async throws {
        let post = NotificationPoster()
        let indicator = NetworkActivityIndicatorManager(clock: hands, center: center, post: post)
        let operation = HTTPRequestOperation(request: site.request("/waiting/1"))
        relay(operation, [.networkingOperationDidStart])
        operation.start()
        let lost = task("/waiting/2")
        lost.resume()
        try await eventually("both to run") { indicator.activityCount == 2 }

        relays = []
        operation.cancel()
        lost.cancel()
        try await eventually("the end") { lost.state == .completed && operation.isFinished }
        // This runs on the main queue, which cannot deliver meanwhile.
        for _ in 0...NotificationPoster.room { post.post(Notification.Name("dropped"), object: self) }
        #expect(indicator.activityCount == 2)

        let next = task("/waiting/3")
        next.resume()
        try await eventually("the next one alone") { indicator.activityCount == 1 }
        next.cancel()
        try await eventually("none") { indicator.activityCount == 0 }
    }

    @Test func `12.4 what was dropped before the manager was made hides no activity`() async throws {
        let post = NotificationPoster()
        // This runs on the main queue, which cannot deliver meanwhile.
        for _ in 0...NotificationPoster.room { post.post(Notification.Name("dropped"), object: self) }
        let indicator = NetworkActivityIndicatorManager(clock: hands, center: center, post: post)
        let counts = Heard<Int>()
        indicator.setActivityCountDidChange { counts.add($0) }
        // Over before the main queue delivers the notification of its start.
        center.post(name: .networkingOperationDidStart, object: HTTPRequestOperation(request: site.request("/x")))

        try await counts.wait(for: 1)
        #expect(counts.all == [1])
    }

    @Test func `14 requests without a URL, and threads at once, do not disturb the count`() async throws {
        var request = site.request("/image.png")
        request.url = nil
        let counts = Heard<Int>()
        indicator.setActivityCountDidChange { counts.add($0) }
        let nowhere = sessions.dataTask(
            with: request,
            uploadProgress: nil,
            downloadProgress: nil,
            completionHandler: nil
        )
        relay(nowhere, [.networkingTaskDidResume, .networkingTaskDidComplete])
        nowhere.resume()
        try await eventually("the end") { nowhere.state == .completed }
        await mainQueueSettled()
        #expect(counts.all == [])

        await withTaskGroup { [indicator] group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<100 { indicator.incrementActivityCount() }
                    for _ in 0..<100 { indicator.decrementActivityCount() }
                }
            }
        }
        #expect(indicator.activityCount == 0)
    }

    @Test func `12.4 every event in every phase leads where it should`() {
        typealias Row = (ActivityMachine.Phase, ActivityMachine.Event, ActivityMachine.Phase)
        func reach(_ phase: ActivityMachine.Phase) -> ActivityMachine {
            var machine = ActivityMachine()
            if phase != .notActive { _ = machine.handle(.activity(true)) }
            if phase == .active || phase == .delayingEnd { _ = machine.handle(.timer(isActive: true)) }
            if phase == .delayingEnd { _ = machine.handle(.activity(false)) }
            return machine
        }
        let rows: [Row] = [
            (.notActive, .activity(true), .delayingStart), (.notActive, .activity(false), .notActive),
            (.notActive, .timer(isActive: true), .notActive), (.notActive, .disabled, .notActive),
            (.delayingStart, .activity(true), .delayingStart), (.delayingStart, .activity(false), .delayingStart),
            (.delayingStart, .timer(isActive: true), .active), (.delayingStart, .timer(isActive: false), .notActive),
            (.delayingStart, .disabled, .notActive), (.active, .activity(true), .active),
            (.active, .activity(false), .delayingEnd), (.active, .timer(isActive: false), .active),
            (.active, .disabled, .notActive), (.delayingEnd, .activity(true), .active),
            (.delayingEnd, .activity(false), .delayingEnd), (.delayingEnd, .timer(isActive: true), .notActive),
            (.delayingEnd, .disabled, .notActive),
        ]
        for (phase, event, next) in rows {
            var machine = reach(phase)
            #expect(machine.phase == phase)
            _ = machine.handle(event)
            #expect(machine.phase == next, "\(phase) \(event)")
        }
    }

    @Test func `12.4 there is one for the process, with the delays of the original`() {
        let shared = NetworkActivityIndicatorManager.shared
        #expect(shared === NetworkActivityIndicatorManager.sharedManager())
        let fresh = NetworkActivityIndicatorManager()
        #expect(!fresh.isEnabled && fresh.activationDelay == 1 && fresh.completionDelay == 0.17)
        #expect(!fresh.isNetworkActivityIndicatorVisible)
    }

    @Test func `12.4 the clock of the main queue measures`() async throws {
        let fresh = NetworkActivityIndicatorManager()
        let seen = Heard<Bool>()
        fresh.setNetworkingActivityAction { seen.add($0) }
        fresh.activationDelay = 0.01
        fresh.isEnabled = true
        fresh.incrementActivityCount()
        try await seen.wait(for: 1)
        #expect(seen.all == [true])
    }
}
