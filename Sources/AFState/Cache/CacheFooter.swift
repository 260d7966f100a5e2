import AFLoop

/// What stands at the end of a sealed segment, so that its records need not be read to know them.
enum CacheFooter {
    private static let magic: UInt64 = 0x3352_4f4f_4643_4641
    private static let entryLength = 16
    static let trailerLength = 32
    /// As much is read at first.
    private static let firstRead = 1 << 14

    static func length(of count: Int) -> Int { count * entryLength + trailerLength }

    static func encode(_ records: [CacheRecord], at offset: Int, key: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length(of: records.count))
        for record in records {
            bytes.add(record.tag)
            bytes.add(UInt32(record.offset / CachePlace.unit))
            bytes.add(UInt32(record.length / CachePlace.unit))
        }
        for word in [magic, UInt64(offset), UInt64(records.count)] { bytes.add(word) }
        bytes.add(bytes.withUnsafeBytes { check($0, key: key) })
        return bytes
    }

    private static func check(_ bytes: UnsafeRawBufferPointer, key: UInt64) -> UInt64 {
        var check = CacheCheck(key: key)
        for offset in stride(from: 0, to: bytes.count, by: 8) { check.add(bytes.number(at: offset, UInt64.self)) }
        return check.value
    }

    /// Reads the footer of a file of this size.
    ///
    /// - Parameter body: Gets the tag, the offset and the length of each record.
    /// - Returns: Where the footer begins; nil if there is none.
    static func read(
        _ file: DiskFile,
        size: Int,
        key: UInt64,
        body: (UInt64, Int, Int) -> Void
    ) throws(SystemCallError) -> Int? {
        guard size >= trailerLength, size % CachePlace.unit == 0 else { return nil }
        var bytes = try file.bytes(at: Int64(max(size - firstRead, 0)), count: min(size, firstRead))
        guard bytes.count == min(size, firstRead), let start = bytes.withUnsafeBytes({ start($0, size: size) }) else {
            return nil
        }
        if size - start > bytes.count {
            bytes = try file.bytes(at: Int64(start), count: size - start)
            guard bytes.count == size - start else { return nil }
        }
        let isValid = bytes.withUnsafeBytes { all in
            let footer = UnsafeRawBufferPointer(rebasing: all.suffix(size - start))
            let checked = UnsafeRawBufferPointer(rebasing: footer.dropLast(8))
            guard check(checked, key: key) == footer.number(at: checked.count, UInt64.self) else { return false }
            for offset in stride(from: 0, to: footer.count - trailerLength, by: entryLength) {
                body(
                    footer.number(at: offset, UInt64.self),
                    Int(footer.number(at: offset + 8, UInt32.self)) * CachePlace.unit,
                    Int(footer.number(at: offset + 12, UInt32.self)) * CachePlace.unit
                )
            }
            return true
        }
        return isValid ? start : nil
    }

    /// Where the footer begins whose trailer is at the end of these bytes.
    private static func start(_ bytes: UnsafeRawBufferPointer, size: Int) -> Int? {
        let trailer = bytes.count - trailerLength
        guard bytes.number(at: trailer, UInt64.self) == magic,
            let start = Int(exactly: bytes.number(at: trailer + 8, UInt64.self)),
            let count = Int(exactly: bytes.number(at: trailer + 16, UInt64.self)),
            start >= 0, start <= size, count <= size / entryLength, start + length(of: count) == size
        else { return nil }
        return start
    }
}
