/// One seeded run: sessions, hosts, tasks, everything that happens to them, and what
/// the oracle has to say about it.
final class Conversation {
    let world: VirtualWorld
    /// All servers speak TLS.
    let isSecured: Bool
    let route: SimulatedRoute
    let size: ConversationSize
    let plans: [TaskPlan]
    let book: ServerBook
    private(set) var members: [Member] = []
    private(set) var tasks: [RunningTask] = []
    private var random: SeededGenerator
    private let answers = Lock<[LateAnswer]>([])
    /// Tasks that were cancelled in a callback, or because a delegate never answered.
    private let lost = Lock<Set<String>>([])
    private var interventions: [(at: LoopInstant, task: Int, what: TaskPlan.Intervention)] = []

    /// A session and those who listen to it.
    struct Member {
        let session: URLSession
        let queue: VirtualQueue
        let recorder: EventRecorder
        /// It takes no new tasks.
        var isEnded = false
        /// Its tasks were cancelled.
        var isCancelled = false
    }

    struct RunningTask {
        let plan: TaskPlan
        let task: URLSessionDataTask
        var isResumed = false
        var isCancelled = false
        var suspensions = 1
    }

    private struct LateAnswer: Sendable {
        let due: LoopInstant
        let give: @Sendable () -> Void
    }

    static func secret(_ session: Int, _ host: Int) -> String { "canary-\(session)-\(host)" }

    init(seed: UInt64, isSecured: Bool = false, by route: SimulatedRoute = .direct, traced: Bool = false) {
        self.isSecured = isSecured
        self.route = route
        var random = SeededGenerator(seed: isSecured ? ~seed : seed)
        let size = ConversationSize(&random)
        self.size = size
        plans = (0..<size.tasks).map { TaskPlan.random($0, size, &random) }
        book = ServerBook(plans)
        world = VirtualWorld(seed: seed, holdsBack: random.pick([0, 0, 30]))
        world.faults.arm(FaultPoint.allCases.filter { $0.isKind || !size.isCalm }, share: random.pick([0, 5, 15, 30]))
        self.random = random
        if traced { world.startTracing() }
        setUpNetwork()
        for index in 0..<size.sessions { members.append(makeMember(index)) }
        tasks = plans.map { RunningTask(plan: $0, task: makeTask($0)) }
    }

    // MARK: - Setting up

    private func setUpNetwork() {
        var link = LinkConditions.random(using: &random)
        if size.isCalm { link.latency = 0...min(link.latency.upperBound, 1_000_000) }
        world.network.link = link
        world.network.recordsBytes = false
        var hosts = SimulatedHosts(route, isSecured: isSecured, book, in: world)
        for host in 0..<size.hosts {
            let addresses = (0..<random.pick(1...3)).map { number in
                random.chance(30) ? "2001:db8:0:0:0:0:\(host + 1):\(number + 1)" : "192.0.\(host + 2).\(number + 1)"
            }
            world.host("host\(host).test", addresses, after: .milliseconds(random.pick([0, 0, 30, 1500])))
            hosts.add(host, addresses, isOld: random.chance(30))
            for address in addresses { setReachability(of: address) }
        }
        hosts.serve(port: port)
        if !size.isCalm, random.chance(5) { world.network.failsNextSockets = [24, 24] }
    }

    private var port: UInt16 { isSecured ? 443 : 80 }

    private func setReachability(of address: String) {
        guard !size.isCalm, random.chance(25) else { return }
        let choices: [VirtualNetwork.Reachability] = [
            .refuses(), .refuses(after: .milliseconds(300)), .neverAnswers, .acceptsAfter(.milliseconds(700)),
            .failsAtOnce(101),
        ]
        world.set(random.pick(choices), for: address, port: port)
    }

    private func makeMember(_ index: Int) -> Member {
        let recorder = EventRecorder()
        let (perHost, idle) = (random.pick([1, 2, 6]), random.pick([1, 64]))
        let resource = size.isCalm ? 0 : random.pick([0, 0, 20])
        let (session, queue) = world.makeSession(delegate: recorder) { configuration in
            configuration.httpMaximumConnectionsPerHost = perHost
            configuration.maximumIdleConnections = idle
            configuration.idleConnectionTimeout = 30
            if isSecured, let sites = try? SecuredSites.shared.get() { configuration.tls = sites.tls }
            if let proxies = route.proxies { configuration.proxies = proxies }
            if resource > 0 { configuration.timeoutIntervalForResource = Double(resource) }
        }
        queue.setDelay(random.pick([0...0, 0...0, 0...20_000_000]))
        let plans = plans.filter { $0.session == index && $0.style == .delegate }
        prepareAnswers(recorder, plans)
        let bound = ThreadBound(WeakConversation(self))
        recorder.onEvent { session, task, _ in bound.value.conversation?.interfere(index, session, task) }
        return Member(session: session, queue: queue, recorder: recorder)
    }

    private func prepareAnswers(_ recorder: EventRecorder, _ plans: [TaskPlan]) {
        let wanted = Dictionary(plans.map { ($0.nonce, ($0.answersAfter, $0.refuses)) }) { first, _ in first }
        let clock = ThreadBound(world.clock)
        let faults = ThreadBound(world.faults)
        recorder.onResponse { [answers, lost] task, answer in
            let nonce = task.originalRequest?.value(forHTTPHeaderField: "X-Nonce") ?? ""
            let (delay, refuses) = wanted[nonce] ?? (0, false)
            if faults.value.strikes(.delegateSilent) {
                lost.withLock { _ = $0.insert(nonce) }
                let patience = LateAnswer(due: clock.value.now + .seconds(100)) { task.cancel() }
                return answers.withLock { $0.append(patience) }
            }
            if refuses { faults.value.note(.delegateRefuses) }
            let give: @Sendable () -> Void = { answer(refuses ? .cancel : .allow) }
            guard delay > 0 else { return give() }
            faults.value.note(.delegateLate)
            let late = LateAnswer(due: clock.value.now + .milliseconds(delay), give: give)
            answers.withLock { $0.append(late) }
        }
    }

    private func makeTask(_ plan: TaskPlan) -> URLSessionDataTask {
        var request = URLRequest(
            url: URL(string: "\(isSecured ? "https" : "http")://host\(plan.host).test/\(plan.nonce)")
                ?? URL(fileURLWithPath: "/")
        )
        request.httpMethod = plan.method
        request.timeoutInterval = Double(plan.idleTimeout)
        request.setValue(plan.nonce, forHTTPHeaderField: "X-Nonce")
        request.setValue(Conversation.secret(plan.session, plan.host), forHTTPHeaderField: "X-Secret")
        if plan.upload > 0 {
            request.httpBody = Data(plan.uploadBody)
            if plan.isCoded { request.bodyCoding = .gzip }
            if plan.hasTrailer { request.trailers = RequestTrailers("X-Sum") { ["X-Sum": plan.nonce] } }
        }
        let member = members[plan.session]
        let identifier = plan.number
        let task =
            switch plan.style {
            case .delegate: member.session.dataTask(with: request)
            case .completion:
                member.session.dataTask(with: request) { [recorder = member.recorder, weak session = member.session] in
                    if let session { recorder.complete(session, nil, identifier, $0, $1, $2) }
                }
            }
        task.priority = plan.priority
        return task
    }

    // MARK: - Running

    func run() {
        for (index, running) in tasks.enumerated() {
            schedule(running.plan.startsAt, index, .resume)
            for intervention in running.plan.interventions {
                schedule(running.plan.startsAt + intervention.after, index, intervention.what)
            }
        }
        interventions.sort { ($0.at, $0.task) < ($1.at, $1.task) }
        while !interventions.isEmpty { pass(until: interventions[0].at) { interveneNow() } }
        // A suspended task would wait for ever.
        for index in tasks.indices { while tasks[index].suspensions > 0 { perform(.resume, index) } }
        let end = world.now + .seconds(200_000)
        while !isDone, world.now < end {
            let due = min(end, answers.withLock { $0.map(\.due).min() } ?? end)
            let isMoving = pass(until: due) {}
            if !isMoving, due == end { break }
        }
        // What is still under way to a server belongs to the story.
        world.advance(by: .seconds(1))
    }

    private var isDone: Bool {
        tasks.allSatisfy { record($0).completions > 0 || isUnheard($0) }
    }

    /// It ended after its delegate had been released.
    func isUnheard(_ running: RunningTask) -> Bool {
        running.plan.style == .delegate && members[running.plan.session].isEnded && running.task.state == .completed
            && members[running.plan.session].recorder.invalidations > 0
    }

    func record(_ running: RunningTask) -> TaskRecord {
        let identifier = running.plan.style == .delegate ? running.task.taskIdentifier : running.plan.number
        return members[running.plan.session].recorder.record(of: identifier)
    }

    private func schedule(_ milliseconds: Int, _ task: Int, _ what: TaskPlan.Intervention) {
        interventions.append((world.now + .milliseconds(milliseconds), task, what))
    }

    /// Runs until then, or until a late answer is due or everything is over.
    @discardableResult
    private func pass(until time: LoopInstant, _ then: () -> Void) -> Bool {
        var isMoving = false
        while world.now < time || isMoving {
            giveLateAnswers()
            let due = min(time, answers.withLock { $0.map(\.due).min() } ?? time)
            if isDone, interventions.isEmpty { return true }
            isMoving = world.step(until: due)
            if !isMoving {
                if due > world.now { world.advance(by: world.now.duration(to: due)) }
                if due == time { break }
            }
            if world.now >= time { break }
        }
        giveLateAnswers()
        then()
        return isMoving
    }

    private func giveLateAnswers() {
        let now = world.now
        let due = answers.withLock { answers in
            let due = answers.filter { $0.due <= now }
            if !due.isEmpty { answers.removeAll { $0.due <= now } }
            return due
        }
        for answer in due { answer.give() }
    }

    /// They hold tasks.
    private func forgetAnswers() {
        _ = answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
    }

    private func interveneNow() {
        while let first = interventions.first, first.at <= world.now {
            interventions.removeFirst()
            perform(first.what, first.task)
        }
    }

    private func perform(_ what: TaskPlan.Intervention, _ index: Int) {
        let task = tasks[index].task
        let session = tasks[index].plan.session
        world.note("\(what) \(tasks[index].plan.nonce)")
        world.faults.note(what.point)
        switch what {
        case .resume:
            if tasks[index].suspensions > 0 { tasks[index].suspensions -= 1 }
            tasks[index].isResumed = true
            task.resume()
        case .suspend:
            tasks[index].suspensions += 1
            task.suspend()
        case .cancel, .cancelTwice:
            tasks[index].isCancelled = true
            task.cancel()
            if what == .cancelTwice { task.cancel() }
        case .priority: task.priority = 0.9
        case .resetSession: members[session].session.reset {}
        case .finishSession:
            members[session].isEnded = true
            members[session].session.finishTasksAndInvalidate()
        case .endSession:
            members[session].isEnded = true
            members[session].isCancelled = true
            members[session].session.invalidateAndCancel()
        case .connect:
            guard let url = task.originalRequest?.url else { return }
            Connecting(url, count: 2, in: members[session].session).begin()
        }
    }

    /// Whether its delegate has cancelled a task.
    func isLost(_ nonce: String) -> Bool { lost.withLock { $0.contains(nonce) } }

    /// What a delegate does to its own task and session in the middle of a callback.
    private func interfere(_ member: Int, _ session: URLSession, _ task: URLSessionTask?) {
        guard members.indices.contains(member) else { return }
        let faults = world.faults
        if let task, let nonce = task.originalRequest?.value(forHTTPHeaderField: "X-Nonce") {
            if faults.strikes(.callbackCancels) {
                lost.withLock { _ = $0.insert(nonce) }
                task.cancel()
            }
            if faults.strikes(.callbackSuspends) {
                task.suspend()
                let due = world.now + .nanoseconds(faults.delay(.callbackSuspends, milliseconds: 0...3000))
                answers.withLock { $0.append(LateAnswer(due: due) { task.resume() }) }
            }
        }
        if faults.strikes(.callbackResetsSession) { session.reset {} }
        if faults.strikes(.callbackEndsSession) {
            members[member].isEnded = true
            members[member].isCancelled = true
            session.invalidateAndCancel()
        }
    }

    /// Whether a server forges answers on the connections the task may have used.
    func mayBeForged(_ plan: TaskPlan) -> Bool {
        plans.contains { other in
            (other.behaviour == .poisons || other.behaviour == .poisonsLater) && other.session == plan.session
                && other.host == plan.host
        }
    }

    /// Ends it, and returns everything that was wrong.
    func conclude() -> [String] {
        var violations = Oracle(self).violations
        forgetAnswers()
        let (recorders, wereEnded) = (members.map(\.recorder), members.map(\.isEnded))
        if random.chance(50) { for member in members { member.session.finishTasksAndInvalidate() } }
        members = []
        tasks = []
        violations += world.finish(expectsRelease: true)
        for (recorder, wasEnded) in zip(recorders, wereEnded) {
            if recorder.invalidations != 1 { violations.append("\(recorder.invalidations) times invalid") }
            if recorder.eventsAfterInvalidation > 0 { violations.append("events after the session became invalid") }
            if recorder.handlersAfterInvalidation > 0, !wasEnded {
                violations.append("handlers after the session became invalid")
            }
        }
        return violations
    }
}

/// Delegates are held by their sessions, which conversations hold.
private struct WeakConversation {
    weak var conversation: Conversation?

    init(_ conversation: Conversation) {
        self.conversation = conversation
    }
}

extension TaskPlan.Intervention {
    fileprivate var point: FaultPoint {
        switch self {
        case .cancel: .stepCancel
        case .cancelTwice: .stepCancelTwice
        case .suspend: .stepSuspend
        case .resume: .stepResume
        case .priority: .stepPriority
        case .resetSession: .stepResetSession
        case .finishSession: .stepFinishSession
        case .endSession: .stepEndSession
        case .connect: .stepConnect
        }
    }
}

extension TaskPlan {
    /// Completion handlers are recorded under a number no task of a delegate has.
    var number: Int { 10_000 + (Int(nonce.dropFirst()) ?? 0) }
}
