import AFTLS
import CAFOpenSSL

/// A PKCS#12 file put together by hand: what no program would write.
struct PKCS12Draft {
    static let data = element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01])
    static let encryptedData = element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x06])
    private static let bagPrefix: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01]

    /// The list of contents: DER of ContentInfo values, one after the other.
    var contents: [[UInt8]]

    /// Contents that are not encrypted, with these bags.
    static func plain(_ bags: [UInt8]...) -> [UInt8] {
        sequence(data, element(0xA0, element(0x04, sequence(Array(bags.joined())))))
    }

    /// A bag of the kind with this number (1 key, 2 sealed key, 3 certificate, 6 more bags).
    static func bag(_ number: UInt8, _ value: [UInt8]?) -> [UInt8] {
        sequence(element(0x06, bagPrefix + [number]), value.map { element(0xA0, $0) } ?? [])
    }

    static func certificateBag(_ certificate: Certificate) -> [UInt8] {
        let type = element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x16, 0x01])
        return bag(3, sequence(type, element(0xA0, element(0x04, certificate.derBytes))))
    }

    /// The file without a MAC.
    var unprotected: [UInt8] {
        let content = Self.sequence(Array(contents.joined()))
        return Self.file(of: content)
    }

    /// The file with a MAC that is wrong, and said to take this many rounds to verify.
    func claiming(rounds: [UInt8]) -> [UInt8] {
        let sha256 = Self.element(0x06, [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01])
        let digest = Self.sequence(Self.sequence(sha256), Self.element(0x04, [UInt8](repeating: 0, count: 32)))
        let salt = Self.element(0x04, [UInt8](repeating: 0, count: 8))
        let content = Self.element(0x04, Self.sequence(Array(contents.joined())))
        let mac = Self.sequence(digest, salt, Self.element(0x02, rounds))
        return Self.sequence([0x02, 0x01, 0x03], Self.sequence(Self.data, Self.element(0xA0, content)), mac)
    }

    /// The file with a correct MAC.
    func sealed(_ passphrase: String, rounds: Int32 = 1) -> [UInt8]? {
        Self.sealed(Self.sequence(Array(contents.joined())), passphrase, rounds: rounds)
    }

    static func sealed(_ content: [UInt8], _ passphrase: String, rounds: Int32 = 1) -> [UInt8]? {
        let bytes = file(of: content)
        return bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            guard let made = d2i_PKCS12(nil, &start, buffer.count) else { return nil }
            defer { PKCS12_free(made) }
            let count = Int32(passphrase.utf8.count)
            guard PKCS12_set_mac(made, passphrase, count, nil, 8, rounds, EVP_sha256()) == 1 else { return nil }
            var encoded: UnsafeMutablePointer<UInt8>?
            let size = i2d_PKCS12(made, &encoded)
            guard size > 0, let encoded else { return nil }
            defer { caf_free(encoded) }
            return Array(UnsafeBufferPointer(start: encoded, count: Int(size)))
        }
    }

    /// The bytes under the MAC of a file.
    static func content(of file: [UInt8]) -> [UInt8]? {
        // PFX, version, ContentInfo, type, [0], OCTET STRING.
        guard let whole = inside(file[...]), let rest = after(whole), let info = inside(rest),
            let explicit = after(info), let octets = inside(explicit), let content = inside(octets)
        else { return nil }
        return Array(content)
    }

    private static func file(of content: [UInt8]) -> [UInt8] {
        sequence([0x02, 0x01, 0x03], sequence(data, element(0xA0, element(0x04, content))))
    }

    // MARK: - DER

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = content.count
        repeat {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        } while rest > 0
        if content.count >= 0x80 { length.insert(0x80 | UInt8(length.count), at: 0) }
        return [tag] + length + content
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, Array(parts.joined())) }

    private static func header(_ bytes: ArraySlice<UInt8>) -> (start: Int, end: Int)? {
        guard bytes.count >= 2 else { return nil }
        let first = bytes[bytes.startIndex + 1]
        guard first >= 0x80 else { return (bytes.startIndex + 2, bytes.startIndex + 2 + Int(first)) }
        let digits = bytes.dropFirst(2).prefix(Int(first & 0x7F))
        return (digits.endIndex, digits.endIndex + digits.reduce(0) { $0 << 8 | Int($1) })
    }

    private static func inside(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        header(bytes).flatMap { $0.end <= bytes.endIndex ? bytes[$0.start..<$0.end] : nil }
    }

    private static func after(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        header(bytes).flatMap { $0.end <= bytes.endIndex ? bytes[$0.end...] : nil }
    }
}
