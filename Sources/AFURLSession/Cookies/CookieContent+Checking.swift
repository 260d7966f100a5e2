import AFWire

extension CookieContent {
    /// Whether no byte of the cookie could end a line, a cookie or a string early, and the cookie is of a size that is
    /// stored.
    var isHarmless: Bool {
        guard !(name.isEmpty && value.isEmpty), name.count + value.count <= CookieLimits.standard.nameAndValue,
            path.count <= RequestURL.maximumLength
        else { return false }
        return [name, value, path].allSatisfy { part in
            part.allSatisfy { !ByteScanning.isForbiddenControl($0) && $0 != UInt8(ascii: ";") }
        }
    }

    /// Whether, for a cookie of the program's own, the server reads back the same cookie: white space around a part
    /// would be lost, and an `=` would move the end of the name.
    var isUnambiguous: Bool {
        let equals = UInt8(ascii: "=")
        guard !name.contains(equals), !(name.isEmpty && value.contains(equals)) else { return false }
        return [name, value].allSatisfy { part in
            !(part.first.map(ByteScanning.isOWS) ?? false) && !(part.last.map(ByteScanning.isOWS) ?? false)
        }
    }
}
