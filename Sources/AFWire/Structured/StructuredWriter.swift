import AFBase

/// Writes structured fields (RFC 9651 §4.1). What a reader could not read again is refused, never repaired.
struct StructuredWriter {
    private(set) var bytes: [UInt8] = []

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func append(_ members: [StructuredMember]) throws(StructuredFieldError) {
        for (index, member) in members.enumerated() {
            if index > 0 { append(", ") }
            try append(member)
        }
    }

    mutating func append(_ members: StructuredDictionary) throws(StructuredFieldError) {
        for (index, name) in members.names.enumerated() {
            if index > 0 { append(", ") }
            try append(name: name)
            if let member = members[name], member.value != .boolean(true) {
                append("=")
                try append(member)
            } else if let parameters = members[name]?.parameters {
                try append(parameters)
            }
        }
    }

    mutating func append(_ item: StructuredItem) throws(StructuredFieldError) {
        try append(item.value)
        try append(item.parameters)
    }

    private mutating func append(_ member: StructuredMember) throws(StructuredFieldError) {
        switch member {
        case .item(let item): try append(item)
        case .innerList(let items, let parameters):
            append("(")
            for (index, item) in items.enumerated() {
                if index > 0 { append(" ") }
                try append(item)
            }
            append(")")
            try append(parameters)
        }
    }

    private mutating func append(_ parameters: StructuredParameters) throws(StructuredFieldError) {
        for name in parameters.names {
            append(";")
            try append(name: name)
            guard let value = parameters[name], value != .boolean(true) else { continue }
            append("=")
            try append(value)
        }
    }

    private mutating func append(name: String) throws(StructuredFieldError) {
        guard let first = name.utf8.first, ASCIISet.structuredNameStart.contains(first),
            name.utf8.allSatisfy(ASCIISet.structuredName.contains)
        else { throw StructuredFieldError("the name \(EscapedText(name)): use lower-case letters, digits and _-.*") }
        append(name)
    }

    // MARK: - Values

    private mutating func append(_ value: StructuredValue) throws(StructuredFieldError) {
        switch value {
        case .integer(let number): try append(number)
        case .decimal(let number): try append(number)
        case .string(let text):
            guard text.utf8.allSatisfy(ByteScanning.isPrintable), QuotedText.append(text.utf8, to: &bytes) else {
                throw StructuredFieldError("the string \(EscapedText(text)): a display string can")
            }
        case .token(let text):
            guard let first = text.utf8.first, ASCIISet.structuredTokenStart.contains(first),
                text.utf8.allSatisfy(ASCIISet.structuredToken.contains)
            else { throw StructuredFieldError("the token \(EscapedText(text)): a string can") }
            append(text)
        case .bytes(let content):
            append(":")
            bytes += content.withUnsafeBytes { Base64.encode($0) }
            append(":")
        case .boolean(let isTrue): append(isTrue ? "?1" : "?0")
        case .date(let seconds):
            append("@")
            try append(seconds)
        case .displayString(let text): append(displayString: text)
        }
    }

    private mutating func append(_ number: Int) throws(StructuredFieldError) {
        guard (-999_999_999_999_999...999_999_999_999_999).contains(number) else {
            throw StructuredFieldError("the number \(number): it has more than 15 digits")
        }
        append(String(number))
    }

    /// Rounded to three digits behind the point, to the even one of two that are as near.
    private mutating func append(_ number: Double) throws(StructuredFieldError) {
        let thousandths = (number * 1000).rounded(.toNearestOrEven)
        guard thousandths.magnitude <= 999_999_999_999_999 else {
            throw StructuredFieldError("the number \(number): it has more than 12 digits in front of the point")
        }
        let (whole, fraction) = Int(thousandths.magnitude).quotientAndRemainder(dividingBy: 1000)
        if thousandths < 0 { append("-") }
        append("\(whole).\(fraction / 100)")
        if fraction % 100 > 0 { append("\(fraction / 10 % 10)") }
        if fraction % 10 > 0 { append("\(fraction % 10)") }
    }

    private mutating func append(displayString text: String) {
        append("%\"")
        for byte in text.utf8 {
            if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\"") || !ByteScanning.isPrintable(byte) {
                append(byte < 16 ? "%0" : "%")
                append(String(byte, radix: 16))
            } else {
                bytes.append(byte)
            }
        }
        append("\"")
    }

    private mutating func append(_ text: String) { bytes += text.utf8 }
}
