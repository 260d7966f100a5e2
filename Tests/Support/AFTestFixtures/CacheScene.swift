import AFBase
package import AFState
package import AFTestSupport
package import AFTransport
import AFURLTypes
package import AFWire
package import Foundation

/// Requests and responses for tests of the cache: a namespace of tests that conforms has them as its own.
package protocol CacheSamples {}

extension CacheSamples {
    /// Seconds since 1970 at which every test begins.
    package static var start: Int64 { CacheClocks.start }

    package static func headers(_ fields: [(String, String)]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers.append(name, value: value) }
        return headers
    }

    package static func frozen(
        _ url: String = "http://a.test/page",
        _ fields: [String: String] = [:],
        method: String = "GET"
    ) throws -> WireRequest {
        var request = URLRequest(url: try need(URL(string: url)))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return try RequestFreezer.freeze(request)
    }

    package static func request(
        _ url: String = "http://a.test/page",
        _ fields: [String: String] = [:],
        method: String = "GET"
    ) throws -> CacheRequest {
        CacheRequest.of(try frozen(url, fields, method: method))
    }

    /// A response that came at the start, `delay` seconds after it was asked for.
    package static func head(
        _ fields: [(String, String)],
        status: Int = 200,
        for request: CacheRequest,
        partition: CachePartition = .open,
        at seconds: Int64 = 0,
        delay: Int64 = 0,
        isDecoded: Bool = false,
        options: CacheOptions = .guessesLifetimes
    ) -> StoredHead {
        let headers = headers(fields)
        return StoredHead(
            key: request.key,
            partition: partition,
            vary: (VaryField.names(in: headers) ?? []).map { VaryField($0, of: request.headers) },
            isDecoded: isDecoded,
            status: status,
            version: .http11,
            headers: headers,
            requestTime: start + seconds - delay,
            responseTime: start + seconds,
            responseMonotonic: 5000 + seconds,
            options: options
        )
    }
}

/// Clocks that stand where the test puts them.
package final class CacheClocks: Sendable {
    /// Seconds since 1970 at which every test begins.
    package static let start: Int64 = 1_700_000_000

    private let seconds = Lock(Int64(0))

    package init() {}

    package func advance(by interval: Int64) { seconds.withLock { $0 += interval } }
    package var wall: Int64 { CacheClocks.start + seconds.withLock { $0 } }
    package var monotonic: Int64 { 5000 + seconds.withLock { $0 } }
}

/// A store in a folder of the test's own.
package final class CacheScene: CacheSamples {
    package let scratch: ScratchFolder
    package let clocks = CacheClocks()
    package let store: CacheStore

    package init(memory: Int = 1 << 20, disk: Int = 4 << 20, in scratch: ScratchFolder? = nil) throws {
        let scratch = try scratch ?? ScratchFolder()
        self.scratch = scratch
        store = CacheScene.store(in: scratch.url.path, memory: memory, disk: disk, clocks)
    }

    package static func store(in path: String?, memory: Int, disk: Int, _ clocks: CacheClocks) -> CacheStore {
        CacheStore(
            memoryCapacity: memory,
            diskCapacity: disk,
            home: path.map { CacheHome(path: $0, levels: 2) },
            wallClock: { clocks.wall },
            monotonicClock: { clocks.monotonic }
        )
    }

    /// Another one for the same folder, which knows nothing yet.
    package func reopened(memory: Int = 1 << 20, disk: Int = 4 << 20) -> CacheStore {
        CacheScene.store(in: scratch.url.path, memory: memory, disk: disk, clocks)
    }

    package var folder: URL { scratch.file(CacheFolder.name) }
    package var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }

    package static func entry(
        _ url: String,
        _ body: String,
        _ fields: [(String, String)] = [("ETag", "\"1\"")],
        at seconds: Int64 = 0,
        partition: CachePartition = .open,
        mayGoToDisk: Bool = true
    ) throws -> CacheEntry {
        let request = try CacheScene.request(url)
        let head = CacheScene.head(fields, for: request, partition: partition, at: seconds)
        return CacheEntry(head: head, body: Data(body.utf8), mayGoToDisk: mayGoToDisk)
    }

    package func put(_ url: String, _ body: String, at seconds: Int64 = 0) throws {
        store.insert(try CacheScene.entry(url, body, at: seconds))
        store.catchUp()
    }

    package func get(_ url: String, from other: CacheStore? = nil) throws -> String? {
        try CacheScene.get(url, from: other ?? store)
    }

    package static func get(_ url: String, from store: CacheStore) throws -> String? {
        let request = try CacheScene.request(url)
        let choose: ([CacheEntry]) -> CacheEntry? = { entries in
            CacheRules.select(from: entries, head: \.head, for: request, under: .clear, decodes: false)
        }
        let entry: CacheEntry? =
            switch store.glance(at: request.key, choose: choose) {
            case .nothing: nil
            case .found(let entry): entry
            case .unknown: store.load(request.key, choose: choose)
            }
        return entry.map { String(decoding: $0.body, as: UTF8.self) }
    }
}

extension CachePartition {
    /// Of responses that came without TLS.
    package static let open = CachePartition(.clear, for: .unnamed)

    /// Of a server that rules with this fingerprint have accepted.
    package static func verified(by fingerprint: [UInt8]) -> CachePartition {
        CachePartition(.rules(fingerprint, isProven: false), for: .unnamed)
    }

    /// Of a server that was accepted for reasons that only this session knows.
    package static func unnamed(_ session: UInt64, _ reasons: [UInt8]) -> CachePartition {
        CachePartition(.word(inSession: session, reasons: reasons), for: .unnamed)
    }
}
