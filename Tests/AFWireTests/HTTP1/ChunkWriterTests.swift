import AFWire
import Testing

struct ChunkWriterTests {
    @Test func `T-REQ-17 a chunk of no bytes is not written, and so does not end a body`() {
        var wire = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        for size in [0, 3, 0, 0, 2, 0] {
            let before = wire.count
            ChunkWriter.appendHeader(for: size, to: &wire)
            #expect((wire.count == before) == (size == 0))
            wire += [UInt8](repeating: 0x61, count: size)
            if size > 0 { wire += ChunkWriter.chunkEnd }
        }
        ChunkWriter.appendEnd(to: &wire)

        let outcome = ResponseSetting().outcome(of: wire)

        #expect(outcome.text == "aaaaa" && outcome.mayReuse)
    }

    @Test(arguments: [
        (1, "1"), (9, "9"), (10, "a"), (15, "f"), (16, "10"), (255, "ff"), (4096, "1000"),
        (Int.max, "7fffffffffffffff"),
    ])
    func `a chunk header is its size in hexadecimal`(size: Int, digits: String) {
        var buffer: [UInt8] = []

        ChunkWriter.appendHeader(for: size, to: &buffer)

        #expect(String(decoding: buffer, as: UTF8.self) == digits + "\r\n")
    }
}
