/// The fields of a message, in order, in the bytes they had on the wire.
///
/// All of them live in one heap block of lines, `Name: value` and CR LF, so taking
/// over a received head is one copy. Strings are made when the caller asks for one. Names
/// match without regard to the case of ASCII letters, and of no other character.
///
/// To find a name looks at the lines from the first one on, and to change one moves the bytes behind it: messages have
/// a few dozen fields, and the reader of heads has a limit.
package struct HTTPHeaders: Sendable {
    /// The field lines. A received block may have any optional white space around
    /// its values; every line ends with CR LF.
    ///
    /// Bytes before `fieldsStart` are the start line the block was received with.
    private(set) var storage: [UInt8]
    private var fieldsStart: UInt32

    private var fieldCount: UInt32

    /// How many fields there are.
    package var count: Int { Int(fieldCount) }

    /// No fields.
    package init() {
        storage = []
        fieldsStart = 0
        fieldCount = 0
    }

    /// Takes over a block the head parser has validated.
    init(validated storage: [UInt8], fieldsStart: Int, count: Int) {
        self.storage = storage
        self.fieldsStart = UInt32(fieldsStart)
        fieldCount = UInt32(count)
    }

    package var isEmpty: Bool { fieldCount == 0 }

    /// How long the block of lines is.
    package var byteCount: Int { storage.count - Int(fieldsStart) }

    /// The block of lines, as sent or as received, without the empty line after it.
    @inline(__always)
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[Int(fieldsStart)...])) }
    }

    /// Calls `body` with each field, values without surrounding white space.
    package func forEach(
        _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        try withBytes { bytes in
            var lines = FieldLines(bytes)
            while let line = lines.next() { try body(line.name, line.value) }
        }
    }

    // MARK: - Changing

    /// Adds a field after the others. The caller has validated both parts.
    package mutating func append(_ name: String, value: String) {
        var value = value
        value.withUTF8 { append(name, bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Adds a field whose value is not necessarily UTF-8, such as an entity tag to be
    /// sent back as it came. The caller has validated both parts.
    package mutating func append(_ name: String, bytes value: UnsafeRawBufferPointer) {
        name.withUTF8Bytes { append($0, value: value) }
    }

    /// The same for a value in an array of its own.
    package mutating func append(_ name: String, value: [UInt8]) {
        value.withUnsafeBytes { append(name, bytes: $0) }
    }

    package mutating func append(_ name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        reserve(name.count + value.count + 4)
        storage.append(contentsOf: name)
        storage.append(0x3A)
        storage.append(0x20)
        storage.append(contentsOf: value)
        storage.append(0x0D)
        storage.append(0x0A)
        fieldCount += 1
    }

    /// Adds all fields of another block after the others.
    package mutating func append(contentsOf other: HTTPHeaders) {
        if storage.isEmpty {
            self = other
        } else {
            other.withBytes { storage.append(contentsOf: $0) }
            fieldCount += other.fieldCount
        }
    }

    /// Makes room for so many bytes of lines.
    package mutating func reserve(_ byteCount: Int) {
        storage.reserveCapacity(storage.count + byteCount)
    }

    /// Adds fields after the others, which lose those of the same names.
    package mutating func replace(with fields: HTTPHeaders) {
        fields.forEach { name, _ in remove(HTTPHeaders.text(name)) }
        // Grow once, and by no more than they take.
        reserve(fields.byteCount)
        append(contentsOf: fields)
    }

    /// Adds those of the fields whose names are not there.
    package mutating func add(lacking fields: HTTPHeaders) {
        fields.forEach { name, value in if !contains(HTTPHeaders.text(name)) { append(name, value: value) } }
    }

    /// Gives the field `name` one value, where it first stood, or at the end if it
    /// was not there. The caller has validated both parts.
    package mutating func set(_ name: String, value: String) {
        guard contains(name) else { return append(name, value: value) }
        rebuild(without: name) { isFirst, fields in
            if isFirst { fields.append(name, value: value) }
        }
    }

    /// Removes every field called `name`.
    package mutating func remove(_ name: String) {
        guard contains(name) else { return }
        rebuild(without: name) { _, _ in }
    }

    /// Removes every field whose name is unwanted.
    package mutating func removeAll(where isUnwanted: (_ name: UnsafeRawBufferPointer) -> Bool) {
        var kept = HTTPHeaders()
        kept.storage.reserveCapacity(storage.count)
        withBytes { bytes in
            var lines = FieldLines(bytes)
            while let line = lines.next() {
                if !isUnwanted(line.name) { kept.appendLine(line) }
            }
        }
        if kept.fieldCount != fieldCount { self = kept }
    }

    /// Copies all fields but those called `name`; `replace` is called in the place of each of these.
    private mutating func rebuild(without name: String, replace: (_ isFirst: Bool, inout HTTPHeaders) -> Void) {
        var result = HTTPHeaders()
        result.storage.reserveCapacity(storage.count)
        var isFirst = true
        withName(name) { wanted, bytes in
            var lines = FieldLines(bytes)
            while let line = lines.next() {
                if ByteScanning.equalsIgnoringCase(line.name, other: wanted) {
                    replace(isFirst, &result)
                    isFirst = false
                } else {
                    result.appendLine(line)
                }
            }
        }
        self = result
    }

    mutating func appendLine(_ line: FieldLines.Line) {
        storage.append(contentsOf: line.whole)
        fieldCount += 1
    }

    /// Gives `body` the UTF-8 of `name` and the block of lines.
    func withName<R>(
        _ name: String,
        body: (_ name: UnsafeRawBufferPointer, _ lines: UnsafeRawBufferPointer) -> R
    ) -> R {
        var name = name
        return name.withUTF8 { wanted in
            withBytes { body(UnsafeRawBufferPointer(wanted), $0) }
        }
    }
}
