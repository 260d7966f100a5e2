import Testing

@testable import AFWire

/// The rules of WHATWG HTML §9.2.6, over streams that come in any pieces.
struct EventStreamParserTests {
    private typealias Event = EventStreamParser.Event

    /// What a stream leaves behind.
    private struct Reading: Equatable {
        var events: [Event] = []
        var lastID = ""
        var retry: Int?
        var problem: EventStreamParser.TooLong?
    }

    private static func read(_ pieces: [ArraySlice<UInt8>], line: Int = 1 << 20, event: Int = 1 << 20) -> Reading {
        var parser = EventStreamParser(lineLimit: line, eventLimit: event)
        var reading = Reading()
        do {
            for piece in pieces {
                try piece.withUnsafeBytes { bytes in
                    var rest = bytes
                    while let next = try parser.next(&rest) { reading.events.append(next) }
                    #expect(rest.isEmpty)
                }
            }
        } catch {
            reading.problem = error as? EventStreamParser.TooLong
        }
        (reading.lastID, reading.retry) = (parser.lastID, parser.retry)
        return reading
    }

    private static func read(_ text: String, line: Int = 1 << 20, event: Int = 1 << 20) -> Reading {
        read([Array(text.utf8)[...]], line: line, event: event)
    }

    private static func events(_ text: String) -> [Event] { read(text).events }

    private static func message(_ data: String, _ name: String = "message", id: String = "") -> Event {
        Event(name: name, data: data, id: id)
    }

    // MARK: - The rules

    private static let rows: [(stream: String, events: [Event])] = [
        ("", []),
        ("\n", []),
        ("\n\n\n", []),
        ("data: a\n\n", [message("a")]),
        ("data: a\n", []),
        ("data: a", []),
        ("data: a\n\ndata: b", [message("a")]),
        ("data:a\n\n", [message("a")]),
        ("data:  a\n\n", [message(" a")]),
        ("data: a \n\n", [message("a ")]),
        ("data:\ta\n\n", [message("\ta")]),
        ("data\n\n", [message("")]),
        ("data:\n\n", [message("")]),
        ("data: \n\n", [message("")]),
        ("data\ndata\n\n", [message("\n")]),
        ("data: a\ndata: b\n\n", [message("a\nb")]),
        ("data: a\ndata:\ndata: b\n\n", [message("a\n\nb")]),
        ("data: a:b: c\n\n", [message("a:b: c")]),
        ("data: a\n\ndata: b\n\n", [message("a"), message("b")]),
        ("event: add\ndata: 73\n\n", [message("73", "add")]),
        ("data: 73\nevent: add\n\n", [message("73", "add")]),
        ("event: add\nevent: remove\ndata: 1\n\n", [message("1", "remove")]),
        ("event: add\nevent\ndata: 1\n\n", [message("1")]),
        ("event: add\n\ndata: 1\n\n", [message("1")]),
        ("event: add\ndata: 1\n\ndata: 2\n\n", [message("1", "add"), message("2")]),
        ("id: 1\ndata: a\n\ndata: b\n\n", [message("a", id: "1"), message("b", id: "1")]),
        ("id: 1\ndata: a\n\nid\ndata: b\n\n", [message("a", id: "1"), message("b")]),
        ("id: 1\n\ndata: b\n\n", [message("b", id: "1")]),
        ("id: 1\nid: 2\ndata: b\n\n", [message("b", id: "2")]),
        ("id: a\u{0}b\ndata: b\n\n", [message("b")]),
        ("id: 1\ndata: a\n\nid: 2\u{0}\ndata: b\n\n", [message("a", id: "1"), message("b", id: "1")]),
        ("id:  7 \ndata: a\n\n", [message("a", id: " 7 ")]),
        (": a comment\n\n", []),
        (":\n", []),
        (": a\ndata: b\n: c\n\n", [message("b")]),
        ("data : a\n\n", []),
        (" data: a\n\n", []),
        ("Data: a\n\n", []),
        ("DATA: a\nfoo: b\ndatax: c\n\n", []),
        ("nonsense\ndata: a\n\n", [message("a")]),
        ("retry: 10\ndata: a\n\n", [message("a")]),
        ("data: a\u{0}b\n\n", [message("a\u{0}b")]),
        ("data: ä🦆\u{2028}\u{85}\n\n", [message("ä🦆\u{2028}\u{85}")]),
        ("\u{FEFF}data: a\n\n", [message("a")]),
        ("\u{FEFF}\u{FEFF}data: a\n\n", []),
        ("\u{FEFF}\n\ndata: a\n\n", [message("a")]),
        ("data: \u{FEFF}a\n\n", [message("\u{FEFF}a")]),
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [message("YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event",
            [message("first event", id: "1"), message("second event")]
        ),
        ("data\n\ndata\ndata\n\ndata:", [message(""), message("\n")]),
        ("data:test\n\ndata: test\n\n", [message("test"), message("test")]),
    ]

    @Test func `each rule of the standard has a stream`() {
        for row in Self.rows { #expect(Self.events(row.stream) == row.events, "\(row.stream.debugDescription)") }
        #expect(Self.rows.count >= 50)
    }

    // MARK: - Pieces

    /// The same streams with each of the three line ends.
    private static let corpus: [[UInt8]] = rows.flatMap { row in
        ["\n", "\r", "\r\n"].map { Array(row.stream.replacing("\n", with: $0).utf8) }
    }

    @Test func `a stream means the same wherever it is cut, and with each line end`() {
        #expect(Self.corpus.count > 100)
        for (index, bytes) in Self.corpus.enumerated() {
            let whole = Self.read([bytes[...]])
            #expect(whole.events == Self.rows[index / 3].events)
            #expect(Self.read(bytes.indices.map { bytes[$0...$0] }) == whole)
            for cut in 0...bytes.count where Self.read([bytes[..<cut], bytes[cut...]]) != whole {
                Issue.record(
                    "\(String(decoding: bytes, as: UTF8.self).debugDescription) is another stream cut at \(cut)"
                )
            }
        }
    }

    @Test func `line ends may differ within a stream`() {
        #expect(Self.events("data: a\r\n\rdata: b\n\r\ndata: c\r\rdata: d\n\n").map(\.data) == ["a", "b", "c", "d"])
        #expect(Self.events("data: a\r\ndata: b\r\n\r\n") == [Self.message("a\nb")])
        // Only the LF directly behind a CR belongs to it.
        let pieces = ["data: a\r", "data: b", "\n", "\n"].map { Array($0.utf8)[...] }
        #expect(Self.read(pieces).events == [Self.message("a\nb")])
    }

    @Test func `T-SSE-05 an event is there with its last byte`() throws {
        var parser = EventStreamParser(lineLimit: 100, eventLimit: 100)
        func next(_ text: String) throws -> Event? {
            try Array(text.utf8).withUnsafeBytes { bytes in
                var rest = bytes
                return try parser.next(&rest)
            }
        }

        // A CR ends a line, though an LF may follow.
        for end in ["\n\n", "\r\r", "\r\n\r"] {
            #expect(try next("data: a\(end.dropLast())") == nil)
            #expect(try next("\(end.suffix(1))")?.data == "a")
        }
        #expect(try next("\ndata: b\n\n")?.data == "b")
    }

    @Test func `comments are returned in their place, however the stream is cut, and only if they are kept`() throws {
        let text = ": one\r\n:\ndata: a\n:two:\n:  three\ndata: b\n\n:four\r"
        for count in 1...text.utf8.count {
            var parser = EventStreamParser(lineLimit: 100, eventLimit: 100, keepsComments: true)
            var seen: [String] = []
            for start in stride(from: 0, to: text.utf8.count, by: count) {
                try Array(text.utf8.dropFirst(start).prefix(count)).withUnsafeBytes { bytes in
                    var rest = bytes
                    while true {
                        if let event = try parser.next(&rest) {
                            seen.append("event \(event.data)")
                        } else if let comment = parser.takeComment() {
                            seen.append(comment)
                        } else {
                            break
                        }
                    }
                }
            }
            #expect(seen == ["one", "", "two:", " three", "event a\nb", "four"], "\(count)")
        }
        var parser = EventStreamParser(lineLimit: 100, eventLimit: 100)
        let isOver = try Array(":a\n".utf8).withUnsafeBytes { bytes in
            var rest = bytes
            return try parser.next(&rest) == nil && rest.isEmpty
        }
        #expect(isOver && parser.takeComment() == nil)
    }

    // MARK: - What goes on with the next connection

    @Test func `the identifier counts from the empty line on`() {
        #expect(Self.read("id: 1\ndata: a\n\nid: 2\ndata: b\n").lastID == "1")
        #expect(Self.read("id: 1\ndata: a\n\nid: 2\n\n").lastID == "2")
        #expect(Self.read("id: 1\n\nid:\n\n").lastID == "")
        let parser = EventStreamParser(lastID: "7", lineLimit: 10, eventLimit: 10)
        #expect(parser.lastID == "7")
    }

    @Test(arguments: [
        ("retry: 10\n", 10), ("retry:0\n", 0), ("retry: 010\n", 10), ("retry: 10\nretry: 20\n", 20), ("retry\n", nil),
        ("retry: \n", nil), ("retry: -1\n", nil), ("retry: +1\n", nil), ("retry: 1.5\n", nil), ("retry: 1 \n", nil),
        ("retry:  1\n", nil), ("retry: 10\nretry: x\n", 10), ("retry: ٣\n", nil), ("retry: 1/\n", nil),
        ("retry: 1:\n", nil),
        ("retry: 99999999999999999999999\n", Int.max),
    ])
    func `T-SSE-06 only digits set the wait`(stream: String, expected: Int?) {
        #expect(Self.read(stream).retry == expected)
    }

    // MARK: - Bytes that are no text

    @Test func `bytes that are not UTF-8 cost no event`() {
        let bytes: [UInt8] = Array("data: a".utf8) + [0xFF, 0xC3] + Array("\n\ndata: b\n\n".utf8)
        #expect(Self.read([bytes[...]]).events.map(\.data) == ["a\u{FFFD}\u{FFFD}", "b"])
    }

    @Test func `a cut byte order mark is text`() {
        for count in 1...2 {
            let bytes = [0xEF, 0xBB][..<count] + Array("data: a\n\ndata: b\n\n".utf8)
            #expect(Self.read([bytes]).events.map(\.data) == ["b"])
        }
    }

    // MARK: - Limits

    @Test func `T-SSE-01 a line without end is not kept`() {
        #expect(Self.read("data: 1234\n\n", line: 10).events.count == 1)
        #expect(Self.read("data: 12345\n\n", line: 10).problem == .line)
        #expect(Self.read(": 123456789", line: 10).problem == .line)
        #expect(Self.read(Array(repeating: [0x61][...], count: 11), line: 10).problem == .line)
    }

    @Test func `T-SSE-02 an event without end is not kept`() {
        let lines = String(repeating: "data: 12\n", count: 3)
        #expect(Self.read(lines + "\n", event: 8).events.map(\.data) == ["12\n12\n12"])
        #expect(Self.read(lines, event: 7).problem == .event)
        #expect(Self.read("data: 12345678\n\n", event: 8).events.count == 1)
        #expect(Self.read("data: 123456789\n\n", event: 8).problem == .event)
        #expect(Self.read(lines + "\n" + lines + "\n", event: 8).events.count == 2)
        #expect(Self.read(String(repeating: "data\n", count: 10), event: 8).problem == .event)
    }
}
