import AFWire

@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

/// The cache as loads see it.
enum CacheTests: CacheSamples {}

extension CacheAccess {
    /// As a load does.
    func lookUp(_ question: CacheQuestion, _ done: @escaping (CacheFinding) -> Void) {
        switch glance(question) {
        case .known(let finding): done(finding)
        case .onDisk(let look): ask(look, done: done)
        }
    }
}

/// A cache access on a virtual loop.
final class CacheAccessScene {
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
            wallClock: { WallTime(seconds: clocks.wall) }
        )
        access = LoopBound(CacheAccess(cache: self.cache, in: world), on: loop)
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
        under scope: TrustScope = .clear,
        decodes: Bool = true
    ) -> CacheQuestion {
        CacheQuestion(request: request, policy: policy, scope: scope, cookies: .none, decodes: decodes)
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
                version: .http11,
                headers: CacheTests.headers(fields),
                for: question,
                sent: access.moment(),
                ticket: access.ticket,
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
