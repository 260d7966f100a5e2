import AFWire
import Foundation

/// The head of a sent request, as text.
package enum HeadText {
    package static func fields(of head: [UInt8]) -> [(name: String, value: String)] {
        head.split(separator: UInt8(ascii: "\n")).dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let value = HTTPText.decode(Array(line[(colon + 1)...].dropLast()))
            return (HTTPText.decode(Array(line[..<colon])), trimmed(value[...]))
        }
    }

    /// The text without spaces and tabs around it.
    package static func trimmed(_ text: Substring) -> String {
        String(text).withUTF8Bytes { String(decoding: ByteScanning.trimmingOWS($0), as: UTF8.self) }
    }
}
