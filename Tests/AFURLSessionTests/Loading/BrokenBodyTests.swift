@testable import AFURLSession

/// What a delegate gets of a body that breaks off while it is asked about the response.
@Suite struct BrokenBodyTests {
    private static let broken = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n"

    private func events(_ disposition: URLSession.ResponseDisposition) -> [EventLog.Event] {
        let world = VirtualWorld()
        world.script("a.test", .expectRequest, .reply(Self.broken))
        let log = EventLog(disposition: disposition)
        let (session, _) = world.makeSession(delegate: log)
        session.dataTask(with: URLRequest(url: URL(string: "http://a.test/") ?? URL(fileURLWithPath: "/"))).resume()
        world.run(limit: .seconds(5)) { log.events.value.contains { if case .completed = $0 { true } else { false } } }
        let events = log.events.value
        #expect(world.finish() == [])
        return events
    }

    @Test func `a delegate that wants the response gets what came before the fault`() {
        #expect(events(.allow) == [.response(200), .data("abc"), .metrics, .completed(-1017)])
    }

    @Test func `a delegate that does not want it gets nothing`() {
        #expect(events(.cancel) == [.response(200), .metrics, .completed(-1017)])
    }
}
