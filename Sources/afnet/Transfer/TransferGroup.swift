import AFURLSession
import Foundation
import Glibc

/// Loads the URLs of one group, one after the other or in parallel.
@MainActor final class TransferGroup {
    private let arguments: Arguments
    private let session: URLSession
    private let listeners: TransferListeners
    private let servers: TrustLog
    private let files: RunFiles
    private let list: TransferList
    /// The body for URLs without a file to upload.
    private let payload: Payload
    /// The files to upload that are named without a list, by the bytes of their names.
    private let uploads: [[UInt8]: Payload]
    /// The fields for the query of each URL.
    private let query: Data?
    private let netrc: NetrcFile?
    /// The ETag of `--etag-compare`.
    private let formerEtag: String?
    private let meter: GroupMeter?
    private let writeOut: WriteOut?
    private let console: Console
    /// The queue for standard output, if transfers run in parallel.
    private let queue: OutputQueue?
    private var running: [Transfer] = []
    /// Whether the group has stopped: no transfer begins, and results are ignored.
    private var isOver = false

    init(
        _ arguments: Arguments,
        session: URLSession,
        listeners: TransferListeners,
        servers: TrustLog,
        files: RunFiles
    ) throws(TransferFailure) {
        self.arguments = arguments
        do throws(ArgumentError) { list = try TransferList(arguments) } catch { throw TransferFailure(error) }
        self.session = session
        self.listeners = listeners
        self.servers = servers
        self.files = files
        if let path = arguments.headFile { files.begin(path) }
        try Self.checkEtagFile(arguments)
        payload = try Payload(arguments.narrowed(to: nil))
        var uploads: [[UInt8]: Payload] = [:]
        for name in list.namedUploads { uploads[Array(name.utf8)] = try Payload(arguments.narrowed(to: name)) }
        self.uploads = uploads
        query = try Payload.query(of: arguments, and: payload)
        netrc = try arguments.netrcFile()
        formerEtag = try Self.formerEtag(arguments)
        writeOut = try arguments.writeOut.map { format throws(TransferFailure) in try WriteOut(format) }
        console = Console(arguments)
        queue = arguments.isParallel ? OutputQueue() : nil
        meter = Self.showsMeter(arguments, on: console) ? GroupMeter(line: MeterLine(console), of: list.count) : nil
        if let condition = arguments.timeCondition, condition.date == nil {
            console.report("--time-cond: \"\(condition.text)\" is neither a date nor a file: it is loaded anyway")
        }
    }

    /// Whether transfers that run in parallel have a meter: there is a terminal, and no body goes there.
    private static func showsMeter(_ arguments: Arguments, on console: Console) -> Bool {
        guard arguments.isParallel, !arguments.isSilent, !arguments.isVerbose, arguments.progress != .none,
            console.isTerminal
        else { return false }
        let places = arguments.urls.indices
        return !Descriptor.standardOutput.isTerminal || places.allSatisfy { arguments.target(at: $0) != .path("-") }
    }

    /// The ETag in the file of `--etag-compare`, which is empty if there is no such file and `--etag-save` is to make one.
    private static func formerEtag(_ arguments: Arguments) throws(TransferFailure) -> String? {
        guard let path = arguments.formerEtag else { return nil }
        do throws(SystemFailure) {
            let bytes = try Descriptor.input(path, limit: 1 << 16).filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
            return bytes.isEmpty ? "\"\"" : String(decoding: bytes, as: UTF8.self)
        } catch {
            if error.isMissingFile, arguments.etagFile != nil { return "\"\"" }
            throw TransferFailure(.cannotRead, "--etag-compare: \(path): \(error.text)")
        }
    }

    /// Makes the file of `--etag-save` before anything is loaded: an ETag that is lost means that all is loaded again.
    private static func checkEtagFile(_ arguments: Arguments) throws(TransferFailure) {
        guard let path = arguments.etagFile else { return }
        do throws(SystemFailure) {
            try Descriptor.opening(path, flags: O_WRONLY | O_CREAT | O_APPEND).close()
        } catch {
            throw TransferFailure(.cannotRead, "--etag-save: cannot write \(path): \(error.text)")
        }
    }

    /// Returns the code of the last URL; in parallel, of the URL that failed last.
    func run() async -> ExitCode {
        let code = arguments.isParallel ? await runInParallel() : await runInOrder()
        meter?.end()
        return code
    }

    private func runInOrder() async -> ExitCode {
        var code = ExitCode.done
        for index in 0..<list.count {
            let next = arguments.pace.map { ContinuousClock.now + .seconds($0) }
            code = await load(index)
            if let next, index < list.count - 1 { try? await Task.sleep(until: next, clock: .continuous) }
            if arguments.failsEarly, code != .done { break }
        }
        return code
    }

    private func runInParallel() async -> ExitCode {
        let load: @MainActor @Sendable (Int) async -> ExitCode = { await self.load($0) }
        var code = ExitCode.done
        var rest = 0..<list.count
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
        for transfer in running { transfer.abandon() }
    }

    // MARK: - One URL

    private func load(_ index: Int) async -> ExitCode {
        var outcome = Outcome()
        let item = list[index]
        do throws(TransferFailure) {
            try await load(item, at: index, into: &outcome)
        } catch {
            outcome.failure = error
        }
        if isOver {
            // Lets the output of other transfers through.
            try? queue?.finish(index)
            return .done
        }
        meter?.finished()
        var result = result(outcome, of: item)
        if var failure = result.failure {
            // Said only here, after the last try: a retry replaces the file.
            if let file = failure.keptIn { failure.message += " What arrived is kept in \(file)." }
            if arguments.isParallel {
                failure.message = "\(SecretText.withoutPassword(item.url)): \(failure.message)"
            }
            meter?.clear()
            console.report(failure, isVerbose: arguments.isVerbose)
        }
        do throws(TransferFailure) {
            try tell(result, at: index)
        } catch {
            if result.failure == nil { console.report(error, isVerbose: false) }
            result.failure = result.failure ?? error
        }
        return result.code
    }

    /// Writes the result for --write-out and --report.
    private func tell(_ result: TransferResult, at index: Int) throws(TransferFailure) {
        do throws(SystemFailure) {
            try write(result, at: index)
            try queue?.finish(index)
        } catch {
            throw TransferFailure(.cannotWrite, "cannot write standard output: \(error.text)")
        }
        if let path = arguments.report { try files.add(result, to: path) }
    }

    /// The result of the last try.
    private struct Outcome {
        var transfer: Transfer?
        var file: String?
        var retries = 0
        var failure: TransferFailure?
    }

    private func result(_ outcome: Outcome, of item: TransferList.Item) -> TransferResult {
        var result = TransferResult(item.url, failure: outcome.failure)
        result.place = item.place
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

    private func write(_ result: TransferResult, at index: Int) throws(SystemFailure) {
        guard let writeOut else { return }
        let text = writeOut.text(TransferFigures(result))
        if !text.error.isEmpty { console.write(text.error) }
        let output = Data(text.output.utf8)
        if let queue { try queue.write(output, of: index) } else { try Descriptor.standardOutput.write(output) }
    }

    private func load(_ item: TransferList.Item, at index: Int, into outcome: inout Outcome)
        async throws(TransferFailure)
    {
        let arguments = arguments.narrowed(to: item.upload)
        let payload = try payload(for: item.upload, of: arguments)
        let plan = try TransferPlan(item.url, arguments: arguments, query: query, netrc: netrc)
        let path = try plan.path(for: item.target, arguments: arguments)
        let isNamedByServer = arguments.takesServersName && item.target == .remoteName
        let attempts = Attempts(options: arguments.retries, isRepeatable: payload.isRepeatable)
        if arguments.parts != nil {
            return try await loadInParts(plan, to: path, attempts: attempts, of: arguments, into: &outcome)
        }
        while true {
            let part = arguments.isUpload ? nil : try part(arguments.resume, of: path)
            let mode: BodySink.Mode =
                isNamedByServer ? .makesNew : part != nil ? .appends : arguments.keepsFiles ? .makesOther : .replaces
            let place = queue.map { ($0, index) }
            let sink = BodySink(path, mode: mode, makesFolders: arguments.makesFolders, place: place)
            let transfer = transfer(
                plan,
                payload: payload,
                part: part,
                sink: sink,
                attempts: attempts,
                of: arguments,
                at: index
            )
            outcome.transfer = transfer
            running.append(transfer)
            defer { running.removeAll { $0 === transfer } }
            let wait = try await finish(transfer, from: part, sink: sink, attempts: attempts)
            outcome.file = sink.isOpen ? sink.path : nil
            guard let wait, !isOver else { return }
            outcome.retries += 1
            attempts.begin()
            try? await Task.sleep(for: .seconds(wait))
            if isOver { return }
        }
    }

    private func loadInParts(
        _ plan: TransferPlan,
        to path: String,
        attempts: Attempts,
        of arguments: Arguments,
        into outcome: inout Outcome
    ) async throws(TransferFailure) {
        do throws(SystemFailure) {
            if arguments.makesFolders { try Descriptor.makeFolders(above: path) }
        } catch {
            throw TransferFailure(.cannotWrite, "cannot write \(path): \(error.text)")
        }
        let transfer = PartsTransfer(
            arguments.request(for: plan.url, login: plan.login, form: nil, from: nil),
            to: path,
            arguments: arguments,
            identity: Identity(plan.url, login: plan.login, arguments: arguments, netrc: netrc),
            session: session,
            console: console,
            meter: meter
        )
        while true {
            do throws(TransferFailure) {
                try await transfer.run()
                outcome.file = path
                return
            } catch {
                guard !isOver, let wait = attempts.wait(after: error, response: transfer.response) else { throw error }
                announce(error.message, wait: wait, attempts: attempts)
                outcome.retries += 1
                attempts.begin()
                try? await Task.sleep(for: .seconds(wait))
                if isOver { return }
            }
        }
    }

    /// - Parameter arguments: Those for the upload.
    private func payload(for upload: String?, of arguments: Arguments) throws(TransferFailure) -> Payload {
        guard let upload else { return payload }
        if let payload = uploads[Array(upload.utf8)] { return payload }
        return try Payload(arguments)
    }

    private func transfer(
        _ plan: TransferPlan,
        payload: Payload,
        part: PartialTransfer?,
        sink: BodySink,
        attempts: Attempts,
        of arguments: Arguments,
        at index: Int
    ) -> Transfer {
        var request = arguments.request(
            for: plan.url,
            login: plan.login,
            form: arguments.isQuery ? nil : payload.data,
            type: payload.contentType,
            from: part
        )
        if let formerEtag, request.value(forHTTPHeaderField: "If-None-Match") == nil {
            request.setValue(formerEtag, forHTTPHeaderField: "If-None-Match")
        }
        if let range = payload.contentRange, request.value(forHTTPHeaderField: "Content-Range") == nil {
            request.setValue(range, forHTTPHeaderField: "Content-Range")
        }
        return Transfer(
            payload.task(for: request, in: session),
            arguments: arguments,
            payload: payload,
            identity: Identity(plan.url, login: plan.login, arguments: arguments, netrc: netrc),
            listeners: listeners,
            sink: sink,
            // In parallel, each line needs the number of its URL.
            console: arguments.isParallel ? Console(arguments, prefix: "[\(index)] ") : console,
            servers: servers,
            attempts: attempts,
            files: files,
            meter: meter
        )
    }

    /// Writes the ETag of a response, for `--etag-compare` of a later run. A 304 without one confirms the former.
    private func saveEtag(of response: HTTPURLResponse?) throws(TransferFailure) {
        guard let path = arguments.etagFile, let response, response.statusCode < 400 else { return }
        let etag = response.value(forHTTPHeaderField: "ETag") ?? ""
        if etag.isEmpty, response.statusCode == 304 { return }
        do throws(SystemFailure) {
            try Descriptor.replace(path, with: Data((etag.isEmpty ? "" : "\(etag)\n").utf8))
        } catch {
            throw TransferFailure(.cannotWrite, "--etag-save: cannot write \(path): \(error.text)")
        }
    }

    /// Returns the seconds before the next try; nil if there is none.
    private func finish(
        _ transfer: Transfer,
        from part: PartialTransfer?,
        sink: BodySink,
        attempts: Attempts
    ) async throws(TransferFailure) -> Double? {
        do throws(TransferFailure) {
            try await transfer.run(from: part)
            guard let wait = transfer.wait, let status = transfer.response?.statusCode else {
                try saveEtag(of: transfer.response)
                return nil
            }
            announce(TransferFailure.refused(status).message, wait: wait, attempts: attempts)
            return wait
        } catch {
            // Bytes on standard output cannot be taken back.
            guard !isOver, sink.isFile || sink.written == 0,
                let wait = attempts.wait(after: error, response: transfer.response)
            else {
                guard arguments.removesFailed, sink.isFile else { throw error }
                sink.remove()
                var error = error
                error.keptIn = nil
                throw error
            }
            // By its size alone a file goes on only with bytes of the resource.
            let isContent = [200, 206].contains(transfer.response?.statusCode)
            if arguments.resume != .size || !isContent { sink.undo() }
            announce(error.message, wait: wait, attempts: attempts)
            return wait
        }
    }

    private func announce(_ reason: String, wait: Double, attempts: Attempts) {
        meter?.clear()
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
