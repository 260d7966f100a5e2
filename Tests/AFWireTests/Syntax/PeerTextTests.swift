import AFBase
import AFWire
import Testing

/// What of a peer's words reaches an error, T-MSG-57.
@Suite struct PeerTextTests {
    private static func isPrintable(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    @Test func `T-MSG-57 peer text is escaped to printable ASCII`() {
        #expect(PeerText.escaped("a\r\nb\t\"\\\u{1B}[1m\u{E9}\0".utf8) == #"a\r\nb\t\"\\\x1b[1m\xc3\xa9\x00"#)
        #expect(Self.isPrintable(PeerText.escaped(UInt8.min...UInt8.max)))
    }

    @Test(arguments: [252, 253, 254, 255, 256, 257, 10_000])
    func `T-MSG-57 peer text is cut to 256 bytes`(count: Int) {
        for byte in ["a", "\0", "\r"] {
            let text = PeerText.escaped(String(repeating: byte, count: count).utf8)
            #expect(text.utf8.count <= 256 && Self.isPrintable(text))
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 \u{1B}[2J", "\u{1B}]0;evil\u{7}", "HTTP/1.1 200 OK\r\nna\u{1B}me: x\r\n",
        "HTTP/1.1 200 OK\r\nX: \u{1B}[31m\r\n", "HTTP/1.1 200 OK\r\nContent-Length: \u{9B}31m\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: \u{9B}31m\r\n", "HTTP/1.1 200 OK\r\nX: a\rFAKE LOG LINE\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\u{1B}[2J",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;\u{1B}[2J",
    ])
    func `T-MSG-57 no error shows raw or endless peer text`(start: String) throws {
        let wire = Array((start + String(repeating: "\u{E9}", count: 1_000) + "\r\n\r\n").utf8)
        var decoder = ResponseDecoder(method: "GET")

        let error = #expect(throws: HTTP1Error.self) {
            try wire.withUnsafeBytes { bytes in
                var offset = 0
                while offset < bytes.count {
                    offset += try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...])).consumed
                }
            }
        }

        let detail = try #require(error?.detail)
        let quoted = try #require(detail.firstIndex(of: "\""))
        #expect(Self.isPrintable(detail))
        #expect(detail[quoted...].utf8.count <= 258)
    }
}
