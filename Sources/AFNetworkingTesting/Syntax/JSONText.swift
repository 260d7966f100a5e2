/// A JSON document as text. Members keep their order, so that replies depend on the test only.
struct JSONText: Sendable {
    let text: String

    static let null = JSONText(text: "null")

    static func bool(_ value: Bool) -> JSONText { JSONText(text: value ? "true" : "false") }

    static func number(_ value: Int) -> JSONText { JSONText(text: String(value)) }

    static func string(_ value: String) -> JSONText {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in value.utf8 { append(byte, to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
        return JSONText(text: String(decoding: bytes, as: UTF8.self))
    }

    static func array(_ values: [JSONText]) -> JSONText {
        JSONText(text: "[" + values.map(\.text).joined(separator: ", ") + "]")
    }

    static func object(_ members: [(name: String, value: JSONText)]) -> JSONText {
        JSONText(text: "{" + members.map { "\(string($0.name).text): \($0.value.text)" }.joined(separator: ", ") + "}")
    }

    /// An object of names and values. A name that occurs several times has an array.
    static func grouped(_ pairs: [(name: String, value: String)]) -> JSONText {
        var order: [String] = []
        var values: [String: [String]] = [:]
        for (name, value) in pairs {
            if values[name] == nil { order.append(name) }
            values[name, default: []].append(value)
        }
        return object(
            order.map { name in
                let all = values[name, default: []].map { string($0) }
                return (name, all.count == 1 ? all[0] : array(all))
            }
        )
    }

    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes += [UInt8(ascii: "\\"), byte]
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        default:
            bytes.append(byte)
        }
    }
}
