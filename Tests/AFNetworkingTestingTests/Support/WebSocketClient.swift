import AFNetworkingTesting

/// A client that speaks WebSocket in plain bytes: it shares no code with the server's frames, nor with the library's.
final class WebSocketClient {
    /// A frame as it arrived.
    struct Frame: Equatable {
        /// FIN, the reserved bits and the opcode.
        let first: UInt8
        let isMasked: Bool
        let payload: [UInt8]

        var text: String { String(decoding: payload, as: UTF8.self) }

        init(_ first: UInt8, _ payload: [UInt8], isMasked: Bool = false) {
            self.first = first
            self.isMasked = isMasked
            self.payload = payload
        }

        init(_ first: UInt8, _ text: String) { self.init(first, Array(text.utf8)) }

        static func close(_ code: Int, _ reason: String = "") -> Frame {
            Frame(0x88, [UInt8(code / 256), UInt8(code % 256)] + Array(reason.utf8))
        }
    }

    struct EndOfStream: Error {}

    static let upgrade = [
        "Host: x", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    let raw: RawClient
    /// The head of the answer.
    let head: String

    /// Sends a request for WebSocket with more fields, and reads the head of the answer.
    init(_ server: TestServer, _ target: String, _ fields: String..., early: [UInt8] = []) throws {
        raw = try RawClient(server)
        let lines = ["GET \(target) HTTP/1.1"] + Self.upgrade + fields
        try raw.send(bytes: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + early)
        head = try raw.readHead()
    }

    /// The value of a field of the answer.
    subscript(name: String) -> String? {
        head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// A frame as a client sends it; without a mask if `key` is nil.
    static func frame(_ first: UInt8, _ payload: [UInt8], key: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D]) -> [UInt8] {
        let mask: UInt8 = key == nil ? 0 : 128
        let count = payload.count
        var bytes = [first]
        switch count {
        case ...125: bytes += [mask + UInt8(count)]
        case ...65_535: bytes += [mask + 126, UInt8(count / 256), UInt8(count % 256)]
        default: bytes += [mask + 127, 0, 0, 0, 0] + [24, 16, 8, 0].map { UInt8(count >> $0 & 255) }
        }
        guard let key else { return bytes + payload }
        return bytes + key + payload.indices.map { payload[$0] ^ key[$0 % 4] }
    }

    func send(_ first: UInt8, _ payload: [UInt8]) throws {
        try raw.send(bytes: Self.frame(first, payload))
    }

    func send(_ first: UInt8, _ text: String) throws {
        try send(first, Array(text.utf8))
    }

    func bytes(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try raw.read(atMost: count - bytes.count)
            if more.isEmpty { throw EndOfStream() }
            bytes += more
        }
        return bytes
    }

    func next() throws -> Frame {
        let start = try bytes(2)
        let wide = try bytes([126: 2, 127: 8][start[1] & 127] ?? 0)
        let count = wide.isEmpty ? Int(start[1] & 127) : wide.reduce(0) { $0 * 256 + Int($1) }
        let key = try start[1] > 127 ? bytes(4) : [0, 0, 0, 0]
        let payload = try bytes(count)
        return Frame(start[0], payload.indices.map { payload[$0] ^ key[$0 % 4] }, isMasked: start[1] > 127)
    }

    /// Everything up to the end of the stream.
    func rest() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = try raw.read()
            if more.isEmpty { return bytes }
            bytes += more
        }
    }
}
