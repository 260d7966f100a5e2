import AFWire
import Testing

struct ChunkWriterTests {
    @Test func `T-REQ-17 a chunk of no bytes is not written, and so does not end a body`() throws {
        var wire = Array("POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        for size in [0, 3, 0, 0, 2, 0] {
            let before = wire.count
            ChunkWriter.appendHeader(for: size, to: &wire)
            #expect((wire.count == before) == (size == 0))
            wire += [UInt8](repeating: 0x61, count: size)
            if size > 0 { wire += ChunkWriter.chunkEnd }
        }
        ChunkWriter.appendEnd(to: &wire)

        var decoder = RequestDecoder()
        var (offset, body, isOver) = (0, 0, false)
        while !isOver {
            offset += try wire.withUnsafeBytes { bytes in
                let step = try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                if case .body(let slice) = step.event { body += slice.count }
                if case .end = step.event { isOver = true }
                return step.consumed
            }
        }

        #expect(body == 5 && offset == wire.count)
    }
}
