import AFNetworkingTesting
import Testing

@Suite struct WebSocketCompressionTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.webSockets)
    }

    private func visit(_ query: String = "", offer: String = "permessage-deflate") throws -> WebSocketClient {
        try WebSocketClient(server, "/ws/echo?deflate=1\(query)", "Sec-WebSocket-Extensions: \(offer)")
    }

    // MARK: - Negotiation

    static let negotiations: [(query: String, offer: String, answer: String?)] = [
        ("", "", ""),
        ("", "; server_no_context_takeover", "; server_no_context_takeover"),
        ("", ";client_no_context_takeover", "; client_no_context_takeover"),
        ("", "; client_max_window_bits", ""),
        ("", "; client_max_window_bits=10", "; client_max_window_bits=10"),
        ("", "; server_max_window_bits=\"9\"", "; server_max_window_bits=9"),
        ("&server_no_context_takeover=1", "", "; server_no_context_takeover"),
        ("&client_no_context_takeover=1", "", "; client_no_context_takeover"),
        ("&server_max_window_bits=11", "", "; server_max_window_bits=11"),
        ("&server_max_window_bits=11", "; server_max_window_bits=9", "; server_max_window_bits=9"),
        ("&server_max_window_bits=9", "; server_max_window_bits=11", "; server_max_window_bits=9"),
        // The client did not say that it knows the parameter.
        ("&client_max_window_bits=9", "", ""),
        ("&client_max_window_bits=9", "; client_max_window_bits", "; client_max_window_bits=9"),
        ("&client_max_window_bits=9", "; client_max_window_bits=8", "; client_max_window_bits=8"),
        ("&client_max_window_bits=9", "; client_max_window_bits=15", "; client_max_window_bits=9"),
        ("", "; server_max_window_bits", nil),
        ("", "; server_max_window_bits=7", nil),
        ("", "; server_max_window_bits=16", nil),
        ("", "; server_max_window_bits=08", nil),
        ("", "; client_max_window_bits=x", nil),
        ("", "; client_no_context_takeover=1", nil),
        ("", "; unheard_of", nil),
        ("", "; server_no_context_takeover; server_no_context_takeover", nil),
        ("", "; unheard_of, x-other, permessage-deflate; client_max_window_bits=12", "; client_max_window_bits=12"),
    ]

    @Test(arguments: negotiations)
    func `the server accepts what it can, and says what it does`(query: String, offer: String, answer: String?) throws {
        let client = try visit(query, offer: "permessage-deflate" + offer)
        #expect(client["Sec-WebSocket-Extensions"] == answer.map { "permessage-deflate" + $0 })
    }

    @Test func `without an offer, or without the wish, nothing is compressed`() throws {
        #expect(try WebSocketClient(server, "/ws/echo?deflate=1")["Sec-WebSocket-Extensions"] == nil)
        let client = try WebSocketClient(server, "/ws/echo", "Sec-WebSocket-Extensions: permessage-deflate")
        #expect(client["Sec-WebSocket-Extensions"] == nil)
        try client.send(0x81, "Hello")
        #expect(try client.next() == .init(0x81, "Hello"))
    }

    // MARK: - The examples of RFC 7692 section 7.2.3

    static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    static let examples: [[(first: UInt8, payload: [UInt8])]] = [
        [(0xC1, hello)],
        [(0x41, [0xF2, 0x48, 0xCD]), (0x80, [0xC9, 0xC9, 0x07, 0x00])],
        [(0xC1, [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00])],
        [(0xC1, [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00])],
        [(0xC1, [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00])],
    ]

    @Test(arguments: examples) func `each example is Hello`(frames: [(first: UInt8, payload: [UInt8])]) throws {
        let client = try visit()
        for frame in frames { try client.send(frame.first, frame.payload) }
        #expect(try client.next() == .init(0xC1, Self.hello))
    }

    @Test func `a message may refer to the one before, unless that is agreed on`() throws {
        let client = try visit()
        for payload in [Self.hello, [0xF2, 0x00, 0x11, 0x00, 0x00]] { try client.send(0xC1, payload) }
        #expect(try client.next() == .init(0xC1, Self.hello))
        #expect(try client.next().payload.count < Self.hello.count)

        let other = try visit("&client_no_context_takeover=1&server_no_context_takeover=1")
        for payload in [Self.hello, Self.hello] {
            try other.send(0xC1, payload)
            #expect(try other.next() == .init(0xC1, Self.hello))
        }
        try other.send(0xC1, [0xF2, 0x00, 0x11, 0x00, 0x00])
        let reason = "compressed data with invalid distance too far back"
        #expect(try server.waitForEnd(ofConnection: 2) == .scriptFailed(reason))
    }

    @Test func `an empty message is one byte for the client, and messages need not be compressed`() throws {
        let client = try visit()
        try client.send(0xC2, [0x00])
        #expect(try client.next() == .init(0xC2, [0x00]))
        try client.send(0x81, "Hello")
        #expect(try client.next() == .init(0xC1, Self.hello))
    }

    @Test func `a compressed message is cut after it is compressed`() throws {
        let client = try visit("&fragment=4")
        try client.send(0x81, "Hello")
        #expect(try client.next() == .init(0x41, Array(Self.hello.prefix(4))))
        #expect(try client.next() == .init(0x80, Array(Self.hello.suffix(3))))
    }

    // MARK: - Both ways against zlib

    private static let samples: [[UInt8]] = {
        let text = Array(String(repeating: "the quick brown fox, the lazy dog; ", count: 60).utf8)
        let noise = (0..<3_000).map { UInt8(truncatingIfNeeded: ($0 &* $0 &* 2_654_435_761) >> 13) }
        return [text, noise, text, [], noise + text, Array(0...255), [UInt8](repeating: 7, count: 70_000), text]
    }()

    static let settings: [(parameters: String, clientBits: Int32, serverBits: Int, level: Int32, strategy: Int32)] = [
        ("", 15, 15, 9, 0), ("", 15, 15, 1, 0), ("", 15, 15, 0, 0), ("", 15, 15, 6, 2), ("", 15, 15, 9, 4),
        ("; client_max_window_bits=9", 9, 15, 9, 0),
        ("; server_max_window_bits=8", 15, 8, 9, 0),
        ("; server_no_context_takeover", 15, 15, 9, 0),
        ("; client_no_context_takeover", 15, 15, 9, 0),
        ("; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=9", 15, 9, 6, 0),
    ]

    @Test(.enabled(if: Inflater.isThere), arguments: settings)
    func `zlib and the server understand each other`(
        parameters: String,
        clientBits: Int32,
        serverBits: Int,
        level: Int32,
        strategy: Int32
    ) throws {
        let client = try visit(offer: "permessage-deflate" + parameters)
        #expect(client["Sec-WebSocket-Extensions"] == "permessage-deflate" + parameters)
        var deflater = try #require(Deflater(windowBits: clientBits, level: level, strategy: strategy))
        let inflater = try #require(Inflater())
        var stream: [UInt8] = []
        var expected: [UInt8] = []

        for sample in Self.samples {
            if parameters.contains("client_no_context") {
                deflater = try #require(Deflater(windowBits: clientBits, level: level, strategy: strategy))
            }
            if parameters.contains("server_no_context") { (stream, expected) = ([], []) }
            try client.send(0xC2, deflater.compress(sample))
            let frame = try client.next()
            #expect(frame.first == 0xC2)
            stream += frame.payload + [0, 0, 0xFF, 0xFF]
            expected += sample
            // zlib decompresses to a final block, which a message does not have.
            let all = try inflater.inflate(stream + [1, 0, 0, 0xFF, 0xFF], windowBits: serverBits)
            #expect(all == expected)
        }
    }

    @Test func `a match beyond the window of the client is refused`() throws {
        let deflater = try #require(Deflater(windowBits: 12))
        let block = (0..<600).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
        let client = try visit("&client_max_window_bits=9", offer: "permessage-deflate; client_max_window_bits")
        try client.send(0xC2, deflater.compress(block + block))
        let reason = "compressed data with invalid distance too far back"
        #expect(try server.waitForEnd(ofConnection: 1) == .scriptFailed(reason))
    }

    static let broken: [(payload: [UInt8], reason: String)] = [
        ([0x06], "invalid block type"),
        ([0x00, 0x05, 0x00, 0xFA, 0xFE, 0x48], "invalid stored block lengths"),
        ([0xF2, 0x48], "bytes that end too early"),
        ([0x00, 0x05, 0x00, 0xFA, 0xFF], "bytes that end too early"),
        ([0x1A, 0x03], "invalid literal/length code"),
    ]

    @Test(arguments: broken) func `broken data is refused`(payload: [UInt8], reason: String) throws {
        let client = try visit()
        try client.send(0xC1, payload)
        let end = try server.waitForEnd(ofConnection: 1)
        #expect(end == .scriptFailed("compressed data with \(reason)"))
    }

    @Test func `a message that unpacks to too much is refused, and one that is just short enough is not`() throws {
        let options = ServerWebSocketOptions(compression: DeflateParameters())
        server.route(
            "GET",
            "/",
            .webSocket(options) { socket in
                socket.messageLimit = 1_000
                while let message = try socket.receive() { try socket.send(message) }
            }
        )
        let client = try WebSocketClient(server, "/", "Sec-WebSocket-Extensions: permessage-deflate")
        let deflater = try #require(Deflater())
        try client.send(0xC2, deflater.compress([UInt8](repeating: 0, count: 1_000)))
        #expect(try client.next().first == 0xC2)
        try client.send(0xC2, deflater.compress([UInt8](repeating: 0, count: 1_001)))
        #expect(try server.waitForEnd(ofConnection: 1) == .scriptFailed("compressed data with too many bytes"))
    }

    @Test func `a script makes compressed frames itself`() throws {
        let options = ServerWebSocketOptions(compression: DeflateParameters(serverMaxWindowBits: 3))
        server.route(
            "GET",
            "/",
            .webSocket(options) { socket in
                let payload = socket.compressed("Hello".utf8)
                try socket.send(ServerFrame(.text, payload, reservedBits: 4))
                try socket.send(text: "\(socket.compression?.serverMaxWindowBits ?? 0)")
            }
        )
        let client = try WebSocketClient(server, "/", "Sec-WebSocket-Extensions: permessage-deflate")
        #expect(try client.next() == .init(0xC1, Self.hello))
        #expect(try client.next().first == 0xC1)
        #expect(client["Sec-WebSocket-Extensions"] == "permessage-deflate; server_max_window_bits=8")
    }
}
