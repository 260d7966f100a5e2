extension HTTPHeaders {
    /// Whether there is a field called `name`.
    package func contains(_ name: String) -> Bool {
        withName(name) { name, bytes in
            var lines = FieldLines(bytes)
            return lines.nextValue(of: name) != nil
        }
    }

    /// The first value of the field `name`: read as UTF-8 if it is that, else as
    /// Latin-1, so that no value is lost or altered.
    package func first(_ name: String) -> String? {
        withName(name) { name, bytes in
            var lines = FieldLines(bytes)
            return lines.nextValue(of: name).map(Self.text)
        }
    }

    /// The media type of the first `Content-Type`, in lower case and without parameters.
    package var mediaType: String? { firstValue(of: "Content-Type", as: MediaType.essence(of:)) }

    /// The `charset` of the first `Content-Type`, in lower case.
    package var charset: String? { firstValue(of: "Content-Type") { MediaType($0)?.charset } }

    // For this module: another one cannot specialize it, and to look up the type of the result takes as long as finding
    // the field.
    /// What `parse` makes of the first value of the field `name`; nil if there is none.
    func firstValue<Result>(of name: String, as parse: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        var result: Result?
        withFirstValue(of: name) { result = parse($0) }
        return result
    }

    /// Calls `body` with the first value of the field `name`, if there is one.
    package func withFirstValue(of name: String, body: (UnsafeRawBufferPointer) -> Void) {
        withName(name) { name, bytes in
            var lines = FieldLines(bytes)
            if let value = lines.nextValue(of: name) { body(value) }
        }
    }

    /// The first `Content-Type`, if it is of the type `essence`, which is given in lower case.
    package func contentType(of essence: StaticString) -> MediaType? {
        firstValue(of: "Content-Type") { MediaType($0, of: essence) }
    }

    /// The first value of the field `name`, byte for byte.
    package func firstBytes(_ name: String) -> [UInt8]? {
        withName(name) { name, bytes in
            var lines = FieldLines(bytes)
            return lines.nextValue(of: name).map { Array($0) }
        }
    }

    /// The first field `name`, byte for byte; no field if there is none.
    package func firstField(_ name: String) -> HTTPHeaders {
        withName(name) { name, bytes in
            var found = HTTPHeaders()
            var lines = FieldLines(bytes)
            while found.isEmpty, let line = lines.next() {
                if ByteScanning.equalsIgnoringCase(line.name, other: name) { found.appendLine(line) }
            }
            return found
        }
    }

    /// All values of the field `name`, each line its own.
    package func values(_ name: String) -> [String] {
        withName(name) { name, bytes in
            var lines = FieldLines(bytes)
            var values: [String] = []
            while let value = lines.nextValue(of: name) { values.append(Self.text(value)) }
            return values
        }
    }

    /// Calls `body` with each value of the field `name`, in order, byte for byte.
    package func forEachValue(of name: String, body: (UnsafeRawBufferPointer) -> Void) {
        withName(name) { name, bytes in
            var lines = FieldLines(bytes)
            while let value = lines.nextValue(of: name) { body(value) }
        }
    }

    /// All values of the field `name`, byte for byte, each line its own.
    package func valuesInBytes(_ name: String) -> [[UInt8]] {
        var values: [[UInt8]] = []
        forEachValue(of: name) { values.append(Array($0)) }
        return values
    }

    /// All values of the field `name` as one list (RFC 9110 §5.3).
    ///
    /// Not for Set-Cookie, whose values hold commas of their own: see ``values(_:)``.
    package func joined(_ name: String) -> String? {
        let values = values(name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// All fields as text.
    package var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        fields.reserveCapacity(count)
        forEach { fields.append((Self.text($0), Self.text($1))) }
        return fields
    }

    /// A part of the start line the fields were received with.
    package func startText(_ range: Range<UInt32>) -> String {
        storage.withUnsafeBytes {
            Self.text(UnsafeRawBufferPointer(rebasing: $0[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
    }

    /// `bytes` as UTF-8 if they are that, else as Latin-1.
    static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = ""
        for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        return text
    }
}

extension HTTPHeaders: Hashable {
    /// Whether both hold the same fields, byte for byte and in the same order; white
    /// space around values does not count.
    package static func == (one: HTTPHeaders, other: HTTPHeaders) -> Bool {
        guard one.count == other.count else { return false }
        return one.withBytes { left in
            other.withBytes { right in
                var lefts = FieldLines(left)
                var rights = FieldLines(right)
                while let field = lefts.next(), let counterpart = rights.next() {
                    guard field.name.elementsEqual(counterpart.name) else { return false }
                    guard field.value.elementsEqual(counterpart.value) else { return false }
                }
                return true
            }
        }
    }

    package func hash(into hasher: inout Hasher) {
        forEach { name, value in
            hasher.combine(bytes: name)
            hasher.combine(bytes: value)
        }
    }
}
