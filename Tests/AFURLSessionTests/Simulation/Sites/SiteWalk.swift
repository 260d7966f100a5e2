@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

/// One seeded run: tasks on their way over a map, everything that is done to them, and what was wrong about it.
final class SiteWalk {
    let world: VirtualWorld
    let map: SiteMap
    let plans: [SitePlan]
    let isCalm: Bool
    private let book: SiteBook
    /// Where the cache and downloads are kept.
    private let disk: VirtualDisk
    private let isCached: Bool
    private var session: URLSession?
    private var delegate: SiteDelegate
    private var tasks: [URLSessionTask] = []

    init(seed: UInt64, traced: Bool = false) throws {
        var random = SeededGenerator(seed: seed ^ 0xC0)
        let isCalm = random.chance(40)
        self.isCalm = isCalm
        let map = SiteMap(isCalm: isCalm, &random)
        self.map = map
        plans = (0..<random.pick(1...8)).map { SitePlan.random($0, map, isCalm: isCalm, &random) }
        book = SiteBook(Dictionary(plans.map { ($0.name, $0.content) }) { first, _ in first })
        world = VirtualWorld(seed: seed)
        world.hasVirtualDate = true
        if traced { world.startTracing() }
        world.network.link.latency = 0...random.pick([0, 1_000_000, 30_000_000])
        if random.chance(50) { world.workers.take(.milliseconds(random.pick([1, 20]))) }
        isCached = random.chance(40)
        disk = try VirtualDisk(faults: world.faults)
        world.faults.arm(FaultPoint.allCases.filter { $0.isKind || !isCalm }, share: random.pick([0, 5, 15, 30]))
        disk.mount()
        delegate = SiteDelegate(plans, map, world.clock)
        serve()
        makeSession(perHost: random.pick([1, 2, 6]), delay: random.pick([0...0, 0...20_000_000]))
        for plan in plans { makeTask(plan) }
    }

    private func serve() {
        for host in 0..<map.hosts {
            let (map, book) = (map, book)
            world.serve("host\(host).test") {
                let server = SiteServer(map, book, host: host)
                return HTTPResponder { server.answer($0, $1, $2) }
            }
        }
    }

    private func makeSession(perHost: Int, delay: ClosedRange<Int>) {
        let clock = ThreadBound(world.clock)
        let seconds: @Sendable () -> Int64 = { clock.value.now.nanoseconds / 1_000_000_000 }
        // Without room in memory, every look into the cache is one at the disk.
        let store = CacheStore(
            memoryCapacity: isCached ? 0 : 8 << 20,
            diskCapacity: isCached ? 8 << 20 : 0,
            home: isCached ? CacheHome(path: disk.file("cache").path, levels: 1) : nil,
            wallClock: { [date = world.virtualDate] in date().seconds },
            monotonicClock: seconds
        )
        let (session, queue) = world.makeSession(delegate: delegate) { configuration in
            configuration.httpMaximumConnectionsPerHost = perHost
            configuration.timeoutIntervalForRequest = 20
            configuration.urlCache = URLCache(store: store)
            configuration.temporaryFolder = disk.url
            configuration.sendsPasswordsInClear = true
        }
        queue.setDelay(delay)
        self.session = session
    }

    private func makeTask(_ plan: SitePlan) {
        guard let session, let url = URL(string: map.places[plan.start].url) else { return }
        var request = URLRequest(url: url)
        request.httpMethod = plan.method
        request.setValue(plan.name, forHTTPHeaderField: "X-Task")
        request.setValue(SiteMap.password(map.places[plan.start].host), forHTTPHeaderField: "X-Api-Key")
        if plan.body == .data { request.httpBody = Data(plan.content) }
        if plan.body == .stream { request.httpBodyStream = InputStream(data: Data(plan.content)) }
        let task: URLSessionTask =
            switch plan.style {
            case .delegate: session.dataTask(with: request)
            case .download: session.downloadTask(with: request)
            case .completion:
                session.dataTask(with: request) { [delegate] in delegate.end(plan.name, $0, $1, $2) }
            }
        tasks.append(task)
        let clock = world.clock
        clock.after(.milliseconds(plan.startsAt)) { task.resume() }
        for suspension in plan.suspensions {
            clock.after(.milliseconds(plan.startsAt + suspension.after)) { task.suspend() }
            clock.after(.milliseconds(plan.startsAt + suspension.after + suspension.lasting)) { task.resume() }
        }
        if let moment = plan.cancelledAfter { clock.after(.milliseconds(plan.startsAt + moment)) { task.cancel() } }
    }

    // MARK: - Judging

    /// Runs it, and returns everything that was wrong.
    func run() -> [String] {
        defer { disk.unmount() }
        world.run(limit: .seconds(200_000)) { delegate.isOver }
        // What is still under way belongs to the story.
        world.advance(by: .seconds(10))
        var violations = book.violations
        for (plan, task) in zip(plans, tasks) { violations += judge(plan, task) }
        tasks = []
        session = nil
        violations += world.finish(expectsRelease: true)
        return violations + filesLeft
    }

    /// Parts of downloads that can be gone on with are kept, and nothing else.
    private var filesLeft: [String] {
        guard disk.failures == 0 else { return [] }
        let folder = ScratchFolder.downloads(in: disk.url).path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let resumable = plans.count {
            delegate.record($0.name).error?.userInfo[NSURLSessionDownloadTaskResumeData] != nil
        }
        let isRight = names.count == resumable && names.allSatisfy { $0.hasSuffix(".partial") }
        return isRight ? [] : ["\(names.count) files of downloads left, \(resumable) can be gone on with"]
    }

    private func judge(_ plan: SitePlan, _ task: URLSessionTask) -> [String] {
        let record = delegate.record(plan.name)
        var found: [String] = []
        if record.ends != 1 { found.append("ended \(record.ends) times; it is \(task.state)") }
        if record.events.last != .end { found.append("something came after its end") }
        if task.state != .completed { found.append("it is \(task.state) at its end") }
        found += order(record.events, plan)
        if record.error == nil, record.ends > 0 { found += success(record, plan) }
        if isCalm, let error = record.error, map.end(from: plan.start) != nil {
            found.append("failed for no reason: \(error.code.rawValue) \(error.loadFailure?.message ?? "")")
        }
        return found.map { "\(plan.name): \($0) \(record.events)" }
    }

    private func order(_ events: [SiteDelegate.Event], _ plan: SitePlan) -> [String] {
        var found: [String] = []
        let redirects = events.count { if case .redirect = $0 { true } else { false } }
        if redirects > 20 { found.append("\(redirects) redirects") }
        let responses = events.count { if case .response = $0 { true } else { false } }
        if responses > 1 { found.append("\(responses) responses") }
        if let data = events.firstIndex(of: .data), !events[..<data].contains(where: \.isResponse) {
            found.append("data before its response")
        }
        if let caching = events.firstIndex(of: .caching), events[caching...].contains(.data) {
            found.append("data after it could have been stored")
        }
        // A task that is cancelled in the moment in which it begins may never have run.
        let metrics = events.count { $0 == .metrics }
        let mayHaveNone = metrics == 0 && plan.cancelledAfter == 0
        if !mayHaveNone, metrics != 1 || events.dropLast().last != .metrics { found.append("metrics out of place") }
        return found
    }

    private func success(_ record: SiteDelegate.Record, _ plan: SitePlan) -> [String] {
        guard let response = record.response, let place = map.place(response.url?.path ?? "") else {
            return ["success without a response"]
        }
        var found: [String] = []
        let expected = response.statusCode == 401 ? SiteMap.refusal : place.body
        if record.body != Data(expected) {
            found.append("\(record.body.count) bytes of \(expected.count), or others, with \(response.statusCode)")
        }
        guard isCalm else { return found }
        if response.statusCode != 200 || place.number != map.end(from: plan.start)?.number {
            found.append("it ended at \(place.number) with \(response.statusCode)")
        }
        return found
    }
}

extension SiteDelegate.Event {
    fileprivate var isResponse: Bool { if case .response = self { true } else { false } }
}
