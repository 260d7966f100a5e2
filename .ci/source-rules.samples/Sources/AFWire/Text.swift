func sizes(text: String, headerField: Substring, byte: UInt8) {
    _ = Int(text)  // expect: text-number
    _ = UInt64(headerField, radix: 16)  // expect: text-number
    _ = Int(byte, radix: 16)  // expect: text-number
    _ = Int(String(text))  // expect: text-number
    _ = Double(headerField)  // expect: text-number
    _ = Int(byte)
    _ = UInt32(text.count)
    _ = text.lowercased()  // expect: lowercased
    _ = text.uppercased() == "A"  // expect: lowercased
    _ = text.trimmingCharacters(in: .whitespaces)  // expect: trimming
    _ = try NSRegularExpression(pattern: "a*")  // expect: regular-expression
    let parser: Regex<Substring>  // expect: regular-expression
    _ = DateFormatter()  // expect: date-formatter
    _ = ISO8601DateFormatter()  // expect: date-formatter
    _ = text.components(separatedBy: ";")  // expect: text-search
    _ = text.range(of: ";")  // expect: text-search
    _ = text.first == Character(";")  // expect: text-search
    _ = ranges.range(ofLine: 1)
}
