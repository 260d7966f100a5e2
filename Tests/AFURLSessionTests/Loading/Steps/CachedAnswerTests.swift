import AFWire

@testable import AFURLSession
@testable import AFURLTypes

/// What tasks get that are answered from a cache.
@Suite("Answers from a cache")
struct CachedAnswerTests {
    private let world = VirtualWorld()

    init() {
        world.hasVirtualDate = true
    }

    private func ages(_ method: String = "GET") -> [String]? {
        let events = world.send(method, "http://a.test/")
        world.run { events.isComplete }
        return (events.task.response as? HTTPURLResponse)?.headers.values("Age")
    }

    private func reply(_ fields: String, status: String = "200 OK") -> ServerStep {
        .reply("HTTP/1.1 \(status)\r\n\(fields)\r\nContent-Length: 4\r\n\r\nbody")
    }

    // MARK: - Age

    @Test func `an answer from the cache says how old it is now, in place of what it said when it came`() {
        world.script(
            "a.test",
            .expectRequest,
            reply("Age: 7\r\nX: y\r\nAge: 3\r\nCache-Control: max-age=60"),
            .stall
        )
        #expect(ages() == ["7", "3"])
        world.advance(by: .seconds(30))
        #expect(ages() == ["37"])
        world.advance(by: .seconds(10))
        #expect(ages("HEAD") == ["47"])

        #expect(world.network.connections.count == 1)
        #expect(world.finish() == [])
    }

    @Test func `an answer that its server has just confirmed has the age that the server says, if any`() {
        let same = "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n"
        world.script(
            "a.test",
            .expectRequest,
            reply("Age: 5\r\nETag: \"1\"\r\nCache-Control: max-age=10"),
            .expectRequest,
            .reply(same + "\r\n"),
            .expectRequest,
            .reply(same + "Age: 2\r\n\r\n"),
            .stall
        )
        #expect(ages() == ["5"])
        world.advance(by: .seconds(20))
        #expect(ages() == [])
        world.advance(by: .seconds(4))
        #expect(ages() == ["4"])
        world.advance(by: .seconds(20))
        #expect(ages() == ["2"])
        world.advance(by: .seconds(4))
        #expect(ages() == ["6"])
        #expect(world.finish() == [])
    }

    @Test func `an answer that is served stale says how old it is, also in place of an error`() {
        let error = reply("X: y", status: "503 Service Unavailable")
        let stale = reply("ETag: \"1\"\r\nCache-Control: max-age=10, stale-while-revalidate=20, stale-if-error=1000")
        world.scripts("a.test", [[.expectRequest, stale, .expectRequest, error], [.expectRequest, error, .again]])
        #expect(ages() == [])
        world.advance(by: .seconds(15))
        #expect(ages() == ["15"])
        world.advance(by: .seconds(100))
        #expect(ages() == ["115"])
        #expect(world.finish() == [])
    }

    @Test func `an answer without a validator stands in for an error, and for no 304 that it did not ask for`() {
        world.scripts(
            "a.test",
            [
                [
                    .expectRequest, reply("Cache-Control: max-age=10, stale-if-error=1000"),
                    .expectRequest, reply("X: y", status: "503 Service Unavailable"),
                    .expectRequest, .reply("HTTP/1.1 304 Not Modified\r\n\r\n"),
                    .expectRequest, .close,
                ],
                [.expectRequest, .close, .again],
            ]
        )
        #expect(ages() == [])
        world.advance(by: .seconds(20))
        #expect(ages() == ["20"])
        #expect((world.load("http://a.test/").task.response as? HTTPURLResponse)?.statusCode == 304)
        world.advance(by: .seconds(20))
        #expect(ages() == ["40"])
        world.advance(by: .seconds(1000))
        #expect(ages() == nil)
        #expect(world.finish() == [])
    }

    /// The cache judges before the step that waits, and before the interceptors.
    @Test(arguments: ["ETag: \"1\"\r\n", ""])
    func `an answer stands in for an error that a task would wait for or try again after`(validator: String) {
        let asked = Lock(0)
        let retrying = RetryingInterceptor { _ in
            asked.withLock { $0 += 1 }
            return .retry
        }
        world.configure {
            $0.requestInterceptors = [retrying]
            $0.waitsForConnectivity = true
        }
        world.host("a.test", "192.0.2.1")
        world.script(
            "a.test",
            .expectRequest,
            reply(validator + "Cache-Control: max-age=10, stale-if-error=1000\r\nX: y"),
            .expectRequest,
            reply("Connection: close", status: "503 Service Unavailable"),
            .close
        )
        #expect(ages() == [])
        world.advance(by: .seconds(20))
        #expect(ages() == ["20"])
        world.set(.failsAtOnce(ENETUNREACH), for: "192.0.2.1")
        world.advance(by: .seconds(10))

        let offline = world.load("http://a.test/")
        #expect(offline.body == "body" && !offline.all.contains(.waiting))
        #expect(asked.withLock { $0 } == 0)
        #expect(world.finish() == [])
    }

    // MARK: - Statuses

    /// The statuses of three loads in a row from a server that answers once with this, and then with 204.
    private func statuses(_ status: String, _ fields: String) -> [Int?] {
        let empty = ServerStep.reply("HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\n\r\n")
        world.script(
            "a.test",
            .expectRequest,
            reply(fields, status: status),
            .expectRequest,
            empty,
            .expectRequest,
            empty
        )
        return (1...3).map { _ in (world.load("http://a.test/").task.response as? HTTPURLResponse)?.statusCode }
    }

    @Test(arguments: [203, 299, 400, 404, 499, 500, 503, 599, 999])
    func `a response of any status is given again if it says for how long`(status: Int) {
        #expect(statuses("\(status) X", "Cache-Control: max-age=60") == [status, status, status])
    }

    @Test(arguments: [299, 400, 404, 499, 500, 503, 599, 999])
    func `an error that does not say for how long is asked for again`(status: Int) {
        #expect(statuses("\(status) X", "ETag: \"1\"\r\nCache-Control: no-cache") == [status, 204, 204])
    }

    @Test(arguments: [false, true])
    func `a page that is missing since long is given again for a while, if the cache is to guess`(guesses: Bool) {
        world.configure {
            $0.urlCache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0)
            $0.urlCache?.guessesFreshness = guesses
        }
        let fields = "Last-Modified: wed, 01 jan 2020 00:00:00 gmt\r\nDate: Fri, 32 Jan 2020 00:00:00 GMT"
        #expect(statuses("404 Not Found", fields) == (guesses ? [404, 404, 404] : [404, 204, 204]))
    }

    @Test(arguments: ["401 Unauthorized\r\nWWW-Authenticate: Basic realm=a", "429 Too Many Requests"])
    func `T-CAC-02 a response that asks for credentials or for patience never comes from the cache`(status: String) {
        let first = Int(status.prefix(3))
        #expect(statuses(status, "Cache-Control: max-age=60") == [first, 204, 204])
    }
}
