import AFNetworking
import AFNetworkingTesting
import Foundation
import Synchronization

/// Sends a log while it is written: `tail -f app.log | swift run LogShipper URL`.
///
/// The lines leave as they come, and gzip makes them shorter. What the collector answers is printed meanwhile. The field
/// behind the body says how many lines there were, so the collector knows when it has all of them.
///
/// Without arguments it sends a log of its own to a server of its own.
@main struct LogShipper {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        if let url = arguments.first.flatMap({ URL(string: $0) }), arguments.count == 1 {
            guard let log = InputStream(fileAtPath: "/dev/stdin") else { exit(2) }
            await exit(ship(log, to: url))
        } else if arguments.isEmpty {
            await exit(rehearse())
        }
        print("usage: LogShipper URL")
        exit(2)
    }

    /// - Returns: The exit code.
    static func ship(_ log: InputStream, to collector: URL) async -> Int32 {
        let lines = CountedLines(of: log)
        let sizes = Sizes()
        var request = URLRequest(url: collector)
        request.httpMethod = "POST"
        request.setValue("text/plain; charset=utf-8", forHTTPHeaderField: "Content-Type")
        request.httpBodyStream = lines
        request.bodyCoding = .gzip
        request.trailers = RequestTrailers("X-Lines") { [count = lines.count] in ["X-Lines": "\(count.value)"] }
        let session = URLSession(configuration: .ephemeral, delegate: sizes, delegateQueue: nil)
        do {
            let (answer, response) = try await session.bytes(for: request)
            for try await line in answer.lines { print("collector: \(line)") }
            session.finishTasksAndInvalidate()
            guard let status = (response as? HTTPURLResponse)?.statusCode, (200..<300).contains(status) else {
                return 1
            }
            print("\(lines.count.value) lines, \(await sizes.text())")
            return 0
        } catch {
            session.invalidateAndCancel()
            print("the log was not sent: \(error.localizedDescription)")
            return 1
        }
    }

    // MARK: - A server to try it with

    private static func rehearse() async -> Int32 {
        do {
            let server = try collector()
            let lines = (1...20_000).map { "2026-11-30T12:00:00Z app[\($0 % 7)]: request \($0) took \($0 % 90) ms\n" }
            let code = await ship(InputStream(data: Data(lines.joined().utf8)), to: server.url("/logs"))
            for request in server.requests {
                print(
                    "the collector got \(request.bodyByteCount) bytes, and X-Lines:",
                    request.trailers["X-Lines"] ?? "-"
                )
            }
            return code
        } catch {
            print(error)
            return 1
        }
    }

    /// A server that answers when it has read the head of the request, before the log is over.
    static func collector() throws -> TestServer {
        let server = try TestServer()
        server.route("POST", "/logs", answering: .head) { request in
            .text("reading \(request.headers["Content-Encoding"] ?? "plain text")\nkeep them coming\n")
        }
        return server
    }
}

/// A stream that counts the lines that were read of it.
final class CountedLines: InputStream {
    final class Count: Sendable {
        private let lines = Atomic(0)

        var value: Int { lines.load(ordering: .relaxed) }
        func add(_ count: Int) { lines.add(count, ordering: .relaxed) }
    }

    let count = Count()
    private let content: InputStream

    init(of content: InputStream) {
        self.content = content
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { content.streamStatus }
    override var streamError: (any Error)? { content.streamError }
    override var hasBytesAvailable: Bool { content.hasBytesAvailable }
    override func open() { content.open() }
    override func close() { content.close() }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        let length = content.read(buffer, maxLength: maxLength)
        count.add(UnsafeBufferPointer(start: buffer, count: max(length, 0)).count { $0 == UInt8(ascii: "\n") })
        return length
    }
}

/// How long the log was, and how long on its way.
private final class Sizes: URLSessionTaskDelegate {
    private let (metrics, collected) = AsyncStream.makeStream(of: URLSessionTaskMetrics.self)

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        collected.yield(metrics)
        collected.finish()
    }

    func text() async -> String {
        for await metrics in metrics {
            guard let sent = metrics.transactionMetrics.last else { break }
            return "\(sent.countOfRequestBodyBytesBeforeEncoding) bytes, sent as \(sent.countOfRequestBodyBytesSent)"
        }
        return "nothing sent"
    }
}
