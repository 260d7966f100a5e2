import AFNetworking
import AFURLSession
import Foundation

/// Loads one URL and writes the body to its sink.
///
/// The session's ``TransferListener`` calls it on the main queue. `take` returns when the bytes are written: while it
/// waits for a slow reader, the session stops reading, and the server has to wait too.
@MainActor final class Transfer {
    private let task: URLSessionDataTask
    private let arguments: Arguments
    private let payload: Payload
    private let sink: BodySink
    private let console: Console
    private let trace: Trace
    private let servers: TrustLog
    private let identity: Identity
    private let listeners: TransferListeners
    private let heads: HeadLog
    private let dump: WireDump?
    private let attempts: Attempts

    /// The current request; redirects change it.
    private(set) var request: URLRequest?
    private var progress: ProgressBar?
    private var sending: ProgressBar?
    private let line: MeterLine
    /// The meter of all transfers that run in parallel.
    private let meter: GroupMeter?
    private var sentSoFar: Int64 = 0
    private(set) var received: Int64 = 0
    /// The download to resume; nil for a whole download.
    private var part: PartialTransfer?
    /// How many bytes the file must have when a download that goes on is over.
    private var wholeSize: Int64?
    /// Whether the bytes that arrived were removed again.
    private var isUndone = false
    /// Whether the body is not the one that was asked for.
    private var dropsBody = false
    /// Whether the head of the response is all that is wanted, and there.
    private var endsAtHead = false
    /// The failure to report when the transfer is over.
    private var verdict: TransferFailure?
    /// The beginning of a body in which the server says what is wrong; nil for any other.
    private var problem: Data?
    /// Gives up a body that is read for its words only, and does not end: it must not hide for long what it is about.
    private var patience: Task<Void, any Error>?
    private(set) var metrics: URLSessionTaskMetrics?
    /// The server, if its trust was evaluated.
    private(set) var server: ServerTrust?
    /// The seconds before a retry, if the response leads to one.
    private(set) var wait: Double?
    /// Whether the task has its response.
    private var hasBegun = false
    private var lastNoted: HTTPURLResponse?
    /// Whether the heads for --include are in the sink.
    private var hasShownHeads = false
    /// Why afnet gave the transfer up; the first reason stays.
    private var failure: TransferFailure?
    private var completion: CheckedContinuation<(any Error)?, Never>?

    init(
        _ task: URLSessionDataTask,
        arguments: Arguments,
        payload: Payload,
        identity: Identity,
        listeners: TransferListeners,
        sink: BodySink,
        console: Console,
        servers: TrustLog,
        attempts: Attempts,
        files: RunFiles,
        meter: GroupMeter?
    ) {
        self.task = task
        self.meter = meter
        line = MeterLine(console)
        self.arguments = arguments
        self.payload = payload
        self.sink = sink
        self.console = console
        self.servers = servers
        self.identity = identity
        self.listeners = listeners
        self.attempts = attempts
        heads = HeadLog(arguments.headFile, files: files)
        dump = WireDump(arguments.dump, files: files)
        request = task.originalRequest
        trace = Trace(console, secrets: SecretText(isShown: arguments.showsSecrets))
    }

    func run(from part: PartialTransfer?) async throws(TransferFailure) {
        self.part = part
        listeners.attach(self, to: task)
        let watch = speedWatch()
        var error = await withCheckedContinuation { continuation in
            completion = continuation
            task.resume()
        }
        watch?.cancel()
        patience?.cancel()
        if endsAtHead || dropsBody && verdict != nil { error = nil }
        if let problem, let words = response.flatMap({ ProblemDetails($0, body: problem)?.words }) {
            verdict?.message += ": \(words)"
        }
        finishSending()
        finishProgress()
        if error == nil { checkRest() }
        noteEnd(error)
        closeSink(isComplete: error == nil && failure == nil)
        if metrics?.transactionMetrics.last?.negotiatedTLSProtocolVersion != nil {
            server = servers.server(request?.url?.host)
        }
        if arguments.isVerbose, let metrics { trace.times(metrics, server: server) }
        if var failure = failure ?? error.map({ explain($0) }) ?? verdict {
            if sink.isFile, sink.isOpen, !isUndone, failure.code != .statusRefused { failure.keptIn = sink.name }
            throw failure
        }
    }

    /// Whether the transfer has credentials for challenges.
    var mayAnswerChallenges: Bool { identity.mayAnswer }

    /// The head of the end: what a proxy or an interim response said before there was none, and trailers. Heads that no body
    /// followed are shown now, unless the URL is tried again.
    private func noteEnd(_ error: (any Error)?) {
        if let metrics, !hasBegun { noteUnseen(metrics) }
        if error == nil, failure == nil { noteTrailers() }
        let reason = failure ?? error.map { explain($0) } ?? verdict
        let isTriedAgain = wait != nil || reason.map { attempts.wait(after: $0, response: response) != nil } ?? false
        guard !hasShownHeads, !isTriedAgain, !heads.text.isEmpty else { return }
        do throws(SystemFailure) {
            if arguments.showsHead, !sink.isOpen { try sink.open() }
            try showHeads()
        } catch {
            failure = failure ?? .cannotWrite(sink, because: error)
        }
    }

    /// Notes the heads of a task that has no response: of a tunnel that was refused, or of a redirect that is not followed.
    private func noteUnseen(_ metrics: URLSessionTaskMetrics) {
        if heads.text.isEmpty {
            for head in TransferResult.heads(of: metrics) { noteHead(head.response, isOfTunnel: head.kind == .connect) }
        } else if let last = metrics.transactionMetrics.last?.response as? HTTPURLResponse, last !== lastNoted {
            noteHead(last)
        }
    }

    private func noteTrailers() {
        guard let trailers = metrics?.transactionMetrics.last?.trailerFields, !trailers.isEmpty else { return }
        let text = trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
        do throws(TransferFailure) {
            try heads.add(text: text)
            do throws(SystemFailure) {
                if hasShownHeads { try show(text) }
            } catch {
                throw .cannotWrite(sink, because: error)
            }
        } catch {
            failure = failure ?? error
        }
    }

    /// Writes the heads for --include.
    private func showHeads() throws(SystemFailure) {
        guard arguments.showsHead else { return }
        hasShownHeads = true
        try show(heads.text)
    }

    /// Writes lines of the server. On a terminal their control characters are escaped.
    private func show(_ lines: String) throws(SystemFailure) {
        try sink.write(Data((sink.isTerminal ? HeadLog.harmless(lines) : lines).utf8))
    }

    private func explain(_ error: any Error) -> TransferFailure {
        let hasResponse = metrics?.transactionMetrics.last?.responseStartDate != nil
        var failure = TransferFailure(error, hasResponse: hasResponse)
        if let path = arguments.unixSocket, failure.code == .cannotConnect {
            failure.message += " The socket is \(path)."
        }
        return failure
    }

    private func closeSink(isComplete: Bool) {
        do throws(SystemFailure) {
            let time = arguments.keepsTime && isComplete ? response?.value(forHTTPHeaderField: "Last-Modified") : nil
            try sink.close(isComplete: isComplete, at: HTTPDateText.date(time))
        } catch {
            failure = failure ?? .cannotWrite(sink, because: error)
        }
    }

    var response: HTTPURLResponse? { task.response as? HTTPURLResponse }

    /// Cancels the transfer because another one has failed and there is --fail-early.
    func abandon() {
        giveUp(TransferFailure(.otherProtocolError, "given up because of --fail-early"))
    }

    /// Gives up when bytes come and go too slowly; nil if there is no limit.
    private func speedWatch() -> Task<Void, Never>? {
        guard let rule = arguments.speed.rule else { return nil }
        return Task {
            guard await rule.isBroken(by: { self.moved }) else { return }
            giveUp(TransferFailure(.timedOut, rule.message))
        }
    }

    /// The bytes of bodies, both ways.
    private var moved: Int64 { task.countOfBytesReceived + task.countOfBytesSent }

    private func giveUp(_ reason: TransferFailure) {
        failure = failure ?? reason
        task.cancel()
    }

    // MARK: - The end

    func collected(_ metrics: URLSessionTaskMetrics) {
        self.metrics = metrics
        // Only the metrics show whether the request was sent.
        if arguments.isVerbose, task.response == nil { trace.request(metrics) }
    }

    func completed(with error: (any Error)?) {
        completion?.resume(returning: error)
        completion = nil
    }

    // MARK: - Challenges

    func answer(
        to challenge: URLAuthenticationChallenge
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let answer = identity.answer(to: challenge)
        // A response that is not answered is the task's.
        if case .useCredential = answer.0, let response = challenge.failureResponse as? HTTPURLResponse {
            note(response, isOfTunnel: challenge.protectionSpace.isProxy() && usesTunnel)
        }
        return answer
    }

    private var usesTunnel: Bool { arguments.proxy.tunnels || request?.url?.scheme?.lowercased() == "https" }

    // MARK: - The response

    /// Returns nil if the redirect is refused.
    func redirected(by response: HTTPURLResponse, to next: URLRequest) -> URLRequest? {
        note(response)
        guard
            let next = arguments.redirected(
                next,
                by: response,
                of: task,
                as: identity,
                stream: payload.newStream
            )
        else {
            giveUp(
                TransferFailure(
                    .unsupported,
                    "the redirect leads to a URL that --proto or --proto-redir does not allow"
                )
            )
            return nil
        }
        request = next
        return next
    }

    /// Shows and logs the head of any response, and the heads in front of it.
    ///
    /// - Parameter isOfTunnel: Whether it answers a proxy's `CONNECT`, in which no request of the transfer was sent.
    private func note(_ response: HTTPURLResponse, isOfTunnel: Bool = false) {
        lastNoted = response
        let preceding = response.precedingResponses
        for response in preceding where response.statusCode >= 200 { noteHead(response, isOfTunnel: true) }
        if !isOfTunnel { noteRequest() }
        for response in preceding where response.statusCode < 200 { noteHead(response) }
        noteHead(response, isOfTunnel: isOfTunnel)
    }

    private func noteHead(_ response: HTTPURLResponse, isOfTunnel: Bool = false) {
        if arguments.isVerbose { trace.response(response) }
        do throws(TransferFailure) {
            try dump?.receivedHead(trace.head(of: response) + [""])
            if !isOfTunnel || !arguments.hidesTunnel { try heads.add(response) }
        } catch {
            failure = failure ?? error
        }
    }

    private func noteRequest() {
        if arguments.isVerbose, let request { trace.request(request, length: task.countOfBytesExpectedToSend) }
        do throws(TransferFailure) { try dumpRequest() } catch { failure = failure ?? error }
    }

    private func dumpRequest() throws(TransferFailure) {
        guard let dump else { return }
        if let request {
            try dump.sentHead(trace.head(of: request, length: task.countOfBytesExpectedToSend) + [""])
            if let body = request.httpBody {
                try dump.sent(body)
            } else if task.countOfBytesSent > 0 {
                try dump.info("\(task.countOfBytesSent) bytes of body were sent from a file or a stream")
            }
        }
    }

    /// A response has arrived. Returns whether to receive the body.
    func begin(_ response: URLResponse) -> Bool {
        hasBegun = true
        if let response = response as? HTTPURLResponse {
            accept(response)
        } else {
            giveUp(TransferFailure(.unsupported, "only http and https URLs are loaded"))
        }
        return failure == nil && !endsAtHead
    }

    private func accept(_ response: HTTPURLResponse) {
        finishSending()
        note(response)
        guard failure == nil, mayBegin(response), !dropsBody else { return }
        if isOld(response) {
            // What the file has is still right. The head is shown all the same.
            dropsBody = true
            return
        }
        // What a response to HEAD and a 304 say of a length is that of another response.
        let isWithoutBody = request?.httpMethod == "HEAD" || [204, 304].contains(response.statusCode)
        let length = isWithoutBody ? 0 : response.expectedContentLength
        if arguments.isCompressed, length != 0, response.hasUndecodedContent, !response.namesNoCoding {
            failure = .coded(response)
            return
        }
        if let limit = arguments.maximumSize, length > limit {
            failure = .tooLarge(limit)
            return
        }
        if sink.mayBeRenamed, let name = response.contentDispositionFilename { sink.rename(to: name) }
        do throws(SystemFailure) {
            let validator = request.flatMap { PartialTransfer.validator(of: response, to: $0) }
            try sink.open(recognizedBy: arguments.showsHead ? nil : validator)
            try showHeads()
        } catch {
            failure = .cannotWrite(sink, because: error)
        }
        if arguments.isHead, request?.httpMethod != "HEAD" {
            endsAtHead = true
        } else if showsProgress {
            progress = newBar(length)
        }
    }

    /// Whether the response says that there is nothing new, or sends what `--time-cond` does not want.
    private func isOld(_ response: HTTPURLResponse) -> Bool {
        if response.statusCode == 304 { return true }
        guard let condition = arguments.timeCondition, response.statusCode == 200,
            let time = HTTPDateText.date(response.value(forHTTPHeaderField: "Last-Modified"))
        else { return false }
        return !condition.isMet(by: time)
    }

    private var showsProgress: Bool {
        guard !arguments.isSilent, !arguments.isParallel, console.isTerminal, arguments.progress != .none else {
            return false
        }
        return sink.isFile || !Descriptor.standardOutput.isTerminal
    }

    private func newBar(_ expected: Int64) -> ProgressBar {
        ProgressBar(expected: expected, width: line.width, isPlain: arguments.progress == .plain)
    }

    /// Decides whether to write the body, to drop it, or to give the transfer up. False if it is given up.
    private func mayBegin(_ response: HTTPURLResponse) -> Bool {
        let answer = part?.answer(response)
        if case .rest(let size) = answer { wholeSize = size }
        if answer == .complete {
            dropsBody = true
        } else if let wait = attempts.wait(after: response) {
            (self.wait, dropsBody) = (wait, true)
        } else if response.statusCode >= 400, let mode = arguments.failure {
            let refusal = TransferFailure.refused(response.statusCode)
            if ProblemDetails.isExpected(in: response) { problem = Data() }
            // The body of an error does not belong behind a part.
            dropsBody = mode == .dropsBody || part != nil
            if dropsBody, problem == nil { failure = refusal } else { verdict = refusal }
            if dropsBody, problem != nil {
                patience = Task {
                    try await Task.sleep(for: .seconds(2))
                    giveUp(refusal)
                }
            }
        } else if let part, answer == .refused {
            failure = .notResumed(part, status: response.statusCode)
        }
        return failure == nil
    }

    func take(_ data: Data) {
        if let count = problem?.count {
            problem?.append(data.prefix(ProblemDetails.bodyLimit + 1 - count))
            // No longer body is read for its words.
            if dropsBody, let verdict, count + data.count > ProblemDetails.bodyLimit { giveUp(verdict) }
        }
        guard failure == nil, !dropsBody else { return }
        received += Int64(data.count)
        if let limit = arguments.maximumSize, received > limit { return giveUp(.tooLarge(limit)) }
        if let missing, missing < 0 { return giveUp(notTheRest(.rangeNotHonoured)) }
        if !sink.isFile, sink.isTerminal, data.contains(0) { return giveUp(.binaryForTerminal) }
        do throws(TransferFailure) { try dump?.received(data) } catch { return giveUp(error) }
        do throws(SystemFailure) {
            try sink.write(data)
        } catch {
            return giveUp(.cannotWrite(sink, because: error))
        }
        meter?.moved(Int64(data.count))
        progress?.fit(into: line.width)
        if let text = progress?.line(received: received) { line.draw(text) }
    }

    /// How many bytes of the rest are still to come; nil unless a download goes on.
    private var missing: Int64? {
        guard let part, let wholeSize else { return nil }
        return wholeSize - part.offset - received
    }

    /// A rest of another length than its Content-Range may be of another resource.
    private func checkRest() {
        guard failure == nil, let missing, missing > 0 else { return }
        failure = notTheRest(.truncated)
    }

    private func notTheRest(_ code: ExitCode) -> TransferFailure {
        sink.undo()
        isUndone = true
        let amount = code == .truncated ? "fewer" : "more"
        return TransferFailure(
            code,
            "the server sent \(amount) bytes than its Content-Range says: none of them was kept"
        )
    }

    func sent(_ count: Int64, of expected: Int64) {
        meter?.moved(count - sentSoFar)
        sentSoFar = count
        // Once the body arrives, standard output may be the same terminal.
        guard showsProgress, task.response == nil else { return }
        var bar = sending ?? newBar(expected)
        bar.fit(into: line.width)
        if let text = bar.line(received: count) { line.draw(text) }
        sending = bar
    }

    /// The body for a request that is sent again.
    var newBodyStream: InputStream? { payload.newStream }

    private func finishSending() {
        guard let bar = sending else { return }
        sending = nil
        line.draw(bar.text(received: task.countOfBytesSent))
        line.end()
    }

    private func finishProgress() {
        guard var progress else { return }
        progress.fit(into: line.width)
        line.draw(progress.text(received: received))
        line.end()
    }
}
