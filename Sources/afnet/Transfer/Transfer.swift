import AFURLSession
import Foundation

/// One URL: asks for it, and passes on what arrives.
///
/// The session calls back on the main queue, and a callback returns when the bytes are written. While it
/// waits for a slow reader, the session stops reading, and so the server has to wait too.
@MainActor final class Transfer {
    private let task: URLSessionDataTask
    private let arguments: Arguments
    private let sink: BodySink
    private let console: Console
    private let trace: Trace
    private let servers: TrustLog

    private var progress: ProgressBar?
    private var received: Int64 = 0
    private var metrics: URLSessionTaskMetrics?
    /// Why the transfer was given up on our side; the first reason stays.
    private var failure: TransferFailure?
    private var completion: CheckedContinuation<(any Error)?, Never>?

    init(
        _ task: URLSessionDataTask,
        _ arguments: Arguments,
        _ sink: BodySink,
        _ console: Console,
        _ servers: TrustLog
    ) {
        self.task = task
        self.arguments = arguments
        self.sink = sink
        self.console = console
        self.servers = servers
        trace = Trace(console)
    }

    func run() async throws(TransferFailure) {
        task.delegate = self
        let error = await withCheckedContinuation { continuation in
            completion = continuation
            task.resume()
        }
        finishProgress()
        closeSink()
        let server = servers.take()
        if arguments.isVerbose, let metrics { trace.times(metrics, server) }
        if var failure = failure ?? error.map({ explain($0) }) {
            if sink.isFile, sink.isOpen { failure.message += " What arrived is kept in \(sink.name)." }
            throw failure
        }
    }

    private func explain(_ error: any Error) -> TransferFailure {
        let hasResponse = metrics?.transactionMetrics.last?.responseStartDate != nil
        return TransferFailure(error, hasResponse: hasResponse)
    }

    private func closeSink() {
        do throws(SystemFailure) {
            try sink.close()
        } catch {
            failure = failure ?? .cannotWrite(sink, error)
        }
    }

    private func giveUp(_ reason: TransferFailure) {
        failure = failure ?? reason
        task.cancel()
    }
}

// MARK: - What the session says

extension Transfer: URLSessionDataDelegate {
    nonisolated func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        MainActor.assumeIsolated {
            if let response = response as? HTTPURLResponse { begin(response) }
            completionHandler(failure == nil ? .allow : .cancel)
        }
    }

    nonisolated func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        MainActor.assumeIsolated { take(data) }
    }

    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        MainActor.assumeIsolated {
            self.metrics = metrics
            // Only now it is known whether there was a connection to say it on.
            if arguments.isVerbose, task.response == nil { trace.request(metrics) }
        }
    }

    nonisolated func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        MainActor.assumeIsolated {
            completion?.resume(returning: error)
            completion = nil
        }
    }
}

// MARK: - The response

extension Transfer {
    private func begin(_ response: HTTPURLResponse) {
        if arguments.isVerbose {
            if let request = task.originalRequest { trace.request(request) }
            trace.response(response)
        }
        if arguments.failsOnStatus, response.statusCode >= 400 {
            let phrase = HTTPURLResponse.localizedString(forStatusCode: response.statusCode)
            failure = TransferFailure(.statusRefused, "the server answered \(response.statusCode), \(phrase)")
            return
        }
        let length = arguments.isHead ? 0 : response.expectedContentLength
        if let limit = arguments.maximumSize, length > limit {
            failure = .tooLarge(limit)
            return
        }
        do throws(SystemFailure) {
            try sink.open()
            if arguments.includesHead { try sink.write(Data(headText(of: response).utf8)) }
        } catch {
            failure = .cannotWrite(sink, error)
        }
        if sink.isFile, !arguments.isSilent, console.isTerminal { progress = ProgressBar(expected: length) }
    }

    private func headText(of response: HTTPURLResponse) -> String {
        var lines = ["HTTP \(response.statusCode)"]
        lines += response.headerFields.map { "\($0.name): \($0.value)" }
        if sink.isTerminal { lines = lines.map(TerminalText.escaped) }
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    private func take(_ data: Data) {
        guard failure == nil else { return }
        received += Int64(data.count)
        if let limit = arguments.maximumSize, received > limit { return giveUp(.tooLarge(limit)) }
        if sink.isTerminal, !sink.isFile, data.contains(0) { return giveUp(.binaryForTerminal) }
        do throws(SystemFailure) {
            try sink.write(data)
        } catch {
            return giveUp(.cannotWrite(sink, error))
        }
        if let line = progress?.line(received: received) { drawProgress(line) }
    }

    private func drawProgress(_ line: String) {
        console.write("\r\(line)\u{1B}[K")
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

    fileprivate static func tooLarge(_ limit: Int64) -> TransferFailure {
        TransferFailure(.tooLarge, "the body is larger than the \(limit) bytes of --max-filesize")
    }
}
