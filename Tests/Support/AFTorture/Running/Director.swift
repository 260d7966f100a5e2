import AFFaults
package import Foundation
import Glibc

/// Has scenarios played, two at a time, each in a process of its own, and says how it gets on.
package final class Director {
    /// The program, which plays a single scenario when it is told to.
    private let program: String
    private let options: Torture.Options
    private let stages: URL
    private let began = ContinuousClock.now
    private var waiting: [Scenario]
    private var running: [Troupe] = []
    private var ended: [Troupe] = []
    private let isTerminal = isatty(2) == 1
    private var lastLine = ContinuousClock.now

    package init(_ scenarios: [Scenario], program: String, options: Torture.Options, stages: URL) {
        self.program = program
        self.options = options
        self.stages = stages
        waiting = scenarios
    }

    /// Plays all, and prints a table.
    ///
    /// - Returns: Whether nothing was found.
    package func run(atOnce width: Int = 2) throws -> Bool {
        while !waiting.isEmpty || !running.isEmpty {
            while running.count < width, !waiting.isEmpty {
                let troupe = Troupe(waiting.removeFirst(), program: program, options: options, stages: stages)
                try troupe.start()
                running.append(troupe)
            }
            listen()
            tell()
        }
        for troupe in ended { try playAgain(troupe) }
        if isTerminal { Self.write("\r\u{1B}[K") }
        print(Table(ended, seconds: seconds).text)
        print("seed: \(options.seed)")
        return ended.allSatisfy { $0.findings.isEmpty }
    }

    /// Plays what was found once more, in fresh processes, and says what comes of it. A finding remains one.
    private func playAgain(_ troupe: Troupe) throws {
        guard options.only == nil else { return }
        var points: [String] = []
        for finding in troupe.findings where !points.contains(finding.point) { points.append(finding.point) }
        for point in points.prefix(Self.mostAgain) {
            var only = options
            only.only = point
            let again = Troupe(troupe.scenario, program: program, options: only, stages: stages)
            try again.start()
            while !again.listen() {}
            let texts = again.findings.isEmpty ? ["nothing is found"] : again.findings.map(\.text)
            for text in texts { say("\(troupe.scenario.id) \(point) again: \(text)") }
        }
    }

    /// More of one scenario have the same reason.
    private static let mostAgain = 5

    private var seconds: Double { (ContinuousClock.now - began) / .seconds(1) }

    private func listen() {
        var polled = running.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&polled, nfds_t(polled.count), 500) > 0 else { return }
        for (troupe, state) in zip(running, polled) where state.revents != 0 {
            let before = troupe.findings.count
            let isOver = troupe.listen()
            for finding in troupe.findings[before...] { show(finding, of: troupe) }
            if isOver {
                running.removeAll { $0 === troupe }
                ended.append(troupe)
            }
        }
    }

    private func show(_ finding: Finding, of troupe: Troupe) {
        let fault = finding.point == "nothing" ? "" : " --fault \(finding.point)"
        let line = "./dev torture --scenario \(troupe.scenario.id)\(fault) --seed \(options.seed)"
        say("\(troupe.scenario.id) \(finding.point): \(finding.text)\n    \(line)")
    }

    private func say(_ text: String) {
        if isTerminal { Self.write("\r\u{1B}[K") }
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }

    /// A line that is written over on a terminal, and comes now and then elsewhere.
    private func tell() {
        let pause = isTerminal ? Duration.milliseconds(200) : .seconds(15)
        guard .now - lastLine > pause else { return }
        lastLine = .now
        let all = running + ended
        let fired = all.reduce(0) { $0 + $1.fired }
        let found = all.reduce(0) { $0 + $1.findings.count }
        let line =
            "\(ended.count) of \(all.count + waiting.count) scenarios, \(fired) failures injected, \(found) findings,"
            + " \(Int(fired > 0 ? Double(fired) / seconds : 0)) a second\(timeLeft(all))"
        Self.write(isTerminal ? "\r\u{1B}[K\(line)" : "\(line)\n")
    }

    private static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

    /// As long as those that are known have taken, by the faults they planned.
    private func timeLeft(_ all: [Troupe]) -> String {
        let known = all.filter { $0.planned > 0 }
        let (planned, tried) = (known.reduce(0) { $0 + $1.planned }, known.reduce(0) { $0 + min($1.tried, $1.planned) })
        guard tried > 100 else { return "" }
        let average = Double(planned) / Double(known.count)
        let left = Double(planned - tried) + average * Double(all.count - known.count + waiting.count)
        let minutes = Int((left * seconds / Double(tried) / 60).rounded(.up))
        return ", about \(minutes) min left"
    }
}

/// Something that went wrong.
struct Finding {
    let point: String
    let text: String
}

/// A scenario, and the process that plays it; the next one, if that dies.
final class Troupe {
    let scenario: Scenario
    private let program: String
    private let options: Torture.Options
    private let stages: URL
    private let began = ContinuousClock.now
    private(set) var seconds = 0.0
    private(set) var planned = 0
    private(set) var tried = 0
    /// How many calls have failed, by their kinds.
    private(set) var failures: [String: Int] = [:]
    private(set) var findings: [Finding] = []
    private var process: pid_t = 0
    private(set) var descriptor: Int32 = -1
    private var rest: [UInt8] = []
    private var begun: String?
    private var isDone = false
    private var deaths = 0

    /// After so many crashes nothing new is to be learnt.
    private static let mostDeaths = 12

    init(_ scenario: Scenario, program: String, options: Torture.Options, stages: URL) {
        self.scenario = scenario
        self.program = program
        self.options = options
        self.stages = stages
    }

    var fired: Int { failures.values.reduce(0, +) }

    private var temporary: URL { stages.appending(path: scenario.id.replacingOccurrences(of: "/", with: "-")) }

    func start(after last: String? = nil) throws {
        try? FileManager.default.removeItem(at: temporary)
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        var words = ["--play", scenario.id, "--sample", "\(options.percent)", "--seed", "\(options.seed)"]
        if let only = options.only { words += ["--fault", only] }
        if let last { words += ["--after", last] }
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = temporary.path
        environment["HOME"] = temporary.path
        for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
            environment[name] = nil
            environment[name.uppercased()] = nil
        }
        let errors = open(errorsPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(errors) }
        var command = [program] + words
        if scenario.group == .reachability, let network = OwnNetwork.prefix {
            command = network + [try FileManager.default.destinationOfSymbolicLink(atPath: program)] + words
            environment[OwnNetwork.variable] = "1"
        }
        (process, descriptor) = try ChildProcess.start(
            command[0],
            Array(command[1...]),
            environment: environment,
            errors: errors
        )
        begun = nil
        rest = []
    }

    private var errorsPath: String { temporary.path + ".errors" }

    /// Reads what the process says.
    ///
    /// - Returns: Whether it was the last one of this scenario.
    func listen() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &buffer, buffer.count)
        if count > 0 {
            rest += buffer[..<count]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                if let report = Report(line: String(decoding: rest[..<end], as: UTF8.self)) { take(report) }
                rest.removeFirst(end + 1)
            }
            return false
        }
        if count < 0, errno == EINTR || errno == EAGAIN { return false }
        close(descriptor)
        descriptor = -1
        return isOver(after: ChildProcess.wait(for: process))
    }

    private func take(_ report: Report) {
        switch report {
        case .planned(let count): if planned == 0 { planned = count }
        case .begun(let point): begun = point
        case .ended(let call, let hasFired):
            tried += 1
            if hasFired { failures[call, default: 0] += 1 }
        case .finding(let point, let text): findings.append(Finding(point: point, text: text))
        case .done: isDone = true
        }
    }

    private func isOver(after status: Int32) -> Bool {
        seconds = (ContinuousClock.now - began) / .seconds(1)
        defer { if isDone { try? FileManager.default.removeItem(at: temporary) } }
        let said = (try? Data(contentsOf: URL(fileURLWithPath: errorsPath))) ?? Data()
        let errors = String(decoding: said, as: UTF8.self)
        if errors.contains(Secret.mark) {
            findings.append(Finding(point: begun ?? "nothing", text: "standard error tells a secret: \(errorsPath)"))
        }
        if isDone { return true }
        if status != Watchdog.code {
            let reason = errors.split(separator: "\n").first { $0.contains("atal error") || $0.contains("rashed") }
            let end = status < 0 ? "signal \(-status)" : "exit code \(status)"
            findings.append(
                Finding(point: begun ?? "nothing", text: "the process ended with \(end) \(reason ?? "")")
            )
            try? FileManager.default.moveItem(atPath: errorsPath, toPath: temporary.path + ".crash-\(deaths)")
        }
        deaths += 1
        guard let begun, options.only == nil, deaths < Self.mostDeaths else { return true }
        do {
            try start(after: begun)
            return false
        } catch {
            findings.append(Finding(point: begun, text: "it cannot be gone on with: \(error)"))
            return true
        }
    }
}
