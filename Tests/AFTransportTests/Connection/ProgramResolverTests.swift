import AFBase
import AFLoop

@testable import AFTransport

/// Lookups of a program, which a test answers.
final class HeldLookups: Sendable {
    private struct Asked {
        var questions: [NameResolver.Question] = []
        var waiting: [CheckedContinuation<NameResolver.Answer, any Error>] = []
        var cancelled = 0
    }

    private let asked = Lock(Asked())

    var questions: [String] { asked.withLock { $0.questions.map { "\($0.host):\($0.port)" } } }
    var cancelled: Int { asked.withLock { $0.cancelled } }

    func lookup(_ question: NameResolver.Question) async throws -> NameResolver.Answer {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                asked.withLock {
                    $0.questions.append(question)
                    $0.waiting.append(continuation)
                }
            }
        } onCancel: {
            asked.withLock { $0.cancelled += 1 }
            answer(.failure(CancellationError()))
        }
    }

    /// Answers all that wait.
    func answer(_ result: Result<NameResolver.Answer, any Error>) {
        let waiting = asked.withLock { asked in
            defer { asked.waiting = [] }
            return asked.waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    func answer(_ addresses: String..., life: Duration = .zero) {
        answer(.success(NameResolver.Answer(addresses, timeToLive: life)))
    }
}

struct NoRegistry: Error {}

@Suite("Names that the program looks up")
final class ProgramResolverTests: TransferSuite {
    private let lookups = HeldLookups()
    private let others = HeldLookups()

    private func named(_ resolver: NameResolver, in world: TransferWorld? = nil) -> NameResolver {
        var resolver = resolver
        resolver.executor = LoopTaskExecutor((world ?? self.world).loop)
        return resolver
    }

    private func resolve(_ host: String = "api.test", _ addresses: [String] = ["192.0.2.1"], fields: String = "") {
        world.settings.pool.nameResolver = named(NameResolver(lookups.lookup))
        world.host(host, addresses)
        world.serveEcho(host, fields: fields)
    }

    private func resolveApart(_ addresses: [String] = ["192.0.2.1", "2001:db8::1"]) {
        resolve("api.test", addresses)
        world.settings.pool.nameResolver = named(NameResolver(ipv4: others.lookup, ipv6: lookups.lookup))
    }

    @Test func `the program's answer leads there, and the system is not asked`() {
        resolve()
        let load = world.get("http://api.test/")
        world.settle()
        #expect(lookups.questions == ["api.test:80"] && !load.isComplete)
        lookups.answer("192.0.2.1")
        world.run(load)

        #expect(load.body == "/" && world.resolver.names.isEmpty)
    }

    @Test func `lookups of one name at a time are one`() {
        resolve()
        let loads = (1...3).map { world.get("http://api.test/\($0)") }
        world.settle()
        lookups.answer("192.0.2.1")
        world.run(loads)

        #expect(lookups.questions.count == 1 && loads.map(\.body) == ["/1", "/2", "/3"])
    }

    @Test(arguments: [(0, 0, 2), (30, 29, 1), (30, 31, 2), (864_000, 3599, 1), (864_000, 3601, 2), (-5, 0, 2)])
    func `T-WRM-07 an answer holds for its life, and for an hour at most`(life: Int, after: Int, questions: Int) {
        resolve(fields: "Connection: close\r\n")
        for wait in [0, after] {
            world.advance(by: .seconds(wait))
            let load = world.get("http://api.test/")
            world.settle()
            lookups.answer("192.0.2.1", life: .seconds(life))
            world.run(load)
            #expect(load.body == "/")
        }

        #expect(lookups.questions.count == questions)
    }

    @Test func `T-WRM-07 no more than a thousand answers are kept`() {
        let asked = Lock(0)
        world.settings.pool.nameResolver = named(
            NameResolver { _ in
                asked.withLock { $0 += 1 }
                return NameResolver.Answer(["192.0.2.1"], timeToLive: .seconds(3600))
            }
        )
        for _ in 1...2 {
            for number in 0..<1100 { #expect(world.load("http://h\(number).test/").failure == "unreachable") }
        }

        #expect(asked.withLock { $0 } == 1100 + 76)
    }

    @Test(arguments: [Result<[String], NoRegistry>.failure(NoRegistry()), .success([]), .success(["x\u{1B}\n.test"])])
    func `T-WRM-08 a lookup that fails says whose it was, and is not remembered`(answer: Result<[String], NoRegistry>)
        throws
    {
        resolve()
        for _ in 1...2 {
            let load = world.get("http://api.test/")
            world.settle()
            lookups.answer(answer.map { .init($0, timeToLive: .seconds(60)) }.mapError { $0 as any Error })
            world.run(load)
            guard case .dial(.unresolved(let failure), _)? = load.error else {
                Issue.record("the load had \(load.all)")
                continue
            }
            #expect(failure.message.hasPrefix("the session's nameResolver"))
            // It may say what a registry has sent.
            #expect(failure.message.unicodeScalars.allSatisfy { $0.value >= 0x20 })
            #expect(failure.kind == ((try? answer.get()) == [] ? .notFound : .unavailable))
        }

        #expect(lookups.questions.count == 2)
    }

    @Test func `T-WRM-09 the filter judges each address that the program answers, kept ones included`() {
        resolve()
        world.settings.pool.addressFilter = .publicAddressesOnly
        let loads = (1...2).map { _ in
            let load = world.get("http://api.test/")
            world.settle()
            lookups.answer("10.0.0.1", "::ffff:127.0.0.1", life: .seconds(60))
            world.run(load)
            return load
        }

        #expect(loads.map(\.failure) == ["forbidden", "forbidden"] && lookups.questions.count == 1)
        #expect(world.network.connections.isEmpty)
    }

    @Test(arguments: ["localhost", "a.LOCALHOST.", "192.0.2.1", "elsewhere.test"])
    func `T-WRM-10 this machine, addresses and overrides are not the program's`(host: String) throws {
        resolve("localhost", ["127.0.0.1"])
        for name in ["a.localhost.", "a.LOCALHOST."] { world.host(name, "127.0.0.1") }
        world.host("other.test", "192.0.2.1")
        world.serveEcho("other.test")
        world.settings.pool.hostOverrides = [
            try #require(HostOverride(host: "elsewhere.test", toAddresses: ["192.0.2.1"]))
        ]
        let load = world.load("http://\(host)/")

        #expect(load.body == "/" && lookups.questions.isEmpty)
    }

    @Test(arguments: ["http", "socks5"])
    func `names of proxies are the program's, and those that the session looks up for them`(scheme: String) throws {
        let bench = try TransferBench("\(scheme)://proxy.test:3128")
        bench.world.settings.pool.nameResolver = named(NameResolver(lookups.lookup), in: bench.world)
        bench.world.host("proxy.test", "192.0.2.1")
        bench.proxy(scripts: [
            scheme == "http" ? [.echo] : [.bytes(3, [5, 0]), .bytes(10, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]), .echo]
        ])
        let load = bench.world.get("http://api.test/")
        for _ in 1...2 {
            bench.world.settle()
            lookups.answer("192.0.2.1")
        }
        bench.world.run(load)

        #expect(lookups.questions == (scheme == "http" ? [] : ["api.test:80"]) + ["proxy.test:3128"])
        #expect(load.head?.status == 200 && bench.finish() == [])
    }

    @Test func `T-WRM-08 a request that leaves does not wait, and the program hears when the last one has left`() {
        resolve()
        let loads = (1...2).map { world.get("http://api.test/\($0)") }
        world.settle()
        loads[0].cancel()
        world.settle()
        #expect(lookups.cancelled == 0)
        loads[1].cancel()
        world.settle()

        #expect(lookups.cancelled == 1 && world.network.connections.isEmpty)
    }

    // MARK: - Families apart

    @Test func `T-WRM-11 IPv6 addresses begin at once, and the other lookup holds up nothing`() {
        resolveApart()
        let (start, load) = (world.now, world.get("http://api.test/"))
        world.settle()
        lookups.answer("2001:db8::1")
        world.run(load)

        #expect(load.body == "/" && world.now == start && world.network.connections.map(\.address.isIPv6) == [true])
        others.answer("192.0.2.1")
        world.settle()
    }

    @Test func `T-WRM-11 IPv4 addresses begin after 50 ms`() {
        resolveApart()
        let (start, load) = (world.now, world.get("http://api.test/"))
        world.settle()
        others.answer("192.0.2.1")
        world.run(load)

        #expect(load.body == "/" && start.duration(to: world.now) == .milliseconds(50))
        lookups.answer(.failure(NoRegistry()))
        world.settle()
    }

    @Test func `T-WRM-11 within the 50 ms IPv6 goes first`() {
        resolveApart()
        let load = world.get("http://api.test/")
        world.settle()
        others.answer("192.0.2.1")
        world.advance(by: .milliseconds(49))
        lookups.answer("2001:db8::1")
        world.run(load)

        #expect(load.body == "/" && world.network.connections.map(\.address.isIPv6) == [true])
    }

    @Test func `T-WRM-11 addresses that come late are tried where the first ones fail`() {
        resolveApart()
        world.set(.refuses(), for: "2001:db8::1")
        let load = world.get("http://api.test/")
        world.settle()
        lookups.answer("2001:db8::1")
        world.advance(by: .seconds(1))
        #expect(!load.isComplete)
        others.answer("192.0.2.1")
        world.run(load)

        #expect(load.body == "/")
    }

    @Test func `T-WRM-11 addresses that come late are tried 250 ms after one that does not answer`() {
        resolveApart()
        world.set(.neverAnswers, for: "2001:db8::1")
        let load = world.get("http://api.test/")
        world.settle()
        lookups.answer("2001:db8::1")
        world.advance(by: .milliseconds(500))
        let start = world.now
        others.answer("192.0.2.1")
        world.run(load)

        #expect(load.body == "/" && start.duration(to: world.now) == .milliseconds(250))
    }

    @Test(arguments: [true, false])
    func `T-WRM-11 the failure of one family is no failure of the lookup, that of both is`(both: Bool) {
        resolveApart()
        let load = world.get("http://api.test/")
        world.settle()
        lookups.answer(.failure(NoRegistry()))
        world.settle()
        if both { others.answer() } else { others.answer("192.0.2.1") }
        world.run(load)

        #expect(both ? load.failure == "unavailable" : load.body == "/")
    }

    @Test func `T-WRM-11 a dial that comes between the answers begins with the first one`() {
        resolveApart()
        world.serveEcho("api.test", after: .seconds(1))
        let first = world.get("http://api.test/1")
        world.settle()
        lookups.answer("2001:db8::1")
        world.advance(by: .milliseconds(100))
        let (start, second) = (world.now, world.get("http://api.test/2"))
        world.run(first, second)

        #expect(first.body == "/1" && second.body == "/2" && start.duration(to: world.now) == .seconds(1))
        #expect(lookups.questions.count == 1 && world.network.connections.count == 2)
        others.answer("192.0.2.1")
        world.settle()
    }
}
