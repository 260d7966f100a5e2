import AFBase

/// What `Strict-Transport-Security` says (RFC 6797 §6.1).
package struct TransportSecurity: Hashable, Sendable {
    /// Seconds, at most 2^31.
    package let maxAge: Int64
    package let includesSubdomains: Bool

    /// Nil if the field breaks a rule: it is then to be treated as if it were not there.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        var scanner = FieldScanner(bytes)
        var maxAge: Int64?
        var includesSubdomains = false
        var names: Set<String> = []
        while true {
            scanner.skipBlanks()
            if scanner.isAtEnd { break }
            if scanner.take(UInt8(ascii: ";")) { continue }
            guard let name = scanner.loweredToken(), names.insert(name).inserted else { return nil }
            scanner.skipBlanks()
            var value: [UInt8]?
            if scanner.take(UInt8(ascii: "=")) {
                scanner.skipBlanks()
                value = scanner.word()
                guard value != nil else { return nil }
                scanner.skipBlanks()
            }
            guard scanner.isAtEnd || scanner.next == UInt8(ascii: ";") else { return nil }
            switch name {
            case "max-age":
                guard let value, let age = Self.seconds(value) else { return nil }
                maxAge = age
            case "includesubdomains":
                guard value == nil else { return nil }
                includesSubdomains = true
            default: break
            }
        }
        guard let maxAge else { return nil }
        self.maxAge = maxAge
        self.includesSubdomains = includesSubdomains
    }

    private static func seconds(_ digits: [UInt8]) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy({ ASCII.isDigit($0) }) else { return nil }
        return min(digits.withUnsafeBytes { ByteScanning.decimal($0) } ?? .max, 1 << 31)
    }
}
