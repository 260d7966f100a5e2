import AFWire

@testable import AFURLSession
@testable import AFURLTypes

/// What one task of a walk sends, who has a say in it, and what is done to it meanwhile.
struct RepetitionPlan {
    enum Style: CaseIterable {
        case delegate, completion, download
    }

    let name: String
    let style: Style
    let method: String
    let body: [UInt8]
    let isStreamed: Bool
    let hasKey: Bool
    let attempts: Int
    let startsAt: Int
    let suspensions: [(after: Int, lasting: Int)]
    let cancelledAfter: Int?

    var mayBeSentTwice: Bool { method != "POST" || hasKey }

    init(_ number: Int, isCalm: Bool, _ random: inout SeededGenerator) {
        name = "t\(number)"
        style = random.pick(Style.allCases)
        method = random.pick(["GET", "PUT", "POST", "POST"])
        body = method == "GET" ? [] : TaskPlan.pattern(name, random.pick([1, 100, 5000, 100_000]))
        isStreamed = !body.isEmpty && random.chance(25)
        hasKey = random.chance(30)
        attempts = random.pick(1...5)
        startsAt = random.pick(0...random.pick([0, 100, 5000]))
        suspensions = (0..<random.pick([0, 0, 1, 2])).map { _ in
            (random.pick(0...random.pick([3, 400, 6000])), random.pick([0, 1, 200, 5000]))
        }
        cancelledAfter = isCalm || random.chance(70) ? nil : random.pick(0...random.pick([3, 400, 6000]))
    }
}

/// How the tasks of a walk ended.
final class RepetitionBook {
    /// Requests of each task whose head has arrived, and of which some body has.
    private(set) var heads: [String: Int] = [:]
    private(set) var bodies: [String: Int] = [:]
    private(set) var violations: [String] = []
    private let plans: [String: RepetitionPlan]

    init(_ plans: [RepetitionPlan]) {
        self.plans = Dictionary(plans.map { ($0.name, $0) }) { first, _ in first }
    }

    func note(_ request: VirtualRequest, _ moment: HTTPResponder.Moment) {
        let name = request.headers.first("X-Task") ?? ""
        guard let plan = plans[name] else { return violations.append("a request of no task") }
        if moment == .head || plan.body.isEmpty { heads[name, default: 0] += 1 }
        guard moment == .complete else { return }
        if !plan.body.isEmpty { bodies[name, default: 0] += 1 }
        if request.body != plan.body { violations.append("\(name): \(request.body.count) bytes, or others") }
        if request.headers.first("X-Adapted") != "1" { violations.append("\(name): not adapted") }
    }
}

/// One seeded run of tasks that are sent again.
final class RepetitionWalk {
    let world: VirtualWorld
    let plans: [RepetitionPlan]
    let isCalm: Bool
    private let book: RepetitionBook
    private let recorder = EventRecorder()
    private let files = Lock<[Int: Int]>([:])
    private var session: URLSession?
    private var tasks: [URLSessionTask] = []

    init(seed: UInt64, in scratch: ScratchFolder, traced: Bool = false) {
        var random = SeededGenerator(seed: seed ^ 0x52)
        let isCalm = random.chance(40)
        self.isCalm = isCalm
        plans = (0..<random.pick(1...6)).map { RepetitionPlan($0, isCalm: isCalm, &random) }
        book = RepetitionBook(plans)
        world = VirtualWorld(seed: seed)
        world.hasVirtualDate = true
        if traced { world.startTracing() }
        world.faults.arm(FaultPoint.allCases.filter { $0.isKind || !isCalm }, share: random.pick([0, 5, 15, 30]))
        world.network.link.latency = 0...random.pick([0, 1_000_000, 30_000_000])
        if random.chance(50) { world.workers.take(.milliseconds(random.pick([1, 20]))) }
        serve()
        makeSession(scratch, perHost: random.pick([1, 2, 6]), delay: random.pick([0...0, 0...20_000_000]))
        for plan in plans { makeTask(plan) }
    }

    private func serve() {
        world.respond("api.test") { [book, isCalm] request, moment, client in
            book.note(request, moment)
            guard moment == .complete else { return }
            RepetitionWalk.answer(request, client, isCalm: isCalm)
        }
    }

    private static func answer(_ request: VirtualRequest, _ client: ServerEnd, isCalm: Bool) {
        let isKept = client.draw(0...3) > 0
        let end = isKept ? "" : "Connection: close\r\n"
        func send(_ status: Int, _ body: String, _ fields: String = "") {
            client.send("HTTP/1.1 \(status) X\r\n\(end)\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            if !isKept { client.close() }
        }
        switch client.draw(0...(isCalm ? 5 : 10)) {
        case 0, 1, 2: send(200, "fine")
        case 3: send(503, "busy")
        case 4: send(429, String(repeating: "x", count: 3000), "Retry-After: \(client.draw(0...3))\r\n")
        case 5: client.after(.milliseconds(client.draw(0...900))) { _ in send(500, "slow") }
        case 6: client.close()
        case 7: client.reset()
        case 8:
            client.send("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\nhalf")
            client.after(.milliseconds(client.draw(0...50))) { $0.close() }
        case 9: client.send("HTTP/1.1 503 X\r\nContent-Length: 900000\r\n\r\nendless")
        default: break
        }
    }

    private func makeSession(_ scratch: ScratchFolder, perHost: Int, delay: ClosedRange<Int>) {
        let (session, queue) = world.makeSession(delegate: recorder) { configuration in
            configuration.httpMaximumConnectionsPerHost = perHost
            configuration.timeoutIntervalForRequest = 20
            configuration.timeoutIntervalForResource = 400
            configuration.temporaryFolder = scratch.url
            configuration.requestInterceptors = [
                AdaptingInterceptor { request, _ in
                    await Task.yield()
                    var request = request
                    request.setValue("1", forHTTPHeaderField: "X-Adapted")
                    return request
                }
            ]
        }
        queue.setDelay(delay)
        self.session = session
    }

    private func makeTask(_ plan: RepetitionPlan) {
        guard let session else { return }
        var request = URLRequest(plan.method, URL(string: "http://api.test/")!, fields: ["X-Task": plan.name])
        if plan.hasKey { request.setValue("key", forHTTPHeaderField: "Idempotency-Key") }
        if plan.isStreamed {
            request.httpBodyStream = InputStream(data: Data(plan.body))
        } else if !plan.body.isEmpty {
            request.httpBody = Data(plan.body)
        }
        request.requestInterceptors = [RetryRules(maximumAttempts: plan.attempts)]
        let number = tasks.count + 1
        let (recorder, files) = (recorder, files)
        let task: URLSessionTask =
            switch plan.style {
            case .delegate: session.dataTask(with: request)
            case .download:
                session.downloadTask(with: request) { url, response, error in
                    let length = url.flatMap { try? Data(contentsOf: $0).count }
                    files.withLock { $0[number] = length }
                    recorder.complete(session, nil, number, nil, response, error)
                }
            case .completion:
                session.dataTask(with: request) { recorder.complete(session, nil, number, $0, $1, $2) }
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

    /// How many of its requests were sent more than once.
    var repeated: Int { book.heads.values.count { $0 > 1 } }

    /// Runs it, and returns everything that was wrong.
    func run() -> [String] {
        world.run(limit: .seconds(200_000)) {
            tasks.allSatisfy { recorder.record(of: $0.taskIdentifier).completions > 0 }
        }
        world.advance(by: .seconds(10))
        var violations = book.violations
        for (plan, task) in zip(plans, tasks) { violations += judge(plan, task) }
        tasks = []
        session = nil
        return violations + world.finish(expectsRelease: true)
    }

    private func judge(_ plan: RepetitionPlan, _ task: URLSessionTask) -> [String] {
        var found: [String] = []
        let record = recorder.record(of: task.taskIdentifier)
        let heads = book.heads[plan.name] ?? 0
        if record.completions != 1 { found.append("ended \(record.completions) times; it is \(task.state)") }
        if task.state != .completed { found.append("it is \(task.state) at its end") }
        // An idempotent request may go out once more on its own, for each attempt whose connection was old.
        let most = plan.attempts * (plan.method == "POST" ? 1 : 2)
        if heads > most { found.append("sent \(heads) times of \(most)") }
        if !plan.mayBeSentTwice, book.bodies[plan.name] ?? 0 > 1 { found.append("acted on twice without permission") }
        if plan.isStreamed, book.bodies[plan.name] ?? 0 > 1 { found.append("a stream was read twice") }
        if record.events.count(where: \.isResponse) > 1 { found.append("two responses") }
        if task.countOfBytesSent > plan.body.count { found.append("\(task.countOfBytesSent) bytes sent") }
        let status = (task.response as? HTTPURLResponse)?.statusCode
        if record.error == nil, record.completions == 1 {
            let length = plan.style == .download ? files.withLock { $0[task.taskIdentifier] ?? -1 } : record.body.count
            let expected = [200: 4, 503: 4, 500: 4, 429: 3000][status ?? 0]
            if length != expected { found.append("\(length) bytes with \(status ?? 0)") }
        }
        // The delegate is asked for another stream, and has none.
        let hasNoStream = plan.isStreamed && record.error?.code == .requestBodyStreamExhausted
        if isCalm, let error = record.error, !hasNoStream {
            found.append("failed for no reason: \(error.code.rawValue) \(error.loadFailure?.message ?? "")")
        }
        return found.map { "\(plan.name): \($0) \(record.events)" }
    }
}

extension TaskEvent {
    fileprivate var isResponse: Bool { if case .response = self { true } else { false } }
}
