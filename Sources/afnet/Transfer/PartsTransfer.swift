import AFURLSession
import Foundation
import Glibc

/// Loads one URL to a file by several requests at a time, for `--parts`.
@MainActor final class PartsTransfer {
    private let request: URLRequest
    private let path: String
    private let parts: DownloadParts
    private let listener: PartsListener
    private let session: URLSession
    private let line: MeterLine?
    /// The meter of all transfers that run in parallel.
    private let meter: GroupMeter?
    private let isPlain: Bool
    private let progress = Progress(totalUnitCount: 0)
    private(set) var response: HTTPURLResponse?

    init(
        _ request: URLRequest,
        to path: String,
        arguments: Arguments,
        identity: Identity,
        session: URLSession,
        console: Console,
        meter: GroupMeter?
    ) {
        self.request = request
        self.path = path
        self.session = session
        self.meter = meter
        parts = DownloadParts(arguments.parts ?? 1)
        listener = PartsListener(identity, arguments: arguments)
        let isShown = !arguments.isSilent && !arguments.isParallel && console.isTerminal && arguments.progress != .none
        line = isShown ? MeterLine(console) : nil
        isPlain = arguments.progress == .plain
    }

    /// The bytes of the file that are there, also those of an earlier run.
    private var received: Int64 { progress.completedUnitCount }

    func run() async throws(TransferFailure) {
        let drawing = Task { await draw() }
        defer { drawing.cancel() }
        let file = URL(fileURLWithPath: path)
        do {
            let response = try await session.download(
                for: request,
                to: file,
                inParts: parts,
                progress: progress,
                delegate: listener
            )
            self.response = response as? HTTPURLResponse
        } catch {
            response = (error as? URLError)?.refusedResponse?.response
            var failure = response.map { .refused($0.statusCode) } ?? TransferFailure(error, hasResponse: received > 0)
            if access(path + ".parts", F_OK) == 0 { failure.keptIn = path + ".parts" }
            line?.end()
            throw failure
        }
        // The library makes files for this user alone; those of commands are as the user has them.
        let mask = umask(0)
        umask(mask)
        chmod(path, 0o666 & ~mask)
        if let line {
            line.draw(bar(line).text(received: received))
            line.end()
        }
    }

    private func bar(_ line: MeterLine) -> ProgressBar {
        ProgressBar(expected: progress.totalUnitCount, width: line.width, isPlain: isPlain)
    }

    /// Shows how much is there, until the task is cancelled.
    private func draw() async {
        var (bar, known) = (nil as ProgressBar?, Int64(0))
        while !Task.isCancelled {
            meter?.moved(received - known)
            known = received
            if let line, progress.totalUnitCount > 0 {
                bar = bar ?? self.bar(line)
                bar?.fit(into: line.width)
                if let text = bar?.line(received: received) { line.draw(text) }
            }
            try? await Task.sleep(for: ProgressBar.interval)
        }
    }
}

/// Answers for each part what the session asks.
private final class PartsListener: AnsweringDelegate {
    let identity: Identity
    private let arguments: Arguments

    init(_ identity: Identity, arguments: Arguments) {
        (self.identity, self.arguments) = (identity, arguments)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(arguments.redirected(request, by: response, of: task, as: identity))
    }
}
