import AFNetworkingTesting
import Glibc
import Testing

@Suite struct WebSocketMessageTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.webSockets)
    }

    private func serve(_ script: @escaping @Sendable (ServerWebSocket) throws -> Void) throws -> WebSocketClient {
        server.route("GET", "/", .webSocket(script: script))
        return try WebSocketClient(server, "/")
    }

    private func close(_ client: WebSocketClient) throws {
        try client.send(0x88, [0x03, 0xE8])
        #expect(try client.next() == .close(1000))
        #expect(try client.rest().isEmpty)
    }

    // MARK: - Echo

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536, 300_000])
    func `messages of every length come back, text as text and bytes as bytes`(count: Int) throws {
        let client = try WebSocketClient(server, "/ws/echo")
        let bytes = (0..<count).map { UInt8($0 % 251) }

        try client.send(0x82, bytes)
        #expect(try client.next() == .init(0x82, bytes))
        try client.send(0x81, String(repeating: "ä", count: count / 2))
        #expect(try client.next() == .init(0x81, String(repeating: "ä", count: count / 2)))
        try close(client)
    }

    @Test func `fragments are put together, with a ping between them, even inside a character`() throws {
        let client = try WebSocketClient(server, "/ws/echo")
        let text = Array("dä".utf8)

        try client.send(0x01, Array(text[..<2]))
        try client.send(0x89, "ping")
        try client.send(0x00, [])
        try client.send(0x80, Array(text[2...]))

        #expect(try client.next() == .init(0x8A, "ping"))
        #expect(try client.next() == .init(0x81, "dä"))
        try close(client)
    }

    @Test func `frames may arrive byte by byte`() throws {
        let client = try WebSocketClient(server, "/ws/echo")
        for byte in WebSocketClient.frame(0x81, Array("Hello".utf8)) { try client.raw.send(bytes: [byte]) }
        #expect(try client.next() == .init(0x81, "Hello"))
    }

    @Test func `the server cuts its messages if it is asked to`() throws {
        let client = try WebSocketClient(server, "/ws/echo?fragment=2")
        try client.send(0x81, "Hello")
        #expect(try client.next() == .init(0x01, "He"))
        #expect(try client.next() == .init(0x00, "ll"))
        #expect(try client.next() == .init(0x80, "o"))
        try client.send(0x82, [])
        #expect(try client.next() == .init(0x82, ""))
    }

    @Test func `numbers are counted, and then the server closes`() throws {
        let client = try WebSocketClient(server, "/ws/count/3")
        for number in ["1", "2", "3"] { #expect(try client.next() == .init(0x81, number)) }
        #expect(try client.next() == .close(1000))
        try client.send(0x88, [])
        #expect(try client.rest().isEmpty)
        #expect(try WebSocketClient(server, "/ws/count/x").head.hasPrefix("HTTP/1.1 400 "))
    }

    // MARK: - Control frames

    @Test func `a ping of the server carries what the script says, and the script reads the answer`() throws {
        let client = try serve { socket in
            try socket.ping(Array("a".utf8))
            let pong = try socket.receiveFrame()
            try socket.pong(Array("b".utf8))
            try socket.send(text: "\(pong?.opcode == .pong) \(pong?.text ?? "") \(pong?.isMasked == true)")
        }
        #expect(try client.next() == .init(0x89, "a"))
        try client.send(0x8A, "c")
        #expect(try client.next() == .init(0x8A, "b"))
        #expect(try client.next() == .init(0x81, "true c true"))
    }

    @Test(arguments: [1000, 1001, 3999, 1005, 0, 65_535])
    func `the server closes with any code`(code: Int) throws {
        let client = try WebSocketClient(server, "/ws/close/\(code)?reason=bye%20now")
        #expect(try client.next() == .close(code, "bye now"))
        try client.send(0x88, [0x03, 0xE9, 0x6F, 0x6B])
        #expect(try client.rest().isEmpty)
        #expect(try server.waitForEnd(ofConnection: 1) == .serverClosed)
        let close = try #require(server.connections[0].frames.last)
        #expect(close.closeCode == 1001 && close.payload.suffix(2) == Array("ok".utf8)[...])
    }

    @Test func `a code that no frame can have is refused`() throws {
        #expect(try Visit(server, "/ws/close/65536", WebSocketClient.upgrade).status == 400)
    }

    @Test func `the server answers Close with its code, and drops what follows`() throws {
        let client = try WebSocketClient(server, "/ws/echo")
        try client.send(0x88, [0x0F, 0xA0, 0x78])
        try client.send(0x81, "late")
        #expect(try client.next() == .close(4000))
        #expect(try client.rest().isEmpty)
    }

    @Test func `a client that ends without Close is recorded as that`() throws {
        let client = try WebSocketClient(server, "/ws/echo")
        client.raw.shutDownWriting()
        #expect(try client.rest().isEmpty)
        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)

        let other = try WebSocketClient(server, "/ws/echo")
        try other.raw.send(bytes: [0x81, 0x85, 1])
        other.raw.shutDownWriting()
        #expect(try other.rest().isEmpty)
        #expect(try server.waitForEnd(ofConnection: 2) == .clientClosed)
    }

    @Test func `a script that is told not to answers neither ping nor Close`() throws {
        let client = try serve { socket in
            socket.answersPings = false
            socket.answersClose = false
            while try socket.receive() != nil {}
            try socket.send(text: "\(socket.clientClose?.closeCode ?? 0) \(socket.hasSentClose)")
        }
        try client.send(0x89, "a")
        try client.send(0x88, [0x03, 0xE8])
        #expect(try client.next() == .init(0x81, "1000 false"))
        #expect(try client.rest().isEmpty)
    }

    // MARK: - Refusals

    static let wrong: [(bytes: [UInt8], reason: String)] = [
        (WebSocketClient.frame(0x81, [0x61], key: nil), "a frame without a mask"),
        (WebSocketClient.frame(0xC1, [0x61]), "reserved bits"),
        (WebSocketClient.frame(0xA1, [0x61]), "reserved bits"),
        (WebSocketClient.frame(0x99, [0x61]), "reserved bits"),
        (WebSocketClient.frame(0x83, [0x61]), "a reserved opcode"),
        (WebSocketClient.frame(0x8B, [0x61]), "a reserved opcode"),
        (WebSocketClient.frame(0x80, [0x61]), "a continuation of no message"),
        (
            WebSocketClient.frame(0x01, [0x61]) + WebSocketClient.frame(0x81, [0x61]),
            "a message in the middle of another one"
        ),
        (WebSocketClient.frame(0x01, [0x61]) + WebSocketClient.frame(0xC0, [0x61]), "reserved bits"),
        (WebSocketClient.frame(0x09, [0x61]), "a control frame in fragments"),
        (WebSocketClient.frame(0x89, [UInt8](repeating: 0x61, count: 126)), "a control frame that is too long"),
        ([0x81, 0xFE, 0, 1, 0, 0, 0, 0, 0x61], "a length in a form that is too long"),
        ([0x82, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0], "a frame of 4611686018427387904 bytes"),
        ([0x82, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "a frame of 18446744073709551615 bytes"),
        (WebSocketClient.frame(0x81, [0xC3, 0x28]), "text that is not UTF-8"),
        (WebSocketClient.frame(0x81, [0xED, 0xA0, 0x80]), "text that is not UTF-8"),
        (WebSocketClient.frame(0x88, [3]), "a Close frame with a code that may not be sent"),
        (WebSocketClient.frame(0x88, [0x03, 0xED]), "a Close frame with a code that may not be sent"),
        (WebSocketClient.frame(0x88, [0x03, 0xE7]), "a Close frame with a code that may not be sent"),
        (WebSocketClient.frame(0x88, [0x03, 0xE8, 0xC3, 0x28]), "text that is not UTF-8"),
    ]

    @Test(arguments: wrong) func `a frame that breaks a rule is refused`(bytes: [UInt8], reason: String) throws {
        let client = try WebSocketClient(server, "/ws/echo")
        try client.raw.send(bytes: bytes)
        #expect(try server.waitForEnd(ofConnection: 1) == .scriptFailed(reason))
        #expect(server.connections[0].refusal == reason)
        #expect(throws: RawClient.Failure(call: "recv", code: ECONNRESET)) { try client.rest() }
    }

    @Test func `a script may limit what a frame and a message have`() throws {
        for frames in [[(0x82, 11)], [(0x02, 6), (0x80, 5)]] as [[(UInt8, Int)]] {
            let client = try serve { socket in
                socket.messageLimit = 10
                while try socket.receive() != nil {}
            }
            for (first, count) in frames { try client.send(first, [UInt8](repeating: 0, count: count)) }
            #expect(throws: RawClient.Failure(call: "recv", code: ECONNRESET)) { try client.rest() }
        }
        #expect(server.connections.map(\.refusal) == ["a frame of 11 bytes", "a message that is too long"])
    }

    @Test func `a script may take frames without a mask, and go on behind a violation`() throws {
        let client = try serve { socket in
            #expect(throws: ClientViolation.self) { try socket.receive() }
            socket.acceptsUnmasked = true
            let frame = try socket.receiveFrame()
            try socket.send(text: "\(frame?.isMasked == true) \(frame?.text ?? "")")
        }
        try client.raw.send(bytes: WebSocketClient.frame(0x81, [0x61], key: nil))
        try client.raw.send(bytes: WebSocketClient.frame(0x81, [0x62], key: nil))
        #expect(try client.next() == .init(0x81, "false b"))
        try server.waitForEnd(ofConnection: 1)
        #expect(server.connections[0].refusal == "a frame without a mask")
        #expect(server.connections[0].frames.map(\.text) == ["a", "b"])
    }

    // MARK: - What a script sends

    @Test func `a frame is written as its fields say, however wrong`() {
        #expect(ServerFrame(.text, "Hello").bytes == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        #expect(
            ServerFrame(.text, "Hello", maskingKey: 0x37FA_213D).bytes
                == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        )
        #expect(ServerFrame(.ping, "", isFinal: false, reservedBits: 7).bytes == [0x79, 0])
        #expect(ServerFrame(.init(rawValue: 0xFF), "a").bytes == [0x8F, 1, 0x61])
        let zeros = [UInt8](repeating: 0, count: 65_536)
        #expect(ServerFrame(.binary, zeros.prefix(256)).bytes.prefix(5) == [0x82, 126, 1, 0, 0])
        #expect(ServerFrame(.binary, zeros).bytes.prefix(11) == [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0, 0])
        #expect(ServerFrame(.text, "a".utf8, lengthForm: .medium).bytes == [0x81, 126, 0, 1, 0x61])
        #expect(ServerFrame(.text, "a".utf8, lengthForm: .long).bytes == [0x81, 127, 0, 0, 0, 0, 0, 0, 0, 1, 0x61])
        #expect(ServerFrame(.text, zeros.prefix(128), lengthForm: .short).bytes.prefix(2) == [0x81, 0])
        #expect(ServerFrame(.text, "a".utf8, announcedLength: 9).bytes == [0x81, 9, 0x61])
        #expect(ServerFrame(.binary, announcedLength: .max).bytes == [0x82, 127] + [UInt8](repeating: 255, count: 8))
    }

    @Test func `a script sends raw bytes, slowly or at once, and waits for a signal`() throws {
        let start = ContinuousClock.now
        let client = try serve { socket in
            try socket.sendRaw(bytes: [1, 2])
            try socket.dribble([3, 4, 5], 2, every: .milliseconds(10))
            try socket.pause(for: .milliseconds(10))
            try socket.pause(until: "go")
            try socket.closeRaw([9])
        }
        #expect(try client.bytes(5) == [1, 2, 3, 4, 5])
        #expect(client.raw.isSilent)
        server.signal("go")
        #expect(try client.rest() == [0x88, 1, 9])
        #expect(ContinuousClock.now - start >= .milliseconds(30))
    }

    @Test func `a script can stall, reset, or fail`() throws {
        let stalled = try serve { try $0.stall() }
        stalled.raw.shutDownWriting()
        #expect(try stalled.rest().isEmpty)
        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)

        let reset = try serve { try $0.reset() }
        #expect(throws: RawClient.Failure(call: "recv", code: ECONNRESET)) { try reset.rest() }
        #expect(try server.waitForEnd(ofConnection: 2) == .serverReset)

        struct Fault: Error {}
        let failed = try serve { _ in throw Fault() }
        #expect(throws: RawClient.Failure(call: "recv", code: ECONNRESET)) { try failed.rest() }
        #expect(try server.waitForEnd(ofConnection: 3) == .scriptFailed("Fault()"))
    }

    @Test func `the server stops while a script waits`() throws {
        let client = try WebSocketClient(server, "/ws/echo")
        server.stop()
        #expect(try client.rest().isEmpty)
        #expect(server.connections[0].end == .serverStopped)
    }
}
