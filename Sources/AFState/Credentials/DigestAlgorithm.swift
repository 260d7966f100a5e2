import AFBase
package import AFTLS
import AFWire

/// The value of `algorithm` in a Digest challenge (RFC 7616 §3.3).
package struct DigestAlgorithm: Hashable, Sendable {
    package let function: DigestFunction
    /// `-sess`: the key is computed once, from the first nonces of both sides, and used as long as the server accepts
    /// it.
    let isSession: Bool

    init(_ function: DigestFunction, isSession: Bool = false) {
        self.function = function
        self.isSession = isSession
    }

    /// Nil for an algorithm that is unknown here, or that OpenSSL refuses.
    init?(_ name: [UInt8]) {
        let name = String(decoding: name.map(ASCII.folded), as: UTF8.self)
        switch name {
        case "md5": self.init(.md5)
        case "md5-sess": self.init(.md5, isSession: true)
        case "sha-256": self.init(.sha256)
        case "sha-256-sess": self.init(.sha256, isSession: true)
        case "sha-512-256": self.init(.sha512_256)
        case "sha-512-256-sess": self.init(.sha512_256, isSession: true)
        default: return nil
        }
        guard function.isAvailable else { return nil }
    }

    /// The name as it is sent.
    package var name: String {
        let name =
            switch function {
            case .md5: "MD5"
            case .sha256: "SHA-256"
            case .sha512_256: "SHA-512-256"
            }
        return isSession ? name + "-sess" : name
    }

    /// The digest of all pieces with a colon between each two, in hexadecimal; nil if OpenSSL fails.
    package func digest(_ pieces: [UInt8]...) -> [UInt8]? {
        guard let digest = MessageDigest(function) else { return nil }
        for (index, piece) in pieces.enumerated() {
            if index > 0 { digest.add([UInt8(ascii: ":")]) }
            digest.add(piece)
        }
        return digest.finish().map(DigestAlgorithm.hexadecimal)
    }

    /// The digest of the key, a colon and these pieces. The key is not copied.
    package func digest(_ key: SecretBytes, pieces: [UInt8]...) -> [UInt8]? {
        guard let digest = MessageDigest(function) else { return nil }
        key.withBytes { digest.add($0) }
        for piece in pieces {
            digest.add([UInt8(ascii: ":")])
            digest.add(piece)
        }
        return digest.finish().map(DigestAlgorithm.hexadecimal)
    }

    package static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}
