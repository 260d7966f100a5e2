extension HTTPHeaders {
    /// Fields from a caller's dictionary, sorted by name; nil if one of them is not allowed in a message.
    package init?(checking fields: [String: String]) {
        self.init()
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            let isAdded = name.withUTF8Bytes { name in value.withUTF8Bytes { add(name, value: $0) } }
            if !isAdded { return nil }
        }
    }

    /// Fields from a stored block of lines. Another program may have changed the block on the disk.
    package init?(checkingBlock block: [UInt8]) {
        self.init()
        for line in block.split(separator: UInt8(ascii: "\n")) {
            guard line.last == UInt8(ascii: "\r"), let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
                return nil
            }
            let isAdded = line.withUnsafeBytes { bytes in
                let split = colon - line.startIndex
                return add(
                    UnsafeRawBufferPointer(rebasing: bytes[..<split]),
                    value: UnsafeRawBufferPointer(rebasing: bytes[(split + 1)..<(bytes.count - 1)])
                )
            }
            if !isAdded { return nil }
        }
    }

    private mutating func add(_ name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
        guard ByteScanning.isToken(name), !value.contains(where: ByteScanning.isForbiddenControl) else { return false }
        append(String(decoding: name, as: UTF8.self), bytes: ByteScanning.trimmingOWS(value))
        return true
    }
}
