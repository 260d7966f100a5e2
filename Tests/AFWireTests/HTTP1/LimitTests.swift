import AFFaults
import AFWire
import Testing

/// What a peer may make us hold and do, T-MSG-29, 35 to 38, 41, 53 and 54.
@Suite struct LimitTests {
    private static let whole = Delivery(description: "in one piece", cuts: [])

    private static func small(_ change: (inout HTTP1Limits) -> Void) -> ResponseSetting {
        var setting = ResponseSetting()
        change(&setting.limits)
        return setting
    }

    @Test func `T-MSG-29 a head is refused at the first byte past its limit`() {
        let wire = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let head = wire.utf8.count - 2

        for (limit, isGood) in [(head - 1, false), (head, true), (head + 1, true)] {
            let setting = Self.small { $0.headBytes = limit }
            WireRow(wire, isGood ? .reused(200, "ok") : .refused(.limit(.headBytes))).check(setting)
        }
    }

    @Test func `T-MSG-29 an endless head is refused at its limit, not at its end`() {
        let setting = Self.small { $0.headBytes = 100 }
        let start = Array("HTTP/1.1 200 OK\r\n".utf8)
        let bytes = start + Array(String(repeating: "A: b\r\n", count: 100).utf8)

        for length in [100, 101] {
            let outcome = setting.outcome(of: Array(bytes[..<length]))
            #expect(outcome.error == (length == 100 ? nil : .limit(.headBytes)))
        }
    }

    @Test func `T-MSG-29 the field after the last allowed is refused`() {
        let setting = Self.small { $0.headFields = 3 }

        for (count, isGood) in [(2, true), (3, true), (4, false)] {
            let wire = "HTTP/1.1 204 X\r\n" + String(repeating: "A:\r\n", count: count) + "\r\n"
            WireRow(wire, isGood ? .reused(204, "") : .refused(.limit(.headFields))).check(setting)
        }
    }

    @Test func `T-MSG-29 a line is refused at the first byte past its limit`() {
        let setting = Self.small { $0.lineBytes = 30 }

        for (count, isGood) in [(29, true), (30, true), (31, false)] {
            let field = "A: " + String(repeating: "x", count: count - 3)
            let expected: WireRow.Expected = isGood ? .reused(204, "") : .refused(.limit(.lineBytes))
            WireRow("HTTP/1.1 204 X\r\n\(field)\r\n\r\n", expected).check(setting)
            WireRow("HTTP/1.1 204 \(String(repeating: "x", count: count - 13))\r\n\r\n", expected).check(setting)
            let unended = setting.outcome(of: "HTTP/1.1 204 X\r\n\(field)")
            #expect(unended.error == (isGood ? nil : .limit(.lineBytes)))
        }
    }

    @Test func `T-MSG-29 what broke before it was too long is broken, not too long`() {
        let setting = Self.small { $0.lineBytes = 30 }
        let long = String(repeating: "x", count: 40)

        WireRow("HTTP/1.1 204 X\r\nA: \rb\(long)\r\n\r\n", .refused(.header)).check(setting)
        WireRow("HTTP/1.1 204 X\r\nA: \(long)\rb\r\n\r\n", .refused(.limit(.lineBytes))).check(setting)
        // A CR right behind the last byte that a line may have.
        let exact = String(long.prefix(17))
        WireRow("HTTP/1.1 204 \(exact)\r\r\n\r\n", .refused(.status)).check(setting)
        WireRow("HTTP/1.1 204 X\r\n0123456789: \(exact)x\r\r\n\r\n", .refused(.header)).check(setting)
    }

    @Test func `T-MSG-29 a broken line is broken, even where there is one too many`() {
        let setting = Self.small { $0.headFields = 1 }

        for line in ["\rC: d", "C: d\r", "C: \rd"] {
            WireRow("HTTP/1.1 204 X\r\nA: b\r\n\(line)\r\n\r\n", .refused(.header)).check(setting)
        }
    }

    @Test func `T-MSG-29 the standard limits hold against many fields and long ones`() {
        let start = "HTTP/1.1 200 OK\r\n"
        let many = start + String(repeating: "a:\r\n", count: 65_536) + "\r\n"
        let long = start + "a: " + String(repeating: "x", count: 70_000)
        let wide = start + String(repeating: "a: " + String(repeating: "x", count: 60_000) + "\r\n", count: 3)

        #expect(ResponseSetting().outcome(of: Array(many.utf8), Self.whole).error == .limit(.headFields))
        #expect(ResponseSetting().outcome(of: Array(long.utf8), Self.whole).error == .limit(.lineBytes))
        #expect(ResponseSetting().outcome(of: Array(wide.utf8), Self.whole).error == .limit(.headBytes))
    }

    @Test func `a limit cannot be set past its ceiling or below nothing`() {
        var limits = HTTP1Limits()
        limits.headBytes = .max
        limits.chunkSizeDigits = 17
        limits.trailerFields = -1

        #expect(limits.headBytes == 16 << 20)
        #expect(limits.chunkSizeDigits == 16)
        #expect(limits.trailerFields == 0)
    }

    // MARK: - Time

    @Test(arguments: [15, 1_000, 1 << 20])
    func `T-MSG-35 a head byte by byte is looked at a constant number of times`(lineLength: Int) throws {
        #if DEBUG
            let size = 1 << 18
        #else
            let size = 1 << 20
        #endif
        let length = min(lineLength, size)
        let field = "Name: " + String(repeating: "v", count: length - 8) + "\r\n"
        let fields = String(repeating: field, count: size / length)
        let bytes = Array("HTTP/1.1 200 OK\r\n\(fields)\r\n".utf8)
        var limits = HTTP1Limits()
        limits.headBytes = 4 << 20
        limits.taskHeadBytes = 4 << 20
        limits.headFields = 100_000
        limits.lineBytes = 2 << 20
        var decoder = ResponseDecoder(method: "GET", limits: limits)

        let cost = try CPUTime.of {
            try bytes.withUnsafeBytes { all in
                for index in all.indices {
                    _ = try decoder.decode(UnsafeRawBufferPointer(rebasing: all[index..<(index + 1)]))
                }
            }
        }

        #expect(decoder.headBytesReceived == bytes.count)
        #if DEBUG
            #expect(decoder.headBytesExamined <= 4 * bytes.count)
            #expect(cost < .seconds(5))
        #else
            #expect(cost < .milliseconds(200))
        #endif
    }

    @Test(arguments: [
        ("Connection", ","), ("Connection", "close,"), ("Connection", " "), ("Keep-Alive", "timeout=1,"),
        ("Keep-Alive", "="), ("Keep-Alive", ",\t"), ("Content-Length", "5,"), ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked,"), ("Connection", "\u{A0}"), ("Connection", "\""),
    ])
    func `T-MSG-36 evil field values take linear time`(name: String, piece: String) {
        let value = String(repeating: piece, count: 60_000 / piece.utf8.count)
        let bytes = Array("HTTP/1.1 200 OK\r\n\(name): \(value)\r\n\r\n".utf8)

        let cost = CPUTime.of { _ = ResponseSetting().outcome(of: bytes, Self.whole) }

        // Quadratic would be 3.6 billion steps; this bound holds in debug builds too.
        #expect(cost < .seconds(1))
    }

    // MARK: - Interim responses

    private static let interim = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    private static let final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func `T-MSG-37 sixteen interim responses are let pass and no more`() {
        let sixteen = String(repeating: Self.interim, count: 16)

        let good = ResponseSetting().outcome(of: sixteen + Self.final)
        let bad = ResponseSetting().outcome(of: sixteen + Self.interim)

        #expect(good.interim.count == 16 && good.mayReuse)
        #expect(bad.error == .limit(.interimResponses))
    }

    @Test func `T-MSG-37 all heads together have a limit`() {
        let both = Self.interim.utf8.count + Self.final.utf8.count - 2

        for (budget, isGood) in [(both, true), (both - 1, false), (0, false), (-5, false)] {
            var setting = ResponseSetting()
            setting.headBudget = budget
            let outcome = setting.outcome(of: Self.interim + Self.final)
            #expect(outcome.error == (isGood ? nil : .limit(.taskHeadBytes)), "budget \(budget)")
        }
        #expect(ResponseSetting(headBudget: 0).outcome(of: "H").error == .limit(.taskHeadBytes))
    }

    @Test func `T-MSG-37 every head received is counted`() throws {
        var decoder = ResponseDecoder(method: "GET")
        let bytes = Array((Self.interim + Self.final).utf8)

        try bytes.withUnsafeBytes { all in
            let first = try decoder.decode(all)
            #expect(decoder.headBytesReceived == Self.interim.utf8.count)
            _ = try decoder.decode(UnsafeRawBufferPointer(rebasing: all[first.consumed..<(first.consumed + 10)]))
            #expect(decoder.headBytesReceived == Self.interim.utf8.count + 10)
        }
    }

    @Test(arguments: [100, 102, 103, 104, 199])
    func `T-MSG-38 an interim response is not the answer and leaves nothing behind`(status: Int) {
        let interim = "HTTP/1.1 \(status) X\r\nSet-Cookie: a=b\r\nContent-Length: 7\r\nConnection: close\r\n\r\n"

        let outcome = ResponseSetting().outcome(of: interim + Self.final)

        #expect(outcome.interim.map(\.status) == [status])
        #expect(outcome.status == 200 && outcome.text == "ok")
        #expect(outcome.head?.headers.contains("Set-Cookie") == false)
        #expect(outcome.mayReuse)
    }

    @Test func `T-MSG-38 a bare LF in an interim response forbids reuse`() {
        WireRow("HTTP/1.1 100 Continue\n\r\n" + Self.final, .closed(200, "ok")).check()
    }

    @Test func `T-MSG-41 an unasked 101 is refused`() {
        WireRow("HTTP/1.1 101 Switching Protocols\r\n\r\n", .refused(.status)).check()
        WireRow("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 X\r\n\r\n", .refused(.status)).check()
    }

    // MARK: - Sequences and sizes

    @Test func `T-MSG-53 no state of one message reaches the next`() throws {
        let rich = """
            HTTP/1.0 103 X\r\nConnection: close\r\n\r\nHTTP/1.0 200 OK\r\nContent-Length: 9\r\nContent-Length: 9\r\n\
            Keep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nDigest: x\r\n\r\n
            """
        let stream = Array((rich + Self.final).utf8)
        var first = ResponseDecoder(method: "GET")
        var offset = 0
        try stream.withUnsafeBytes { bytes in
            while !first.isFinished {
                offset += try first.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...])).consumed
            }
        }

        let second = ResponseSetting().outcome(of: Array(stream[offset...]))

        #expect(!first.framedExactly)
        #expect(second == ResponseSetting().outcome(of: Self.final))
        #expect(second.mayReuse)
    }

    @Test(arguments: [
        "Content-Length: 5368709120\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n140000000\r\n",
        "Content-Length: 2147483648\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n80000000\r\n",
        "Content-Length: 4294967296\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n100000000\r\n",
        "Content-Length: 4294967295\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n",
    ])
    func `T-MSG-54 bodies past 32 bits are counted exactly`(fields: String) throws {
        let digits = fields.split(whereSeparator: { " \r\n".utf8.contains($0.utf8.first ?? 0) }).last ?? ""
        let isChunked = fields.contains("chunked")
        let size = try #require(isChunked ? UInt64(digits, radix: 16) : UInt64(digits))
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 20, alignment: 8)
        defer { block.deallocate() }
        var decoder = ResponseDecoder(method: "GET")
        let head = Array("HTTP/1.1 200 OK\r\n\(fields)".utf8)
        try head.withUnsafeBytes { bytes in
            let first = try decoder.decode(bytes).consumed
            if isChunked { _ = try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[first...])) }
        }

        var total: UInt64 = 0
        while total < size {
            let step = try decoder.decode(UnsafeRawBufferPointer(block))
            guard case .body(let slice) = step.event else { break }
            total += UInt64(slice.count)
        }

        #expect(total == size)
    }
}
