/// Escapes text for the query of a URL or for a form.
enum PercentEscaping {
    static func escaped(_ string: String) -> String {
        var string = string
        return string.withUTF8 { text in
            let escapedCount = text.reduce(0) { $0 + (isKept($1) ? 0 : 1) }
            guard escapedCount > 0 else { return String(decoding: text, as: UTF8.self) }
            return String(unsafeUninitializedCapacity: text.count + 2 * escapedCount) { room in
                write(text, into: room)
            }
        }
    }

    private static func isKept(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "?"):
            true
        default: false
        }
    }

    /// Returns how many bytes were written.
    private static func write(_ text: UnsafeBufferPointer<UInt8>, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var end = 0
        for byte in text {
            if isKept(byte) {
                room[end] = byte
                end += 1
            } else {
                room[end] = UInt8(ascii: "%")
                room[end + 1] = digit(byte >> 4)
                room[end + 2] = digit(byte & 15)
                end += 3
            }
        }
        return end
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
