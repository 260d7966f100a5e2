import AFFaults
import CAFLinux

/// What a client does all day, as a scenario in which any system call may fail once.
struct FaultScenario {
    let server: TestServer
    /// A name instead of an address, so that the resolver takes part.
    let base: URL
    /// Made anew each time: a global `Data` looks like a leak to the leak sanitizer.
    private static var upload: Data { Data(repeating: 0x75, count: 300_000) }
    private static let downloadSize = 300_000

    /// What it takes to trust the server, if that speaks TLS.
    private let tls: TLSConfiguration

    init(isSecured: Bool = false) throws {
        let site = try isSecured ? SecuredSite() : nil
        server = try site?.server ?? TestServer()
        tls = site?.tls ?? TLSConfiguration()
        base = try #require(URL(string: "\(isSecured ? "https" : "http")://localhost:\(server.port)"))
        server.route("GET", "/hello", .text("hello"))
        server.route("POST", "/echo") { .text("\($0.bodyByteCount)") }
        server.route("GET", "/big") { _ in .stream(.repeating("d", count: Self.downloadSize)).chunked(7000) }
    }

    private var requests: [(URLRequest, answer: String)] {
        let hello = URLRequest(url: base.appendingPathComponent("hello"))
        let echo = URLRequest("POST", base.appendingPathComponent("echo"), body: Self.upload)
        let big = URLRequest(url: base.appendingPathComponent("big"))
        return [
            (hello, "hello"), (echo, "300000"), (big, String(repeating: "d", count: Self.downloadSize)),
            (hello, "hello"),
        ]
    }

    private func configure(_ configuration: URLSessionConfiguration) {
        configuration.timeoutIntervalForRequest = 5
        configuration.tls = tls
    }

    /// Runs all requests in a world of their own.
    ///
    /// - Returns: The errors there were. Records an issue if a task does not end exactly
    ///   once, an answer is wrong, or something is left open.
    func run(_ what: Comment) async throws -> [Outcome] {
        let before = LeakCheck.now
        let log = EventLog()
        let failures = try await OwnWorld.run(delegate: log, configure) { session in
            let failures = try await load(with: session, what)
            session.finishTasksAndInvalidate()
            let events = try await log.events.wait { $0.contains(.invalid) }
            #expect(events.last == .invalid, what)
            return failures
        }
        if let excess = before.excess() { Issue.record("\(what): left open: \(excess)") }
        return failures
    }

    private func load(with session: URLSession, _ what: Comment) async throws -> [Outcome] {
        var failures: [Outcome] = []
        for (request, answer) in requests {
            let outcomes = Outcomes()
            session.dataTask(with: request, completionHandler: outcomes.handler).resume()
            let outcome = try await outcomes.first()
            #expect(outcome.error != nil || outcome.text == answer, what)
            #expect(outcomes.all.value.count == 1, what)
            if outcome.error != nil { failures.append(outcome) }
        }
        return failures
    }

    /// Lets every call of one kind fail in turn.
    static func enumerate(
        _ fault: FaultInjector.Fault,
        of call: caf_call,
        mayFail: Int,
        limit: Int = 200,
        isSecured: Bool = false
    ) async throws {
        _ = try await OwnWorld.leakCheck()
        let scenario = try FaultScenario(isSecured: isSecured)
        let count = try await FaultInjector.enumerate(fault, of: call, limit: limit) { ordinal in
            let what: Comment = "call \(ordinal) of kind \(call.rawValue) \(fault)"
            let failures = try await scenario.run(what)
            #expect(failures.count <= mayFail, "\(what): \(failures)")
            for failure in failures {
                #expect([-1001, -1003, -1004, -1005, -1006, -1009].contains(failure.code), "\(what): \(failure)")
            }
        }
        #expect(count > 0, "the fault never happened")
        #expect(FaultInjector.badCloses == 0)
    }
}
