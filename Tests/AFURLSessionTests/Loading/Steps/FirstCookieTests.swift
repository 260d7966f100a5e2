import AFWire
import Dispatch

@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

@Suite("The first cookies of a process")
struct FirstCookieTests {
    private let gate: GatedSuffixes
    private let storage: HTTPCookieStorage
    private let world = VirtualWorld()

    init() throws {
        gate = try GatedSuffixes()
        storage = HTTPCookieStorage(source: gate.source, clock: { 1000 })
        let storage = storage
        world.configure {
            $0.httpCookieStorage = storage
            $0.timeoutIntervalForResource = 60
        }
    }

    /// `name` sets a cookie for itself and one for `domain`, and sends the client on to `next`, which says what it got.
    private func serve(_ name: String, setting domain: String, then next: String) {
        world.respond(name) { _, moment, client in
            guard moment == .complete else { return }
            let cookies = "Set-Cookie: wide=1; Domain=\(domain)\r\nSet-Cookie: own=1\r\n"
            client.send("HTTP/1.1 302 Found\r\nLocation: http://\(next)/\r\n\(cookies)Content-Length: 0\r\n\r\n")
        }
        world.respond(next) { request, moment, client in
            guard moment == .complete else { return }
            let text = request.headers.first("Cookie") ?? "none"
            client.send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        }
    }

    @Test(arguments: [
        ("a.lib.de.us", "lib.de.us", "b.lib.de.us", "none"),
        ("a.shop.lib.de.us", "shop.lib.de.us", "b.shop.lib.de.us", "wide=1"),
        ("a.example.org", "example.org", "b.example.org", "wide=1"),
    ])
    func `T-COO-04 a request waits for the list before it takes the first cookies along`(
        host: String,
        domain: String,
        other: String,
        expected: String
    ) {
        serve(host, setting: domain, then: other)

        let events = world.get("http://\(host)/")
        world.advance(by: .seconds(5))
        #expect(world.network.connections.count == 1)
        gate.open()
        world.run()

        #expect(events.body == expected && events.isComplete && events.error == nil)
        #expect(world.finish() == [])
    }

    @Test func `a request that waits for the list ends in its time, or when its task is cancelled`() {
        serve("a.example.org", setting: "example.org", then: "b.example.org")

        let slow = world.get("http://a.example.org/")
        let cancelled = world.get("http://a.example.org/")
        world.advance(by: .seconds(5))
        cancelled.task.cancel()
        world.run()

        #expect(slow.all == [.failed(.timedOut)] && cancelled.all == [.failed(.cancelled)])
        gate.open()
        #expect(world.finish() == [])
    }

    @Test func `a request without cookies does not wait for the list`() throws {
        serve("a.example.org", setting: "example.org", then: "b.example.org")

        _ = world.get("http://a.example.org/")
        world.advance(by: .seconds(5))
        var request = URLRequest(url: try #require(URL(string: "http://b.example.org/")))
        request.httpShouldHandleCookies = false
        let events = TaskEvents(task: world.session.dataTask(with: request), recorder: world.recorder)
        events.task.resume()
        world.advance(by: .seconds(5))

        #expect(events.body == "none" && events.isComplete && events.error == nil)
        gate.open()
        world.run()
        #expect(world.finish() == [])
    }
}
