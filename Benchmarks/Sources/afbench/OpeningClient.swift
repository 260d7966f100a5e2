import AFURLSession
import Foundation
import Harness

/// A folder of a cache, with so many responses in it.
private struct CacheFolder: Sendable {
    private static let limit = 1 << 30

    private let folder: URL

    /// Fills the folder if an earlier process has not: all of a run's use one.
    init(_ bench: Bench, _ knowledge: Knowledge) {
        let home = FileManager.default.temporaryDirectory
        folder = home.appendingPathComponent("stored-\(knowledge.count)", isDirectory: true)
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            bench.arguments.fail("no folder for a cache: \(error)")
        }
        fill(knowledge, url: bench.arguments.url)
    }

    private func fill(_ knowledge: Knowledge, url: URL) {
        let cache = cache()
        for number in 0..<knowledge.count {
            guard let stored = URL(string: "http://\(Knowledge.host)/stored/\(number)"),
                let response = HTTPURLResponse(
                    url: stored,
                    statusCode: 200,
                    httpVersion: "HTTP/1.1",
                    headerFields: ["Cache-Control": "max-age=86400", "Content-Type": "application/json"]
                )
            else { continue }
            cache.storeCachedResponse(
                CachedURLResponse(response: response, data: Data(#"{"id":123456,"name":"01234567890123456"}"#.utf8)),
                for: URLRequest(url: stored)
            )
        }
    }

    /// A cache that has not opened the folder.
    func cache() -> URLCache { URLCache(memoryCapacity: 4 << 20, diskCapacity: Self.limit, directory: folder) }
}

/// Makes the first request of one session after the other, each with a cache that opens the folder.
private struct FirstRequests: Sendable {
    private let bench: Bench
    private let folder: CacheFolder

    init(_ bench: Bench, _ knowledge: Knowledge) {
        (self.bench, folder) = (bench, CacheFolder(bench, knowledge))
    }

    func load(_ url: URL, done: @escaping @Sendable (Data?) -> Void) {
        let configuration = bench.configuration()
        configuration.urlCache = folder.cache()
        let session = URLSession(configuration: configuration)
        let task = session.dataTask(with: URLRequest(url: url)) { data, response, error in
            bench.check(response, error)
            session.finishTasksAndInvalidate()
            done(data)
        }
        task.resume()
    }
}

/// First requests, one after the other.
final class OpeningClient: Client {
    private let first: FirstRequests
    private let knowledge: Knowledge

    init(_ bench: Bench, _ knowledge: Knowledge) {
        (self.knowledge, first) = (knowledge, FirstRequests(bench, knowledge))
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        startNext(knowledge.url(url), tally)
    }

    private func startNext(_ url: URL, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        first.load(url) { [self] data in
            tally.count(data?.count ?? 0)
            tally.finish(number)
            startNext(url, tally)
        }
    }
}

/// Requests of a session without a cache, while others open theirs.
final class BesideClient: Client {
    private let first: FirstRequests
    private let knowledge: Knowledge
    private let client: CompletionClient
    private let bench: Bench

    init(_ bench: Bench, _ knowledge: Knowledge) {
        (self.knowledge, self.bench) = (knowledge, bench)
        first = FirstRequests(bench, knowledge)
        client = CompletionClient(bench)
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        open(knowledge.url(url), besides: tally)
        client.load(knowledge.url(url), inFlight: inFlight, tally)
    }

    /// Until all requests of the tally are claimed.
    private func open(_ url: URL, besides tally: Tally) {
        guard tally.isLeft else { return }
        first.load(url) { [self] _ in open(url, besides: tally) }
    }
}
