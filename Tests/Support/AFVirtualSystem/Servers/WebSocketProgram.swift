import AFBase
import AFTLS
import AFWire

/// A server that opens a WebSocket for each request, and then does what a closure says. It reads and writes frames by
/// itself, and knows nothing of the library's codec.
package final class WebSocketProgram: ServerProgram {
    /// A frame of the client, unmasked.
    package struct Frame {
        package let first: UInt8
        /// The four bytes of the mask; empty if there is none.
        package let key: [UInt8]
        package let payload: [UInt8]

        package var opcode: UInt8 { first & 0xF }
        package var isFinal: Bool { first & 0x80 != 0 }
        package var isCompressed: Bool { first & 0x40 != 0 }
    }

    /// What the server does.
    package struct Behaviour {
        /// Answers the request, with the value of `Sec-WebSocket-Accept` that fits.
        package var answer: (VirtualRequest, String) -> String = { WebSocketProgram.answer($1) }
        /// What is sent in one piece with the answer.
        package var early: [UInt8] = []
        /// The WebSocket is open.
        package var opened: (ServerEnd) -> Void = { _ in }
        /// A frame has arrived.
        package var received: (Frame, ServerEnd) -> Void = { _, _ in }
        /// Answers the client's Close frame with the same, and closes the connection.
        package var answersClose = true
        /// Whether the client has closed before.
        package var ended: (ServerEnd) -> Void = { $0.close() }

        package init() {}
    }

    private let behaviour: Behaviour
    private var responder: HTTPResponder?
    private var input: [UInt8] = []
    private var isOpen = false

    package init(_ behaviour: Behaviour) {
        self.behaviour = behaviour
        responder = HTTPResponder { [unowned self] request, _, client in answer(request, client) }
    }

    /// The head of an answer that opens a WebSocket.
    package static func answer(_ accept: String, _ fields: String...) -> String {
        let lines = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: \(accept)"] + fields
        return "HTTP/1.1 101 Switching Protocols\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// A frame of a server.
    package static func frame(_ first: UInt8, _ payload: some Collection<UInt8>) -> [UInt8] {
        let count = payload.count
        switch count {
        case ..<126: return [first, UInt8(count)] + payload
        case ..<65_536: return [first, 126, UInt8(count >> 8), UInt8(count & 0xFF)] + payload
        default:
            return [first, 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + payload
        }
    }

    private func answer(_ request: VirtualRequest, _ client: ServerEnd) {
        let key = request.headers.first("Sec-WebSocket-Key") ?? ""
        let digest = SHA1Digest.of(Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)) ?? []
        let accept = String(decoding: digest.withUnsafeBytes { Base64.encode($0) }, as: UTF8.self)
        let head = behaviour.answer(request, accept)
        isOpen = head.hasPrefix("HTTP/1.1 101")
        client.send(Array(head.utf8) + behaviour.early)
        if isOpen { behaviour.opened(client) }
    }

    package func received(_ bytes: ArraySlice<UInt8>, _ client: ServerEnd) {
        guard isOpen else { return responder?.received(bytes, client) ?? () }
        input += bytes
        while let frame = nextFrame() {
            if frame.key.isEmpty { client.report("a frame without a mask") }
            behaviour.received(frame, client)
            guard frame.opcode == 8, behaviour.answersClose else { continue }
            client.send(Self.frame(0x88, frame.payload.prefix(2)))
            client.close()
        }
    }

    package func outputEnded(_ client: ServerEnd) { behaviour.ended(client) }

    private func nextFrame() -> Frame? {
        guard input.count >= 2 else { return nil }
        let (first, second) = (input[0], input[1])
        let lengthBytes = second & 0x7F == 126 ? 2 : second & 0x7F == 127 ? 8 : 0
        let maskAt = 2 + lengthBytes
        let isMasked = second & 0x80 != 0
        let start = maskAt + (isMasked ? 4 : 0)
        guard input.count >= start else { return nil }
        let count = lengthBytes == 0 ? Int(second & 0x7F) : input[2..<maskAt].reduce(0) { $0 << 8 | Int($1) }
        guard input.count >= start + count else { return nil }
        let key = Array(input[maskAt..<start])
        let payload = input[start..<start + count].enumerated().map { isMasked ? $1 ^ key[$0 % 4] : $1 }
        input.removeFirst(start + count)
        return Frame(first: first, key: key, payload: payload)
    }
}
