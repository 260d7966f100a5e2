import AFURLSession
import Foundation
import Synchronization

/// Keeps `concurrency` requests in flight until all of a run are done, in one of the public ways.
///
/// Anything but a 200 ends the program: a benchmark of failures is none.
final class Loader: Sendable {
    private let arguments: Arguments
    private let session: URLSession
    private let request: URLRequest
    private let delegate: LoadingDelegate
    private let discarder: DiscardingDelegate

    init(_ arguments: Arguments) {
        self.arguments = arguments
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = arguments.concurrency
        do {
            if let ca = arguments.ca { configuration.tls.anchors = try .file(ca) }
        } catch {
            stop("\(error)")
        }
        configuration.tls.resumesSessions = arguments.resumes
        if arguments.closes { configuration.maximumConnectionAge = 0 }
        request = URLRequest(url: arguments.url)
        delegate = LoadingDelegate(url: arguments.url)
        discarder = DiscardingDelegate(delegate)
        session =
            arguments.style == .discard
            ? URLSession(configuration: configuration, delegate: discarder, delegateQueue: nil)
            : arguments.style == .delegate
                ? URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                : URLSession(configuration: configuration)
    }

    /// Calls back when every request of the run has been answered.
    func load(_ tally: Tally, whenDone: @escaping @Sendable () -> Void) {
        let inFlight = min(arguments.concurrency, tally.total)
        switch arguments.style {
        case .completion:
            for _ in 0..<inFlight { startNext(tally, whenDone: whenDone) }
        case .download:
            for _ in 0..<inFlight { downloadNext(tally, whenDone: whenDone) }
        case .async:
            Task {
                await withTaskGroup { group in
                    for _ in 0..<inFlight { group.addTask { await self.loadInTurn(tally) } }
                }
                whenDone()
            }
        case .delegate, .discard:
            delegate.begin(tally, whenDone: whenDone)
            for _ in 0..<inFlight { delegate.startNext(on: session) }
        }
    }

    private func startNext(_ tally: Tally, whenDone: @escaping @Sendable () -> Void) {
        guard tally.claim() else { return }
        let start = Usage.nanoseconds()
        let task = session.dataTask(with: request) { data, response, error in
            Self.check(response, error)
            if tally.add(since: start, bytes: data?.count ?? 0) {
                whenDone()
            } else {
                self.startNext(tally, whenDone: whenDone)
            }
        }
        task.resume()
    }

    private func downloadNext(_ tally: Tally, whenDone: @escaping @Sendable () -> Void) {
        guard tally.claim() else { return }
        let start = Usage.nanoseconds()
        let task = session.downloadTask(with: request) { url, response, error in
            Self.check(response, error)
            let size = url.flatMap { try? $0.resourceValues(forKeys: [.fileSizeKey]).fileSize } ?? 0
            if tally.add(since: start, bytes: size) {
                whenDone()
            } else {
                self.downloadNext(tally, whenDone: whenDone)
            }
        }
        task.resume()
    }

    private func loadInTurn(_ tally: Tally) async {
        while tally.claim() {
            let start = Usage.nanoseconds()
            do {
                let (data, response) = try await session.data(for: request)
                Self.check(response, nil)
                _ = tally.add(since: start, bytes: data.count)
            } catch {
                Self.check(nil, error)
            }
        }
    }

    static func check(_ response: URLResponse?, _ error: (any Error)?) {
        guard let status = (response as? HTTPURLResponse)?.statusCode, error == nil, status == 200 else {
            stop("a request failed: \(error.map { "\($0)" } ?? "\(String(describing: response))")")
        }
    }
}

func stop(_ message: String) -> Never {
    FileHandle.standardError.write(Data("afbench: \(message)\n".utf8))
    exit(1)
}
