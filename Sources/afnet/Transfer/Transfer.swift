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
    let identity: Identity
    private let listeners: TransferListeners
    private let heads: HeadLog
    private let attempts: Attempts

    /// The current request; redirects change it.
    private(set) var request: URLRequest?
    private var progress: ProgressBar?
    private var sending: ProgressBar?
    private(set) var received: Int64 = 0
    /// The download to resume; nil for a whole download.
    private var part: PartialTransfer?
    /// How many bytes the file must have when a download that goes on is over.
    private var wholeSize: Int64?
    /// Whether the bytes that arrived were removed again.
    private var isUndone = false
    /// Whether the body is not the one that was asked for.
    private var dropsBody = false
    /// The failure to report when the transfer is over.
    private var verdict: TransferFailure?
    private(set) var metrics: URLSessionTaskMetrics?
    /// The server, if its trust was evaluated.
    private(set) var server: ServerTrust?
    /// The seconds before a retry, if the response leads to one.
    private(set) var wait: Double?
    /// Why afnet gave the transfer up; the first reason stays.
    private var failure: TransferFailure?
    private var completion: CheckedContinuation<(any Error)?, Never>?

    init(
        _ task: URLSessionDataTask,
        _ arguments: Arguments,
        payload: Payload,
        identity: Identity,
        listeners: TransferListeners,
        sink: BodySink,
        console: Console,
        servers: TrustLog,
        attempts: Attempts
    ) {
        self.task = task
        self.arguments = arguments
        self.payload = payload
        self.sink = sink
        self.console = console
        self.servers = servers
        self.identity = identity
        self.listeners = listeners
        self.attempts = attempts
        heads = HeadLog(arguments.headFile)
        request = task.originalRequest
        trace = Trace(console, SecretText(isShown: arguments.showsSecrets))
    }

    func run(from part: PartialTransfer?) async throws(TransferFailure) {
        self.part = part
        listeners.attach(self, to: task)
        let error = await withCheckedContinuation { continuation in
            completion = continuation
            task.resume()
        }
        finishSending()
        finishProgress()
        if error == nil { checkRest() }
        closeSink(isComplete: error == nil && failure == nil)
        if metrics?.transactionMetrics.last?.negotiatedTLSProtocolVersion != nil {
            server = servers.server(request?.url?.host)
        }
        if arguments.isVerbose, let metrics { trace.times(metrics, server) }
        if var failure = failure ?? error.map({ explain($0) }) ?? verdict {
            if sink.isFile, sink.isOpen, !isUndone, failure.code != .statusRefused { failure.keptIn = sink.name }
            throw failure
        }
    }

    private func explain(_ error: any Error) -> TransferFailure {
        let hasResponse = metrics?.transactionMetrics.last?.responseStartDate != nil
        return TransferFailure(error, hasResponse: hasResponse)
    }

    private func closeSink(isComplete: Bool) {
        do throws(SystemFailure) {
            try sink.close(isComplete: isComplete)
        } catch {
            failure = failure ?? .cannotWrite(sink, error)
        }
    }

    var response: HTTPURLResponse? { task.response as? HTTPURLResponse }

    /// Cancels the transfer because another one has failed and there is --fail-early.
    func abandon() {
        giveUp(TransferFailure(.otherProtocolError, "given up because of --fail-early"))
    }

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

    // MARK: - The response

    func redirected(by response: HTTPURLResponse, to next: URLRequest) -> URLRequest {
        note(response)
        var next = arguments.redirects.adjust(
            next,
            after: response.statusCode,
            to: task.currentRequest,
            madeFrom: task.originalRequest,
            payload.newStream
        )
        if arguments.refersToRedirects, let source = response.url, let target = next.url {
            next.setValue(RedirectPolicy.referer(from: source, to: target), forHTTPHeaderField: "Referer")
        }
        request = next
        return next
    }

    /// Shows and logs the head of any response.
    private func note(_ response: HTTPURLResponse) {
        if arguments.isVerbose {
            if let request { trace.request(request, length: task.countOfBytesExpectedToSend) }
            trace.response(response)
        }
        do throws(TransferFailure) {
            try heads.add(response)
        } catch {
            failure = failure ?? error
        }
    }

    /// A response has arrived. Returns whether to receive the body.
    func begin(_ response: URLResponse) -> Bool {
        if let response = response as? HTTPURLResponse {
            accept(response)
        } else {
            giveUp(TransferFailure(.unsupported, "only http and https URLs are loaded"))
        }
        return failure == nil
    }

    private func accept(_ response: HTTPURLResponse) {
        finishSending()
        note(response)
        guard failure == nil, mayBegin(response), !dropsBody else { return }
        // What a response to HEAD and a 304 say of a length is that of another response.
        let isWithoutBody = request?.httpMethod == "HEAD" || [204, 304].contains(response.statusCode)
        let length = isWithoutBody ? 0 : response.expectedContentLength
        if arguments.isCompressed, length != 0, response.hasUndecodedContent {
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
            try sink.open(recognizedBy: arguments.includesHead ? nil : validator)
            if arguments.includesHead {
                try sink.write(Data((sink.isTerminal ? heads.harmlessText : heads.text).utf8))
            }
        } catch {
            failure = .cannotWrite(sink, error)
        }
        if showsProgress { progress = newBar(length) }
    }

    /// The plain bar is also shown for standard output, unless that is a terminal.
    private var showsProgress: Bool {
        guard !arguments.isSilent, !arguments.isParallel, console.isTerminal else { return false }
        switch arguments.progress {
        case .full: return sink.isFile
        case .plain: return sink.isFile || !Descriptor.standardOutput.isTerminal
        case .none: return false
        }
    }

    private func newBar(_ expected: Int64) -> ProgressBar {
        ProgressBar(expected: expected, width: console.width, isPlain: arguments.progress == .plain)
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
            // The body of an error does not belong behind a part.
            if mode == .dropsBody || part != nil { failure = refusal } else { verdict = refusal }
        } else if let part, answer == .refused {
            failure = .notResumed(part, response.statusCode)
        }
        return failure == nil
    }

    func take(_ data: Data) {
        guard failure == nil, !dropsBody else { return }
        received += Int64(data.count)
        if let limit = arguments.maximumSize, received > limit { return giveUp(.tooLarge(limit)) }
        if let missing, missing < 0 { return giveUp(notTheRest(.rangeNotHonoured)) }
        if sink.isTerminal, !sink.isFile, data.contains(0) { return giveUp(.binaryForTerminal) }
        do throws(SystemFailure) {
            try sink.write(data)
        } catch {
            return giveUp(.cannotWrite(sink, error))
        }
        if let line = progress?.line(received: received) { drawProgress(line) }
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

    private func drawProgress(_ line: String) {
        console.write("\r\(line)\u{1B}[K")
    }

    func sent(_ count: Int64, of expected: Int64) {
        // Once the body arrives, standard output may be the same terminal.
        guard showsProgress, task.response == nil else { return }
        var bar = sending ?? newBar(expected)
        if let line = bar.line(received: count) { drawProgress(line) }
        sending = bar
    }

    /// The body for a request that is sent again.
    var newBodyStream: InputStream? { payload.newStream }

    private func finishSending() {
        guard let bar = sending else { return }
        sending = nil
        drawProgress(bar.text(received: task.countOfBytesSent))
        console.write("\n")
    }

    private func finishProgress() {
        guard let progress else { return }
        drawProgress(progress.text(received: received))
        console.write("\n")
    }
}

extension TransferFailure {
    fileprivate static let binaryForTerminal = TransferFailure(
        .cannotWrite,
        "the body is binary and would upset the terminal: send it to a file with --output PATH"
    )

    static func refused(_ status: Int) -> TransferFailure {
        let phrase = HTTPURLResponse.localizedString(forStatusCode: status)
        return TransferFailure(.statusRefused, "the server answered \(status), \(phrase)")
    }

    fileprivate static func notResumed(_ part: PartialTransfer, _ status: Int) -> TransferFailure {
        let reason = part.validator == nil ? "" : ", perhaps because what is there has changed"
        return TransferFailure(
            .rangeNotHonoured,
            "the server does not go on at byte \(part.offset), it answered \(status)\(reason): "
                + "load it from the beginning"
        )
    }

    fileprivate static func coded(_ response: HTTPURLResponse) -> TransferFailure {
        let coding = response.value(forHTTPHeaderField: "Content-Encoding") ?? ""
        return TransferFailure(
            .contentNotDecoded,
            "the body has the coding \(coding), which afnet cannot undo: leave --compressed out to get it as it is"
        )
    }

    fileprivate static func tooLarge(_ limit: Int64) -> TransferFailure {
        TransferFailure(.tooLarge, "the body is larger than the \(limit) bytes of --max-filesize")
    }
}
