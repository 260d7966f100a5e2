@testable import AFNetworkingTesting

extension FuzzTarget {
    /// The test server's reader. The first byte says what is compressed, the second how long a message may be.
    static let clientFrames = FuzzTarget(
        "client-frames",
        seeds: [
            // RFC 6455 §5.7, and RFC 7692 §7.2.3 with a mask of zeros.
            [0x10, 0xFF, 0x01, 0x02, 0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58],
            [0x10, 0xFF, 0x00, 0x01, 0x83, 0, 0, 0, 0, 0x48, 0x65, 0x6C, 0x80, 0x82, 1, 2, 3, 4, 0x6D, 0x6D],
            [
                0x07, 0xFF, 0x01, 0x08, 0xC1, 0x87, 0, 0, 0, 0, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0xC1, 0x85,
                0, 0, 0, 0, 0xF2, 0x00, 0x11, 0x00, 0x00,
            ],
            [0x0F, 0x01, 0x00, 0x82, 0xFE, 0x00, 0x02, 9, 9, 9, 9, 1, 2, 0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8],
            [0x10, 0x01, 0x00, 0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 9, 9, 9, 9, 1, 0x89, 0x80, 0, 0, 0, 0],
        ]
    ) { input in
        guard input.count > 2 else { return }
        let (bits, limit) = (input[0], Int(input[1]) * 8)
        let parameters =
            bits & 0x10 != 0
            ? nil
            : DeflateParameters(clientNoContextTakeover: bits & 8 != 0, clientMaxWindowBits: 8 + Int(bits & 7))
        let (whole, pieces) = Array(input[2...]).cutByItself
        let one = ClientFrames([whole], parameters, limit: limit)
        let other = ClientFrames(pieces, parameters, limit: limit)
        try expect(one == other, "cut in pieces they are other frames: \(one), and \(other)")
        try expect(whole.starts(with: one.frames.flatMap(\.bytes)), "written again they are other frames: \(one)")
        for message in one.messages {
            try expect(message.bytes.count <= limit, "a message of \(message.bytes.count) bytes")
        }
    }

    /// What the test server makes of the frames of a client.
    private struct ClientFrames: Equatable {
        var frames: [ServerFrame] = []
        var messages: [ServerMessage] = []
        var end: String?

        init(_ pieces: [[UInt8]], _ parameters: DeflateParameters?, limit: Int) {
            var reader = FrameReader(stream: PiecedStream(pieces), early: [])
            var assembler = MessageAssembler(inflater: parameters.map { ClientMessageInflater($0) })
            do {
                while let frame = try reader.next(limit: limit) {
                    frames.append(frame)
                    if frame.opcode.isControl {
                        try MessageAssembler.check(frame)
                    } else if let message = try assembler.add(frame, limit: limit) {
                        messages.append(message)
                    }
                }
            } catch {
                end = "\(error)"
            }
        }
    }

    /// Gives each piece at once, and then the end.
    private final class PiecedStream: SwitchedStream {
        private var pieces: ArraySlice<[UInt8]>

        init(_ pieces: [[UInt8]]) { self.pieces = pieces[...] }

        func receive(into buffer: UnsafeMutableRawBufferPointer) throws(ConnectionEnd) -> Int {
            guard let piece = pieces.popFirst() else { return 0 }
            buffer.copyBytes(from: piece)
            return piece.count
        }

        func send(_ bytes: UnsafeRawBufferPointer) throws(ConnectionEnd) { throw .clientClosed }
        func pause(for duration: Duration) throws(ConnectionEnd) { throw .clientClosed }
        func waitForSignal(_ name: String) throws(ConnectionEnd) { throw .clientClosed }
        func waitForHangUp() throws(ConnectionEnd) -> Never { throw .clientClosed }
        func note(_ frame: ServerFrame) {}
        func noteRefusal(_ reason: String) {}
    }
}
