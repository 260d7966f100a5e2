/// One way in which a request can go, for tests that disturb it at every point.
enum Scenario: CaseIterable {
    case plain, chunked, untilClose, http10, noContent, head, interim, slowHead, slowBody
    case slowLookup, slowConnect, secondAddress, upload, slowUpload, earlyAnswer
    case announcedClose, reused, stale, bigBody, refused, unknownName, malformed, truncated

    var method: String {
        switch self {
        case .head: "HEAD"
        case .upload, .slowUpload, .earlyAnswer: "POST"
        default: "GET"
        }
    }

    var body: Data? {
        switch self {
        case .upload: Data(repeating: 1, count: 100)
        case .slowUpload, .earlyAnswer: Data(repeating: 1, count: 600_000)
        default: nil
        }
    }

    /// A request before it leaves an idle connection.
    var needsWarmUp: Bool { self == .reused || self == .stale }

    func prepare(_ world: VirtualWorld) {
        world.network.link.latency = 1_000_000...1_000_000
        switch self {
        case .secondAddress:
            world.host("api.test", "2001:db8::1", "192.0.2.1")
            world.set(.neverAnswers, for: "2001:db8::1")
        case .slowLookup: world.host("api.test", "192.0.2.1", after: .milliseconds(40))
        case .unknownName: return
        default: world.host("api.test", "192.0.2.1")
        }
        if self == .slowConnect { world.set(.acceptsAfter(.milliseconds(80)), for: "192.0.2.1") }
        if self == .refused { world.set(.refuses(), for: "192.0.2.1") }
        world.scripts("api.test", scripts)
    }

    private var scripts: [[ServerStep]] {
        let plain = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        switch self {
        case .stale:
            return [[.expectRequest, .reply(plain), .expectRequest, .close], [.expectRequest, .reply(plain), .again]]
        case .slowUpload: return [[.stopReading, .delay(.milliseconds(50)), .startReading] + loop(plain)]
        case .earlyAnswer:
            return [[.expectBytes(1000), .reply("HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n"), .stall], loop(plain)]
        case .slowHead: return [[.expectRequest, .dribble(plain, 7, every: .milliseconds(9)), .again]]
        case .slowBody:
            return [
                [
                    .expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"),
                    .dribble("01234567890123456789", 3, every: .milliseconds(9)), .again,
                ]
            ]
        case .bigBody:
            return [
                [.expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n"), .fill(900_000), .again]
            ]
        case .untilClose: return [[.expectRequest, .reply("HTTP/1.1 200 OK\r\n\r\nhello"), .close]]
        case .http10: return [[.expectRequest, .reply("HTTP/1.0 200 OK\r\n\r\nhello"), .close]]
        case .announcedClose:
            return [
                [.expectRequest, .reply("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), .close]
            ]
        case .truncated: return [[.expectRequest, .reply("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel"), .close]]
        default: return [loop(answer ?? plain)]
        }
    }

    private var answer: String? {
        switch self {
        case .chunked: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        case .noContent: "HTTP/1.1 204 No Content\r\n\r\n"
        case .head: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        case .interim: "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        case .malformed: "HTTP/1.1 2000 What\r\n\r\n"
        default: nil
        }
    }

    private func loop(_ answer: String) -> [ServerStep] {
        [.expectRequest, .reply(answer), .again]
    }
}

/// A scenario under way.
struct RunningScenario {
    let world: VirtualWorld
    let events: TaskEvents

    init(_ scenario: Scenario, seed: UInt64 = 1) {
        world = VirtualWorld(seed: seed)
        scenario.prepare(world)
        if scenario.needsWarmUp { world.load("http://api.test/warm-up") }
        events = world.send(scenario.method, "http://api.test/", body: scenario.body)
    }

    /// True if the task ended within so many steps.
    func run(steps: Int) -> Bool {
        for _ in 0..<steps where !events.isComplete { _ = world.step(until: world.now + .seconds(600)) }
        return events.isComplete
    }
}
