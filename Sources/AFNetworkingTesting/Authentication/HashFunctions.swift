internal import CAFOpenSSL

/// The hash functions of Digest authentication and of WebSocket.
enum HashFunctions {
    /// In lower-case hexadecimal.
    static func hex(_ name: String, of bytes: [UInt8]) -> String { hex(self.bytes(name, of: bytes)) }

    /// Empty if OpenSSL does not know the function.
    static func bytes(_ name: String, of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard let kind = EVP_get_digestbyname(name),
            EVP_Digest(bytes, bytes.count, &digest, &count, kind, nil) == 1
        else { return [] }
        return Array(digest.prefix(Int(count)))
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
