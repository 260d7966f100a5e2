/// The parts of a form between their boundaries. A constant: each stream of it reads the same.
///
/// ```
/// --B CRLF  head  body  CRLF --B CRLF  head  body  CRLF --B-- CRLF
/// ```
struct MultipartLayout: Sendable {
    let parts: [MultipartPart]
    let boundary: String
    let packets: MultipartPackets

    init(parts: [MultipartPart], boundary: String, packets: MultipartPackets = MultipartPackets()) {
        self.parts = parts
        self.boundary = boundary
        self.packets = packets
    }

    /// A boundary of 128 random bits for each form: with a known boundary, the content of a part could end the part.
    static func randomBoundary() -> String {
        var random = SystemRandomNumberGenerator()
        let numbers = (0..<4).map { _ in
            let digits = String(UInt32.random(in: 0...UInt32.max, using: &random), radix: 16, uppercase: true)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }
        return "Boundary+" + numbers.joined()
    }

    /// The bytes before the body of a part.
    func opening(of index: Int) -> [UInt8] {
        Array("\(index == 0 ? "" : "\r\n")--\(boundary)\r\n".utf8) + parts[index].head.bytes
    }

    /// The bytes after the last part.
    var closing: [UInt8] { Array("\r\n--\(boundary)--\r\n".utf8) }

    /// The number of bytes; nil if it overflows.
    var length: Int64? {
        var sum = Int64(closing.count)
        for index in parts.indices {
            for count in [Int64(opening(of: index).count), parts[index].length] {
                let (next, isTooLong) = sum.addingReportingOverflow(count)
                if isTooLong { return nil }
                sum = next
            }
        }
        return sum
    }
}
