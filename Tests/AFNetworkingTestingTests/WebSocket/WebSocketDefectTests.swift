import AFNetworkingTesting
import Glibc
import Testing

@Suite struct WebSocketDefectTests {
    private let server: TestServer

    init() throws {
        server = try TestServer()
        server.install(.webSockets)
    }

    private func visit(_ name: String) throws -> WebSocketClient {
        try WebSocketClient(server, "/ws/bad/\(name)")
    }

    // MARK: - Handshakes

    private static let upgrade = "Upgrade: websocket\r\n"
    private static let connection = "Connection: Upgrade\r\n"
    private static let accept = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

    static let handshakes = [
        ("accept", "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n" + upgrade + connection),
        ("no-accept", upgrade + connection),
        ("no-upgrade", connection + accept),
        ("no-connection", upgrade + accept),
        ("upgrade", "Upgrade: h2c\r\n" + connection + accept),
        ("connection", "Connection: keep-alive\r\n" + upgrade + accept),
        ("protocol", "Sec-WebSocket-Protocol: unheard-of\r\n" + upgrade + connection + accept),
        ("extension", "Sec-WebSocket-Extensions: unheard-of\r\n" + upgrade + connection + accept),
    ]

    @Test(arguments: handshakes) func `a handshake has its defect and no other`(name: String, fields: String) throws {
        #expect(try visit(name).head == "HTTP/1.1 101 Switching Protocols\r\n\(fields)\r\n")
    }

    @Test func `a 200 has the fields of a 101`() throws {
        let fields = Self.upgrade + Self.connection + Self.accept
        #expect(try visit("status").head == "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 0\r\n\r\n")
    }

    @Test func `a name that there is not is refused`() throws {
        #expect(try visit("unheard-of").head.hasPrefix("HTTP/1.1 400 "))
    }

    // MARK: - Frames

    static let hello = Array("Hello".utf8)
    static let frames: [(name: String, bytes: [UInt8])] = [
        ("mask", [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]),
        ("rsv", [0xC1, 5] + hello),
        ("rsv?bits=3", [0xB1, 5] + hello),
        ("opcode", [0x83, 5] + hello),
        ("opcode?opcode=15", [0x8F, 5] + hello),
        ("continuation", [0x80, 5] + hello),
        ("interleaved", [0x01, 3] + hello.prefix(3) + [0x81, 2] + hello.suffix(2)),
        ("length", [0x81, 126, 0, 5] + hello),
        ("fragmented-control", [0x09, 5] + hello),
        ("long-control", [0x89, 126, 0, 126] + [UInt8](repeating: 0x61, count: 126)),
        ("utf8", [0x81, 3, 0x48, 0xC3, 0x28]),
        ("oversized", [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0]),
    ]

    @Test(arguments: frames) func `frames have their defect, and then the server closes in order`(
        name: String,
        bytes: [UInt8]
    ) throws {
        let client = try visit(name)
        #expect(try client.bytes(bytes.count) == bytes)
        #expect(client.raw.isSilent)
        try client.send(0x88, [0x03, 0xEA])
        #expect(try client.next() == .close(1002))
        #expect(try client.rest().isEmpty)
        #expect(server.connections[0].frames.map(\.closeCode) == [1002])
    }

    @Test(arguments: [("close-length", [0x88, 1, 3]), ("close-utf8", [0x88, 4, 3, 0xE8, 0xC3, 0x28] as [UInt8])])
    func `Close frames have their defect, and are the last`(name: String, bytes: [UInt8]) throws {
        let client = try visit(name)
        #expect(try client.bytes(bytes.count) == bytes)
        try client.send(0x88, [0x03, 0xEA])
        #expect(try client.rest().isEmpty)
    }

    @Test func `half of a frame is followed by the end`() throws {
        #expect(try visit("half-frame").rest() == [0x81, 5, 0x48, 0x65])
    }

    @Test func `the end may come without Close`() throws {
        #expect(try visit("close-without-close").rest().isEmpty)
        #expect(server.connections[0].bytesSent == 129)
    }

    @Test func `a slow message is whole`() throws {
        let start = ContinuousClock.now
        let client = try visit("slow?interval=0.005")
        #expect(try client.next() == .init(0x81, "Hello"))
        #expect(try client.next() == .close(1000))
        #expect(ContinuousClock.now - start >= .milliseconds(35))
    }

    @Test func `a silent server answers no ping, but Close`() throws {
        let client = try visit("silent")
        try client.send(0x89, "a")
        try client.send(0x88, [0x03, 0xE8])
        #expect(try client.next() == .close(1000))
    }

    @Test func `a Close may stay without an answer`() throws {
        let client = try visit("unanswered-close")
        try client.send(0x89, "a")
        try client.send(0x88, [0x03, 0xE8])
        #expect(try client.next() == .init(0x8A, "a"))
        client.raw.shutDownWriting()
        #expect(try client.rest().isEmpty)
        #expect(try server.waitForEnd(ofConnection: 1) == .clientClosed)
    }

    @Test func `the connection is reset at the first frame`() throws {
        let client = try visit("reset")
        #expect(client.raw.isSilent)
        try client.send(0x81, "a")
        #expect(throws: RawClient.Failure(call: "recv", code: ECONNRESET)) { try client.rest() }
        #expect(try server.waitForEnd(ofConnection: 1) == .serverReset)
    }
}
