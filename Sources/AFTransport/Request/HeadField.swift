import AFWire

/// A field that a session adds to a request whose head is written already.
package struct HeadField: Sendable {
    private let name: [UInt8]
    private let value: [UInt8]

    package static let userAgent = HeadField("User-Agent", [])

    /// - Parameters:
    ///   - name: A token.
    ///   - value: Without control characters.
    package init(_ name: StaticString, _ value: [UInt8]) {
        self.name = Array(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        self.value = value
    }

    package init(_ name: [UInt8], _ value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// The line, with its line break.
    package var bytes: [UInt8] { name + [UInt8(ascii: ":"), UInt8(ascii: " ")] + value + [0x0D, 0x0A] }

    /// Where a line of this name stands in a head, its line break included.
    package func line(in head: [UInt8]) -> Range<Int>? {
        head.withUnsafeBytes { head in
            var start = 0
            while let feed = ByteScanning.firstIndex(of: 0x0A, in: head, from: start) {
                let end = feed + 1
                let colon = start + name.count
                if colon < end, head[colon] == UInt8(ascii: ":"),
                    isName(UnsafeRawBufferPointer(rebasing: head[start..<colon]))
                {
                    return start..<end
                }
                start = end
            }
            return nil
        }
    }

    private func isName(_ bytes: UnsafeRawBufferPointer) -> Bool {
        name.withUnsafeBytes { ByteScanning.equalsIgnoringCase(bytes, $0) }
    }
}
