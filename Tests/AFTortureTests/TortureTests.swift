import AFBase
import AFFaults
import AFLoop
import AFNetworkingTesting
import AFTorture
import AFURLSession
import Foundation
import Glibc
import Testing

/// Whether the machine finds what it is meant to find.
enum TortureTests {
    /// Plays a scenario with all faults of one call, in this process, and returns what is reported.
    static func play(
        _ scenario: Scenario,
        faults calls: Set<String>,
        heldBlocks: @escaping @Sendable () -> Int = { 0 }
    ) async throws -> [Report] {
        let temporary = FileManager.default.temporaryDirectory.appending(path: "af-torture-test-\(getpid())")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: temporary) }
        let reports = Lock<[Report]>([])
        let source = SomeFaults(calls: calls, blocks: heldBlocks)
        let torture = Torture(scenario, sources: [source], temporary: temporary) { report in
            reports.withLock { $0.append(report) }
        }
        await torture.run()
        return reports.withLock { $0 }
    }

    /// The system's, but for a few calls only.
    private struct SomeFaults: FaultSource {
        let all = SystemFaults()
        let calls: Set<String>
        let blocks: @Sendable () -> Int

        var faults: [Fault] { all.faults.filter { calls.contains($0.call) } }
        func watch() { all.watch() }
        func arm(_ point: FaultPoint) { all.arm(point) }
        func disarm() { all.disarm() }
        func calls(of number: Int32) -> Int { all.calls(of: number) }
        var hasFired: Bool { all.hasFired }
        var offences: Int { all.offences }
        var heldBlocks: Int { blocks() }
        func spare<Result>(_ body: () throws -> Result) rethrows -> Result { try all.spare(body) }
    }

    private static func findings(_ reports: [Report]) -> [String] {
        reports.compactMap { report in
            if case .finding(let point, let text) = report { "\(point) \(text)" } else { nil }
        }
    }

    private static func failures(_ reports: [Report]) -> Int {
        reports.count { if case .ended(_, hasFired: true) = $0 { true } else { false } }
    }

    /// One at a time, each in a process of its own: there is one hook for all system calls.
    @Suite(.serialized)
    struct Alone {
        @Test func `M-01 every socket that cannot be made spoils one request, and nothing is found`() async {
            await #expect(processExitsWith: .success) {
                let reports = try await TortureTests.play(
                    Scenario(.plain, "get") { stage in
                        let server = try stage.server { $0.route("GET", "/hello", .text("hello")) }
                        let session = stage.session(again: server.url("/again"))
                        for _ in 1...2 { await stage.load(server.url("/hello"), in: session, expecting: "hello") }
                    },
                    faults: ["socket", "connect"]
                )
                #expect(TortureTests.findings(reports).isEmpty, "\(TortureTests.findings(reports))")
                #expect(TortureTests.failures(reports) >= 20 && reports.last == .done)
            }
        }

        @Test func `a scenario that tells a secret, leaks and completes twice is found out`() async {
            await #expect(processExitsWith: .success) {
                let reports = try await TortureTests.play(
                    Scenario(.plain, "bad") { stage in
                        let server = try stage.server { $0.route("GET", "/hello", .text("hello")) }
                        let session = stage.session(again: server.url("/again"))
                        var request = URLRequest(url: server.url("/hello"))
                        request.setValue("Basic \(stage.secret("password"))", forHTTPHeaderField: "Authorization")
                        await stage.load(request, in: session, expecting: "goodbye")
                        let completion = stage.completion(of: "the task", as: Int.self)
                        completion.call(1)
                        completion.call(2)
                        _ = dup(0)
                    },
                    faults: ["socket"]
                )
                let text = TortureTests.findings(reports).joined(separator: "\n")
                #expect(text.contains("told the secret password"), "\(text)")
                #expect(text.contains("the task completed 2 times"), "\(text)")
                #expect(text.contains("5 bytes that are not the 7"), "\(text)")
                #expect(text.contains("left over: descriptors"), "\(text)")
                #expect(TortureTests.failures(reports) == 0)
            }
        }

        @Test func `memory that is lost each time is found out, and what is kept for the next use is not`() async {
            await #expect(processExitsWith: .success) {
                let held = Lock((lost: 0, isCached: false))
                let reports = try await TortureTests.play(
                    Scenario(.plain, "wasteful") { stage in
                        let server = try stage.server { $0.route("GET", "/hello", .text("hello")) }
                        let session = stage.session(again: server.url("/again"))
                        await stage.load(server.url("/hello"), in: session, expecting: "hello")
                        switch stage.point?.description {
                        case "socket:EMFILE:1": held.withLock { $0.lost += 3 }
                        case "socket:ENFILE:1": held.withLock { $0.isCached = true }
                        default: break
                        }
                    },
                    faults: ["socket"],
                    heldBlocks: { held.withLock { $0.lost + ($0.isCached ? 5 : 0) } }
                )
                let findings = TortureTests.findings(reports)
                let losses = Array(repeating: 3, count: 8)
                #expect(findings == ["socket:EMFILE:1 left over: blocks of memory, in each playing: \(losses)"])
                #expect(held.withLock { $0.isCached })
            }
        }

        @Test func `a scenario that changes the process, leaves a timer and tells a secret is found out`() async {
            await #expect(processExitsWith: .success) {
                let reports = try await TortureTests.play(
                    Scenario(.plain, "careless") { stage in
                        let server = try stage.server { $0.route("GET", "/hello", .text("hello")) }
                        let session = stage.session(again: server.url("/again"))
                        await stage.load(server.url("/hello"), in: session, expecting: "hello")
                        _ = umask(umask(0) ^ 0o010)
                        let completion = stage.completion(of: "the call", as: Int.self)
                        let loop = stage.machine.loop
                        loop.enqueue {
                            let target = NoTarget()
                            _ = loop.startTimer(at: loop.now + .seconds(3600), for: target)
                            completion.call(1)
                        }
                        _ = await completion.value()
                        let word = Data(stage.secret("password", for: server).utf8)
                        try word.write(to: stage.folder.appending(path: "notes"))
                    },
                    faults: ["socket"]
                )
                let text = TortureTests.findings(reports).joined(separator: "\n")
                #expect(text.contains("the process was changed: Umask:"), "\(text)")
                #expect(text.contains("left in the loop: 1 timers, 0 channels"), "\(text)")
                #expect(text.contains("the call completed on the thread of the network"), "\(text)")
                #expect(text.contains("the file notes tells the secret password"), "\(text)")
                #expect(TortureTests.failures(reports) == 0)
            }
        }

        @Test func `what is told of a task before it is resumed is found out`() async {
            await #expect(processExitsWith: .success) {
                let reports = try await TortureTests.play(
                    Scenario(.plain, "hasty") { stage in
                        let book = stage.eventBook()
                        let session = stage.session(again: nil, delegate: book)
                        let task = session.dataTask(with: URL(fileURLWithPath: "/"))
                        book.urlSession(
                            session,
                            task: task,
                            didSendBodyData: 5,
                            totalBytesSent: 9,
                            totalBytesExpectedToSend: 7
                        )
                        task.cancel()
                    },
                    faults: ["socket"]
                )
                let text = TortureTests.findings(reports).joined(separator: "\n")
                #expect(text.contains("progress of task 1, which was not resumed"), "\(text)")
                #expect(text.contains("5 bytes more than 0 are 9 of task 1, 9 bytes of 7 of task 1"), "\(text)")
            }
        }

        @Test func `an interruption that a program notices is found out`() async {
            await #expect(processExitsWith: .success) {
                let reports = try await TortureTests.play(
                    Scenario(.plain, "touchy") { stage in
                        let server = try stage.server { $0.route("GET", "/hello", .text("hello")) }
                        let session = stage.session(again: server.url("/again"))
                        await stage.load(server.url("/hello"), in: session, expecting: "hello")
                        if FaultInjector.hasFired { stage.note(CancellationError(), in: "the scenario") }
                    },
                    faults: ["setsockopt"]
                )
                let findings = TortureTests.findings(reports)
                #expect(findings.count == TortureTests.failures(reports) && findings.count > 3, "\(findings)")
                #expect(findings.allSatisfy { $0.contains("1 steps failed, not 0 at most") }, "\(findings)")
            }
        }
    }

    private final class NoTarget: TimerTarget {
        func timerFired(_ timer: TimerID) {}
    }

    struct Lines {
        @Test(arguments: [
            Report.planned(12), .begun("recv:ECONNRESET:3"), .ended("recv", hasFired: true),
            .ended("recv", hasFired: false), .finding("nothing", "a text"), .done,
        ])
        func `what a process tells is read as it was told`(report: Report) {
            #expect(Report(line: report.line) == report)
        }

        @Test func `a text of several lines is told in one`() {
            #expect(Report(line: Report.finding("p", "a\nb\tc").line) == .finding("p", "a b c"))
            #expect(Report(line: "what a program prints") == nil)
        }
    }
}
