internal import CAFOpenSSL

/// IP addresses as text.
enum IPText {
    /// Nil unless there are 4 or 16 bytes.
    static func text(of address: some Collection<UInt8>) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            let count = caf_ip_text(Array(address), address.count, buffer.baseAddress, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix(Int(count)), as: UTF8.self)
        }
    }

    /// 4 or 16 bytes; nil for anything but four decimal numbers or an IPv6 address without brackets and zone.
    static func bytes(of text: String) -> [UInt8]? {
        guard text.utf8.count < 64, !text.utf8.contains(0) else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { buffer in
            buffer.initialize(repeating: 0)
            let count = text.withCString { caf_ip_parse($0, buffer.baseAddress) }
            return count > 0 ? Array(buffer.prefix(Int(count))) : nil
        }
    }
}
