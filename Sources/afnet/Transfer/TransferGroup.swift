import AFURLSession
import Foundation

/// Loads the URLs of one group, one after the other or in parallel.
@MainActor final class TransferGroup {
    private let arguments: Arguments
    private let session: URLSession
    private let listeners: TransferListeners
    private let servers: TrustLog
    private let reports: ReportLog
    private let payload: Payload
    private let writeOut: WriteOut?
    private let console: Console
    /// The queue for standard output, if transfers run in parallel.
    private let queue: OutputQueue?
    private var running: [Int: Transfer] = [:]
    /// Whether the group has stopped: no transfer begins, and results are ignored.
    private var isOver = false

    init(
        _ arguments: Arguments,
        session: URLSession,
        listeners: TransferListeners,
        servers: TrustLog,
        reports: ReportLog
    ) throws(TransferFailure) {
        self.arguments = arguments
        self.session = session
        self.listeners = listeners
        self.servers = servers
        self.reports = reports
        payload = try Payload(arguments)
        writeOut = try arguments.writeOut.map { format throws(TransferFailure) in try WriteOut(format) }
        console = Console(arguments)
        queue = arguments.isParallel ? OutputQueue() : nil
    }

    /// Returns the code of the last URL; in parallel, of the URL that failed last.
    func run() async -> ExitCode {
        arguments.isParallel ? await runInParallel() : await runInOrder()
    }

    private func runInOrder() async -> ExitCode {
        var code = ExitCode.done
        for index in arguments.urls.indices {
            code = await load(index)
            if arguments.failsEarly, code != .done { break }
        }
        return code
    }

    private func runInParallel() async -> ExitCode {
        let load: @MainActor @Sendable (Int) async -> ExitCode = { await self.load($0) }
        var code = ExitCode.done
        var rest = Array(arguments.urls.indices)[...]
        var count = 0
        await withTaskGroup(of: ExitCode.self) { group in
            while true {
                while !isOver, mayBegin(beside: count), let index = rest.popFirst() {
                    group.addTask { @MainActor @Sendable in await load(index) }
                    count += 1
                }
                guard let result = await group.next() else { break }
                count -= 1
                if isOver { continue }
                if result != .done { code = result }
                if arguments.failsEarly, result != .done {
                    stop()
                    // Ends the waits for retries.
                    group.cancelAll()
                }
            }
        }
        return code
    }

    /// - Parameter count: How many transfers run. Without any, none could make room, so the next one may begin.
    private func mayBegin(beside count: Int) -> Bool {
        count == 0 || count < arguments.parallelMaximum ?? Self.usualMaximum && queue?.hasRoom ?? true
    }

    /// How many transfers run at a time, as in curl.
    nonisolated static let usualMaximum = 50

    private func stop() {
        isOver = true
        for transfer in running.values { transfer.abandon() }
    }

    // MARK: - One URL

    private func load(_ index: Int) async -> ExitCode {
        var outcome = Outcome()
        do throws(TransferFailure) {
            try await load(index, &outcome)
        } catch {
            outcome.failure = error
        }
        if isOver {
            // Lets the output of other transfers through.
            try? queue?.finish(index)
            return .done
        }
        var result = result(outcome, index)
        if var failure = result.failure {
            // Said only here, after the last try: a retry replaces the file.
            if let file = failure.keptIn { failure.message += " What arrived is kept in \(file)." }
            if arguments.isParallel {
                failure.message = "\(SecretText.withoutPassword(arguments.urls[index])): \(failure.message)"
            }
            console.report(failure, isVerbose: arguments.isVerbose)
        }
        do throws(TransferFailure) {
            try tell(result)
        } catch {
            if result.failure == nil { console.report(error, isVerbose: false) }
            result.failure = result.failure ?? error
        }
        return result.code
    }

    /// Writes the result for --write-out and --report.
    private func tell(_ result: TransferResult) throws(TransferFailure) {
        do throws(SystemFailure) {
            try write(result)
            try queue?.finish(result.index)
        } catch {
            throw TransferFailure(.cannotWrite, "cannot write standard output: \(error.text)")
        }
        if let path = arguments.report { try reports.add(result, to: path) }
    }

    /// The result of the last try.
    private struct Outcome {
        var transfer: Transfer?
        var file: String?
        var retries = 0
        var failure: TransferFailure?
    }

    private func result(_ outcome: Outcome, _ index: Int) -> TransferResult {
        var result = TransferResult(arguments.urls[index], outcome.failure)
        result.index = index
        result.retries = outcome.retries
        result.file = outcome.file
        if let transfer = outcome.transfer {
            result.request = transfer.request
            result.response = transfer.response
            result.metrics = transfer.metrics
            result.server = transfer.server
            result.received = transfer.received
        }
        return result
    }

    private func write(_ result: TransferResult) throws(SystemFailure) {
        guard let writeOut else { return }
        let text = writeOut.text(TransferFigures(result))
        if !text.error.isEmpty { console.write(text.error) }
        let output = Data(text.output.utf8)
        if let queue { try queue.write(output, of: result.index) } else { try Descriptor.standardOutput.write(output) }
    }

    private func load(_ index: Int, _ outcome: inout Outcome) async throws(TransferFailure) {
        let fields = arguments.isQuery ? payload.data : nil
        let plan = try TransferPlan(arguments.urls[index], arguments, query: fields)
        let target = arguments.target(at: index)
        let path = try plan.path(for: target, arguments)
        let isNamedByServer = arguments.takesServersName && target == .remoteName
        let attempts = Attempts(arguments.retries, isRepeatable: payload.isRepeatable)
        while true {
            let part = try part(arguments.resume, of: path)
            let mode: BodySink.Mode = isNamedByServer ? .makesNew : part != nil ? .appends : .replaces
            let place = queue.map { ($0, index) }
            let sink = BodySink(path, mode, makesFolders: arguments.makesFolders, place: place)
            let transfer = transfer(plan, part, sink, attempts, at: index)
            outcome.transfer = transfer
            running[index] = transfer
            defer { running[index] = nil }
            let wait = try await finish(transfer, from: part, sink, attempts)
            outcome.file = sink.isOpen ? sink.path : nil
            guard let wait, !isOver else { return }
            outcome.retries += 1
            attempts.begin()
            try? await Task.sleep(for: .seconds(wait))
            if isOver { return }
        }
    }

    private func transfer(
        _ plan: TransferPlan,
        _ part: PartialTransfer?,
        _ sink: BodySink,
        _ attempts: Attempts,
        at index: Int
    ) -> Transfer {
        let request = arguments.request(
            for: plan.url,
            plan.login,
            form: arguments.isQuery ? nil : payload.data,
            type: payload.contentType,
            from: part
        )
        return Transfer(
            payload.task(for: request, in: session),
            arguments,
            payload: payload,
            identity: Identity(plan.url, plan.login, arguments),
            listeners: listeners,
            sink: sink,
            // In parallel, each line needs the number of its URL.
            console: arguments.isParallel ? Console(arguments, prefix: "[\(index)] ") : console,
            servers: servers,
            attempts: attempts
        )
    }

    /// Returns the seconds before the next try; nil if there is none.
    private func finish(
        _ transfer: Transfer,
        from part: PartialTransfer?,
        _ sink: BodySink,
        _ attempts: Attempts
    ) async throws(TransferFailure) -> Double? {
        do throws(TransferFailure) {
            try await transfer.run(from: part)
            guard let wait = transfer.wait, let status = transfer.response?.statusCode else { return nil }
            announce(TransferFailure.refused(status).message, wait, attempts)
            return wait
        } catch {
            // Bytes on standard output cannot be taken back.
            guard !isOver, sink.isFile || sink.written == 0,
                let wait = attempts.wait(after: error, transfer.response)
            else { throw error }
            // By its size alone a file goes on only with bytes of the resource.
            let isContent = [200, 206].contains(transfer.response?.statusCode)
            if arguments.resume != .size || !isContent { sink.undo() }
            announce(error.message, wait, attempts)
            return wait
        }
    }

    private func announce(_ reason: String, _ wait: Double, _ attempts: Attempts) {
        let seconds = String(format: wait == wait.rounded() ? "%.0f" : "%.1f", wait)
        console.report("\(reason); next try in \(seconds) s, \(attempts.left - 1) left after it")
    }

    /// The download to resume; nil for a whole download.
    private func part(_ resume: ResumeOption?, of path: String) throws(TransferFailure) -> PartialTransfer? {
        switch resume {
        case nil: return nil
        // The rest from the first byte on is the whole, and replaces what the file has.
        case .offset(let offset): return offset > 0 ? PartialTransfer(offset: offset) : nil
        case .size:
            do throws(SystemFailure) {
                let size = try Descriptor.size(of: path) ?? 0
                return size > 0 ? PartialTransfer(offset: size, validator: Descriptor.validator(of: path)) : nil
            } catch {
                throw TransferFailure(.cannotWrite, "--resume: \(path): \(error.text)")
            }
        }
    }
}
