import AFWire
import Testing

extension HeadTests {
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a\r\nb\r\n0\r\nA: b\r\n\r\n"

    /// The program ends at once where a parser reads what has not arrived.
    @Test(
        arguments: [
            "HTTP/1.1 200 OK\r\nA:\r\nSet-Cookie: b\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\nA: b\n C: d\nContent-Length: 2\n\nok", "HTTP/1.1 200 OK\r\nA:\r\n \r\n b\r\n\r\n",
            "\n", "\r\n\n", "\r", "\u{15}", "HTTP/1.1 204 \(String(repeating: "x", count: 90))\r\n\r\n",
            "HTTP/1.1 204 X\r\nA: \(String(repeating: "x", count: 90))\r\n\r\n", chunked,
        ],
        GuardedBytes.Edge.allCases
    )
    func `no byte before or after what has arrived is read`(wire: String, edge: GuardedBytes.Edge) throws {
        var limits = HTTP1Limits()
        limits.lineBytes = 80
        let bytes = Array(wire.utf8)
        for delivery in Delivery.all(of: bytes.count) {
            var decoder = ResponseDecoder(method: "GET", limits: limits, allowsLeadingEmptyLine: true)
            for piece in delivery.pieces(of: bytes) {
                var rest = piece[...]
                while !rest.isEmpty, !decoder.isFinished {
                    let guarded = try #require(GuardedBytes(Array(rest), at: edge))
                    guard let step = try? guarded.withBytes({ try decoder.decode($0) }) else { break }
                    rest = rest.dropFirst(step.consumed)
                }
            }
        }
    }
}
