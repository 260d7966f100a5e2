import AFBase
package import Foundation

extension SecretMask {
    /// A body without the values of secret items, if it is a form or holds JSON. Others stay as they are.
    package func body(_ data: Data, type given: String) -> Data {
        let type = ASCII.lowered(given)
        if type.hasPrefix("multipart/form-data") { return form(data, type: given) }
        let isForm = type.hasPrefix("application/x-www-form-urlencoded")
        // An image may look like JSON in places, and must stay whole.
        let isText = isForm || type.contains("json")
        guard let text = String(data: data, encoding: .utf8) ?? (isText ? String(decoding: data, as: UTF8.self) : nil)
        else { return data }
        // `curl` sends JSON with the type of a form unless told otherwise.
        let json = json(text)
        let masked = isForm ? query(json[...]) : json
        return masked == text ? data : Data(masked.utf8)
    }

    /// A text without the values of secret members of the JSON objects in it, and in its strings. Other text stays as it
    /// is.
    package func json(_ text: String) -> String {
        var scan = MemberScan(bytes: Array(text.utf8))
        return scan.masked()
    }
}

/// Looks for `"name": value` in a text that need not be JSON as a whole, or may end in the middle of it.
private struct MemberScan {
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let cover = Array("\"\(SecretMask.cover)\"".utf8)

    let bytes: [UInt8]
    private var place = 0
    private var output: [UInt8] = []

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func masked() -> String {
        while let byte = next {
            guard byte == MemberScan.quote else {
                output.append(byte)
                place += 1
                continue
            }
            let name = skipString()
            guard let value = valuePlace() else {
                output += maskedString(bytes[name])
                continue
            }
            output += bytes[name]
            guard isSecret(bytes[name], isNumber: isNumber(bytes[value])) else { continue }
            output += bytes[place..<value]
            place = value
            skipValue()
            output += MemberScan.cover
        }
        return String(decoding: output, as: UTF8.self)
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    /// The bytes of the string that begins here, with its quotation marks.
    ///
    /// No string of JSON has a line break. So one ends what may be a name, and a lone quotation mark misleads no further
    /// than its line. A value ends with its quotation mark only, so that nothing of it is seen.
    @discardableResult
    private mutating func skipString(isValue: Bool = false) -> Range<Int> {
        let start = place
        place += 1
        while let byte = next, isValue || byte != UInt8(ascii: "\n") {
            place += 1
            if byte == MemberScan.quote { break }
            if byte == MemberScan.backslash, next != nil { place += 1 }
        }
        return start..<place
    }

    /// Where the value begins, if the string before this place was a name.
    private func valuePlace() -> Int? {
        func firstUnblank(from start: Int) -> Int? {
            bytes[start...].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        }
        guard let colon = firstUnblank(from: place), bytes[colon] == UInt8(ascii: ":") else { return nil }
        return firstUnblank(from: colon + 1)
    }

    private func isSecret(_ name: ArraySlice<UInt8>, isNumber: Bool) -> Bool {
        let name = unescaped(name) ?? String(decoding: name.dropFirst().dropLast(), as: UTF8.self)
        // A number is the code of an error, and no authorization code.
        return SecretNames.containsItem(name) && !(isNumber && ASCII.lowered(name) == "code")
    }

    private func isNumber(_ first: UInt8) -> Bool { first == UInt8(ascii: "-") || (0x30...0x39).contains(first) }

    /// A string may hold JSON itself, or a URL.
    private func maskedString(_ string: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let text = unescaped(string) else { return maskedPlainString(string) }
        let masked = maskedURLs(text.contains("\"") ? SecretMask().json(text) : text)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard masked != text, let written = try? encoder.encode(masked) else { return string }
        return Array(written)[...]
    }

    /// A string without escapes, which may have no end.
    private func maskedPlainString(_ string: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let text = String(decoding: string, as: UTF8.self)
        let masked = maskedURLs(text)
        return masked == text ? string : Array(masked.utf8)[...]
    }

    private func maskedURLs(_ text: String) -> String { text.contains("://") ? SecretMask().text(text) : text }

    /// The text of a string with escapes; nil for one without.
    private func unescaped(_ string: ArraySlice<UInt8>) -> String? {
        guard string.contains(MemberScan.backslash) else { return nil }
        return try? JSONDecoder().decode(String.self, from: Data(string))
    }

    /// Goes past a string, a number or a word, or an object or array with all that is in it.
    private mutating func skipValue() {
        var depth = 0
        repeat {
            switch next {
            case MemberScan.quote: skipString(isValue: true)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                place += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D: place += 1
            default: skipWord()
            }
        } while depth > 0 && place < bytes.count
    }

    private mutating func skipWord() {
        let ends = Array("\",:{}[] \t\r\n".utf8)
        while let byte = next, !ends.contains(byte) { place += 1 }
    }
}
