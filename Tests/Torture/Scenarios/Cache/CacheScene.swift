import AFBase
import AFLoop
import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

/// A cache in a folder, and a page that is another one at each visit.
final class CacheScene {
    let server: TestServer
    private(set) var cache: URLCache
    private let stage: Stage
    private let visited = Lock(0)
    /// No older version may be answered from now on.
    private var oldest = 1

    var url: URL { server.url("/page") }
    private var folder: URL { stage.folder.appending(path: "cache") }

    /// - Parameter answer: The page, for the so many-th visit that was not answered with a 304.
    init(on stage: Stage, _ answer: @escaping @Sendable (Int) -> ServerReply) throws {
        self.stage = stage
        let visited = visited
        server = try stage.server { server in
            server.route("GET", "/page") { request in
                let next = answer(visited.withLock { $0 + 1 })
                if let tag = request.headers["If-None-Match"], tag == next.headers["ETag"] {
                    return ServerReply(status: 304).headers(next.headers)
                }
                visited.withLock { $0 += 1 }
                return next
            }
        }
        cache = Self.cache(on: stage)
    }

    private static func cache(on stage: Stage) -> URLCache {
        let folder = stage.folder.appending(path: "cache")
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 4 << 20, directory: folder)
        stage.bringUpToDate { _ = cache.currentDiskUsage }
        return cache
    }

    func session() -> URLSession {
        let cache = cache
        return stage.session(again: server.url("/again")) { $0.urlCache = cache }
    }

    /// Has another cache read what this one has written, as after a start of the program.
    func reopen() async {
        // What a session keeps it keeps before it does anything else, but perhaps after a completion.
        await withCheckedContinuation { continuation in
            stage.machine.loop.enqueue { continuation.resume() }
        }
        // Brings the disk up to date.
        _ = cache.currentDiskUsage
        cache = Self.cache(on: stage)
    }

    /// What is in the files of the cache.
    var files: [Data] {
        let names = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        return names.compactMap { ($0 as? URL).flatMap { try? Data(contentsOf: $0) } }
    }

    var visits: Int { visited.withLock { $0 } }

    /// From now on nothing will do that the server has said so far.
    func outdate() { oldest = visits + 1 }

    /// Without a fault the server was asked no more often than that.
    func demandVisits(_ count: Int) {
        stage.demand(stage.point != nil || visits == count, "\(visits) visits, not \(count)")
    }

    /// Loads the page, and looks whether it is none that is older than another one that was seen.
    @discardableResult
    func load(in session: URLSession, isReload: Bool = false) async -> Bool {
        var request = URLRequest(url: url)
        if isReload { request.cachePolicy = .reloadIgnoringLocalCacheData }
        guard let data = await stage.load(request, in: session) else { return false }
        let text = String(decoding: data, as: UTF8.self)
        let version = (oldest...max(oldest, visits)).first { text == "version \($0)" }
        stage.demand(version != nil, "\(text.prefix(40)), not one of versions \(oldest) to \(visits)")
        oldest = max(oldest, version ?? 0)
        return true
    }
}

extension ServerReply {
    /// An answer that stays fresh for as long as any scenario takes.
    static func kept(_ text: String) -> ServerReply { .text(text).header("Cache-Control", "max-age=600") }
}
