import AFBase
import AFLoop
import AFTLS
import AFVirtualWorld
import AFWire
import Foundation
import Glibc
import Testing

@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

/// The cache: its rules, its store, its access, and `URLCache`.
enum CacheTests {
    /// `./dev kills` asks for every call.
    static let killsAll = ProcessInfo.processInfo.environment["AFNET_KILLS"] == "all"

    static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// Seconds since 1970 at which every test begins.
    static let start: Int64 = 1_700_000_000

    static func at(_ seconds: Int64) -> CacheInstant {
        CacheInstant(wall: start + seconds, monotonic: 5000 + seconds)
    }

    static func headers(_ fields: [(String, String)]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers.append(name, value) }
        return headers
    }

    static func frozen(
        _ url: String = "http://a.test/page",
        _ fields: [String: String] = [:],
        method: String = "GET"
    ) throws -> WireRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return try RequestFreezer.freeze(request)
    }

    static func request(
        _ url: String = "http://a.test/page",
        _ fields: [String: String] = [:],
        method: String = "GET"
    ) throws -> CacheRequest {
        CacheRequest(try frozen(url, fields, method: method))
    }

    /// A response that came at the start, `delay` seconds after it was asked for.
    static func head(
        _ fields: [(String, String)],
        status: Int = 200,
        for request: CacheRequest,
        partition: CachePartition = .open,
        at seconds: Int64 = 0,
        delay: Int64 = 0,
        isDecoded: Bool = false
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
            responseMonotonic: 5000 + seconds
        )
    }

    static func date(_ seconds: Int64) -> String { HTTPDate.text(start + seconds) }

    static func plan(
        _ fields: [(String, String)],
        _ question: [String: String] = [:],
        policy: CacheUse = .useProtocolCachePolicy,
        after seconds: Int64,
        method: String = "GET",
        url: String = "http://a.test/page"
    ) throws -> String {
        let request = try request(url, question, method: method)
        let stored = head(fields, for: request)
        return switch CacheRules.plan(request, policy: policy, stored: stored, now: at(seconds)) {
        case .network: "network"
        case .serve: "serve"
        case .validate: "validate"
        case .serveAndValidate: "serve, validate"
        case .fail: "fail"
        }
    }
}

/// Clocks that stand where the test puts them.
final class CacheClocks: Sendable {
    private let seconds = Lock(Int64(0))

    func advance(by interval: Int64) { seconds.withLock { $0 += interval } }
    var wall: Int64 { CacheTests.start + seconds.withLock { $0 } }
    var monotonic: Int64 { 5000 + seconds.withLock { $0 } }
}

/// A store in a folder of the test's own.
final class CacheScene {
    let scratch: ScratchFolder
    let clocks = CacheClocks()
    let store: CacheStore

    init(memory: Int = 1 << 20, disk: Int = 4 << 20, in scratch: ScratchFolder? = nil) throws {
        let scratch = try scratch ?? ScratchFolder()
        self.scratch = scratch
        store = CacheScene.store(in: scratch.url.path, memory: memory, disk: disk, clocks)
    }

    static func store(in path: String?, memory: Int, disk: Int, _ clocks: CacheClocks) -> CacheStore {
        CacheStore(
            memoryCapacity: memory,
            diskCapacity: disk,
            path: path,
            wallClock: { clocks.wall },
            monotonicClock: { clocks.monotonic }
        )
    }

    /// Another one for the same folder, which knows nothing yet.
    func reopened(memory: Int = 1 << 20, disk: Int = 4 << 20) -> CacheStore {
        CacheScene.store(in: scratch.url.path, memory: memory, disk: disk, clocks)
    }

    var folder: URL { scratch.file(CacheFolder.name) }
    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }

    static func entry(
        _ url: String,
        _ body: String,
        _ fields: [(String, String)] = [("ETag", "\"1\"")],
        at seconds: Int64 = 0,
        partition: CachePartition = .open,
        mayGoToDisk: Bool = true
    ) throws -> CacheEntry {
        let request = try CacheTests.request(url)
        let head = CacheTests.head(fields, for: request, partition: partition, at: seconds)
        return CacheEntry(head, body: Data(body.utf8), mayGoToDisk: mayGoToDisk)
    }

    func put(_ url: String, _ body: String, at seconds: Int64 = 0) throws {
        store.insert(try CacheScene.entry(url, body, at: seconds))
        store.catchUp()
    }

    func get(_ url: String, from other: CacheStore? = nil) throws -> String? {
        try CacheScene.get(url, from: other ?? store)
    }

    static func get(_ url: String, from store: CacheStore) throws -> String? {
        let request = try CacheTests.request(url)
        let choose: ([CacheEntry]) -> CacheEntry? = { entries in
            CacheRules.select(from: entries, head: \.head, for: request, in: [.open], decodes: false)
        }
        let entry: CacheEntry? =
            switch store.glance(at: request.key, choose) {
            case .nothing: nil
            case .found(let entry): entry
            case .unknown: store.load(request.key, choose)
            }
        return entry.map { String(decoding: $0.body, as: UTF8.self) }
    }
}

/// A access on a virtual loop.
final class DoorScene {
    let virtual = VirtualWorld()
    let clocks = CacheClocks()
    let cache: URLCache
    let world: World
    private let access: LoopBound<CacheAccess>
    private let disk: CacheScene?

    /// - Parameter disk: Is there for as long as this.
    init(_ cache: URLCache? = nil, on disk: CacheScene? = nil) {
        self.disk = disk
        let clocks = clocks
        self.cache = cache ?? URLCache(store: CacheScene.store(in: nil, memory: 1 << 20, disk: 0, clocks))
        let loop = virtual.loop
        world = World(
            loop: loop,
            opener: SocketOpener(),
            resolver: LoopBound(GetaddrinfoResolver(loop: loop), on: loop),
            workers: virtual.workers,
            wallClock: { clocks.wall }
        )
        access = LoopBound(CacheAccess(self.cache, in: world), on: loop)
    }

    /// Runs on the loop, and until nothing happens any more.
    func onLoop<Result: Sendable>(_ body: @escaping @Sendable (CacheAccess) throws -> Result) throws -> Result {
        let result = Lock<Swift.Result<Result, any Error>?>(nil)
        virtual.loop.enqueue { [access] in
            let made = Swift.Result { try body(access.value) }
            result.withLock { $0 = made }
        }
        virtual.advance(by: .seconds(1))
        return try #require(result.withLock { $0 }).get()
    }

    func question(
        _ request: WireRequest,
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        partition: CachePartition = .open,
        decodes: Bool = true
    ) -> CacheQuestion {
        CacheQuestion(request: request, policy: policy, partition: partition, decodes: decodes)
    }

    func lookUp(_ question: CacheQuestion) throws -> CacheFinding {
        let findings = Lock<[CacheFinding]>([])
        try onLoop { access in
            access.lookUp(question) { finding in findings.withLock { $0.append(finding) } }
        }
        let all = findings.withLock { $0 }
        #expect(all.count == 1)
        return try #require(all.first)
    }

    /// Stores what a server says.
    func store(
        _ body: String,
        _ fields: [(String, String)],
        for question: CacheQuestion,
        status: Int = 200,
        isDecoded: Bool = true
    ) throws {
        try onLoop { access in
            let writer = access.beginStore(
                status,
                .http11,
                CacheTests.headers(fields),
                for: question,
                sent: access.moment(),
                isDecoded: isDecoded
            )
            Array(body.utf8).withUnsafeBytes { writer?.append($0) }
            writer?.finish()
        }
    }

    func body(_ question: CacheQuestion) throws -> String? {
        guard case .serve(let hit) = try lookUp(question) else { return nil }
        return String(decoding: hit.body, as: UTF8.self)
    }
}

extension CacheTests {
    static func digest(_ bytes: [UInt8]) -> [UInt8] { SHA256Digest.of(bytes) }
}
