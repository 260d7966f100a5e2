import AFWire
import Testing

/// What the peer says about the connection, and how messages end with it:
/// T-MSG-06, 34, 48 to 50.
@Suite struct PersistenceTests {
    @Test(arguments: [
        ("close", true), ("CLOSE", true), ("close\t", true), ("CLOSE ,x", true), ("x, close", true), (",,close", true),
        ("keep-alive, close", true), ("closed", false), ("not-close", false), ("clo se", false), ("\"close\"", false),
        ("close;q=1", false), ("", false), ("keep-alive", false), ("content-length", false), ("clos\u{17F}", false),
    ])
    func `T-MSG-34 only the token close means close`(value: String, closes: Bool) {
        let wire = "HTTP/1.1 200 OK\r\nConnection: \(value)\r\nContent-Length: 2\r\n\r\nok"
        WireRow(wire, closes ? .closed(200, "ok") : .reused(200, "ok")).check()
    }

    @Test func `T-MSG-34 Connection has no say in framing and may come in several fields`() {
        let wire = """
            HTTP/1.1 200 OK\r\nConnection: content-length, transfer-encoding\r\nContent-Length: 2\r\n\
            Connection: close\r\n\r\nok
            """
        WireRow(wire, .closed(200, "ok")).check()
    }

    @Test(arguments: [
        ("timeout=5", 5), ("timeout=5, max=100", 5), ("max=100,TIMEOUT = 7", 7), ("timeout=5,timeout=3", 3),
        ("timeout=", nil), ("timeout=-5", nil), ("timeout=+5", nil), ("timeout=5s", nil), ("timeout", nil),
        ("xtimeout=5", nil), ("timeout=99999999999999999999", nil), ("max=1", nil), ("timeout=0", 0),
    ])
    func `T-MSG-49 the timeout hint is read if it is a number`(value: String, seconds: Int?) {
        let wire = "HTTP/1.1 200 OK\r\nKeep-Alive: \(value)\r\nContent-Length: 0\r\n\r\n"
        #expect(ResponseSetting().outcome(of: wire).head?.keepAliveTimeout == seconds)
    }

    /// Version and Connection field, framing, and whether the connection lives on.
    static let cells: [(String, String, Bool)] = [
        ("HTTP/1.0 200 OK\r\n", "Content-Length: 2\r\n\r\nok", false),
        ("HTTP/1.0 200 OK\r\n", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false),
        ("HTTP/1.0 200 OK\r\n", "\r\nok", false),
        ("HTTP/1.0 200 OK\r\nConnection: keep\r\n", "Content-Length: 2\r\n\r\nok", false),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", "Content-Length: 2\r\n\r\nok", true),
        (
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n",
            "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false
        ),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", "\r\nok", false),
        ("HTTP/1.1 200 OK\r\n", "Content-Length: 2\r\n\r\nok", true),
        ("HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\n", "\r\nok", false),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n", "Content-Length: 2\r\n\r\nok", false),
        (
            "HTTP/1.1 200 OK\r\nConnection: close\r\n",
            "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false
        ),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n", "\r\nok", false),
    ]

    @Test(arguments: cells)
    func `T-MSG-48 version, Connection and framing together allow reuse`(start: String, rest: String, reuse: Bool) {
        for weKeep in [true, false] {
            let result = Dialogue(keepsAlive: weKeep).run(start + rest, closes: true)

            #expect(result.actions == [.deliverHead(stopSending: false), .finish(reuse: reuse && weKeep)])
            #expect(result.text == "ok")
        }
    }

    @Test func `T-MSG-06 a body cut anywhere is lost, a head cut anywhere too`() {
        let head = "HTTP/1.1 200 OK\r\nX-Filler: \(String(repeating: "x", count: 180))\r\nContent-Length: 60\r\n\r\n"
        let wire = Array((head + String(repeating: "b", count: 60)).utf8)
        var setting = ResponseSetting()
        setting.closes = true

        for length in 0..<wire.count {
            let cut = Array(wire[..<length])
            let outcome = setting.outcome(of: cut, Delivery.all(of: 0)[0])
            #expect(
                outcome == setting.outcome(of: cut, Delivery(description: "by byte", cuts: Array(1..<max(length, 1))))
            )
            let position: HTTP1Error.Position =
                length == 0 ? .beforeHead : length < head.utf8.count ? .inHead : .inBody
            #expect(outcome.error == .closed(position), "cut at \(length)")
            #expect(!outcome.framedExactly)
        }
        #expect(setting.outcome(of: wire).mayReuse)
    }

    @Test func `T-MSG-06 a close after an interim response is within the head`() {
        var setting = ResponseSetting()
        setting.closes = true

        #expect(setting.outcome(of: "HTTP/1.1 100 Continue\r\n\r\n").error == .closed(.inHead))
    }

    @Test func `T-MSG-50 a close ends a body without framing and forbids reuse`() {
        var setting = ResponseSetting()
        setting.closes = true
        let wire = "HTTP/1.1 200 OK\r\n\r\neverything until the end"

        let closed = setting.outcome(of: wire)
        let open = ResponseSetting().outcome(of: wire)

        #expect(closed.text == "everything until the end")
        #expect(closed.trailers == [] && !closed.framedExactly)
        #expect(open.trailers == nil && open.error == nil)
    }

    @Test func `T-MSG-50 a close seen before the end was reported forbids reuse`() throws {
        var decoder = ResponseDecoder(method: "GET")
        let wire = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        _ = try wire.withUnsafeBytes { try decoder.decode($0).consumed }

        guard case .end = try decoder.inputEnded() else {
            Issue.record("the response was complete")
            return
        }

        #expect(decoder.isFinished && !decoder.framedExactly)
    }

    @Test func `a decoder that has failed throws the same error from every later call`() throws {
        var decoder = ResponseDecoder(method: "GET")
        let wire = Array("nonsense".utf8)
        let first = #expect(throws: HTTP1Error.self) {
            _ = try wire.withUnsafeBytes { try decoder.decode($0).consumed }
        }
        let second = #expect(throws: HTTP1Error.self) { _ = try decoder.inputEnded() }

        #expect(first != nil && first == second)
    }
}
