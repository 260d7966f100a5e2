import AFWire
import Testing

/// What is noted of a head while its lines are read, so that later code need not search for the field.
@Suite struct FieldNotesTests {
    struct Notes: Equatable {
        var framing = BodyFraming.untilClose
        var length: UInt64?
        var persistent = true
        var keepAlive: Int?
        var isCoded = false
        var setsCookies = false
    }

    /// The notes on a head with no field but this one.
    private static func notes(_ field: String) -> Notes? {
        let outcome = ResponseSetting(closes: true).outcome(of: "HTTP/1.1 200 OK\r\n\(field)\r\n\r\n")
        return outcome.head.map { head in
            Notes(
                framing: head.framing,
                length: head.contentLength,
                persistent: head.persistent,
                keepAlive: head.keepAliveTimeout,
                isCoded: head.hasContentCoding,
                setsCookies: head.setsCookies
            )
        }
    }

    private static let noted: [(name: String, value: String, notes: Notes)] = [
        ("set-cookie", "a=b", Notes(setsCookies: true)),
        ("content-encoding", "gzip", Notes(isCoded: true)),
        ("content-length", "0", Notes(framing: .length(0), length: 0)),
        ("transfer-encoding", "chunked", Notes(framing: .chunked)),
        ("connection", "close", Notes(persistent: false)),
        ("keep-alive", "timeout=5", Notes(keepAlive: 5)),
    ]

    @Test(arguments: noted.indices)
    func `a field is noted by its name, in any case`(index: Int) {
        let (name, value, notes) = Self.noted[index]

        #expect(Self.notes("\(name): \(value)") == notes)
        #expect(Self.notes("\(name.uppercased()): \(value)") == notes)
    }

    @Test(arguments: noted.indices)
    func `T-MSG-27 a field whose name differs in one character is another`(index: Int) {
        let (name, value, _) = Self.noted[index]
        for place in name.indices {
            var other = name
            other.replaceSubrange(place...place, with: name[place] == "-" ? "_" : "-")
            #expect(Self.notes("\(other): \(value)") == Notes(), "\(other)")
        }
        for other in [name + "s", String(name.dropLast())] {
            #expect(Self.notes("\(other): \(value)") == Notes(), "\(other)")
        }
    }

    @Test(arguments: [199, 200, 299, 300, 404])
    func `T-MSG-18 framing fields mean nothing in an answer to CONNECT from 200 to 299`(status: Int) {
        let setting = ResponseSetting(method: "CONNECT")
        let outcome = setting.outcome(of: "HTTP/1.1 \(status) S\r\nContent-Length: 2\r\n\r\nok")

        switch status {
        case 199: #expect(outcome.interim.map(\.contentLength) == [2] && outcome.head == nil)
        case 200...299: #expect(outcome.head?.contentLength == nil && outcome.text == "")
        default: #expect(outcome.head?.contentLength == 2 && outcome.text == "ok")
        }
    }

    @Test(arguments: [("0", true), ("1", false), ("2", false)])
    func `T-MSG-16 a 204 that announces a body forbids reuse`(length: String, reuse: Bool) {
        let outcome = ResponseSetting().outcome(of: "HTTP/1.1 204 N\r\nContent-Length: \(length)\r\n\r\n")

        #expect(outcome.text == "" && outcome.trailers == [] && outcome.mayReuse == reuse)
    }

    @Test(arguments: [
        "HTTP/1.1 200 a\rb\n\n", "HTTP/1.1 200 OK\nX: a\rb\n\n", "HTTP/1.1 200 OK\r\nX: a\r\r\n\r\n",
        "HTTP/1.1 200 OK\nX\r: a\n\n", "HTTP/1.1 200 OK\n\rX: a\n\n",
    ])
    func `T-MSG-24 a CR within a line that a bare LF ends is refused`(wire: String) {
        #expect(ResponseSetting().outcome(of: wire).error != nil)
    }
}
