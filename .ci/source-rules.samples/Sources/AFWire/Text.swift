func sizes(text: String, headerField: Substring, byte: UInt8) {
    _ = Int(text)  // expect: text-number
    _ = UInt64(headerField, radix: 16)  // expect: text-number
    _ = Int(byte, radix: 16)  // expect: text-number
    _ = Int(String(text))  // expect: text-number
    _ = Double(headerField)  // expect: text-number
    _ = headerField.flatMap { Int($0) }  // expect: text-number
    _ = parts.compactMap(UInt64.init)  // expect: text-number
    _ = total.flatMap { Int64(exactly: $0) }
    _ = total.map(Int64.init)
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
    _ = text.replacingOccurrences(of: "%", with: "")  // expect: text-search
    _ = NSString(string: text).contains("a")  // expect: text-search
    _ = coder.decodeObject(of: NSString.self)
    _ = text.split(separator: ";", maxSplits: 1)  // expect: text-search
    _ = text.lastIndex(of: ":")  // expect: text-search
    _ = text.unicodeScalars.firstIndex(of: ":")
    _ = text.utf8.split(separator: UInt8(ascii: ";"))
    _ = text.first == Character(";")  // expect: text-search
    _ = ranges.range(ofLine: 1)
}

/// ```
/// closed
/// ```
enum Drawn {
    /// ```
    /// closed
    ///   ```
    /// and left behind
    /// ```  expect: fences
    case open
}
