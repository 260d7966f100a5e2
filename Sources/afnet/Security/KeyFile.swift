import AFURLSession
import Foundation
import Glibc

/// The content of a file for pins: certificates, or a public key.
enum KeyFile {
    case certificates([Certificate])
    case publicKey(PublicKeyPin)

    /// Larger files are refused.
    static let sizeLimit = 16 << 20

    init(path: String) throws(FileProblem) {
        do {
            self = try Self.read(Data(Descriptor.contents(of: path, limit: Self.sizeLimit)))
        } catch {
            throw FileProblem(error, in: path)
        }
    }

    private static func read(_ bytes: Data) throws -> KeyFile {
        let text = String(decoding: bytes, as: UTF8.self)
        if let key = try publicKey(in: text) { return .publicKey(PublicKeyPin(publicKeyBytes: key)) }
        if DERShape.isPublicKey(Array(bytes)) { return .publicKey(PublicKeyPin(publicKeyBytes: Array(bytes))) }
        return .certificates(try Certificate.certificates(in: bytes))
    }

    /// The bytes of a PEM block `PUBLIC KEY`; nil if the text has none, or has certificates.
    private static func publicKey(in text: String) throws(FileProblem) -> [UInt8]? {
        let parts = text.components(separatedBy: "-----BEGIN PUBLIC KEY-----")
        guard parts.count > 1, !text.contains("CERTIFICATE-----"), !text.contains("PRIVATE KEY-----") else {
            return nil
        }
        guard parts.count == 2 else { throw FileProblem(message: "there are several public keys in it; give one") }
        let pieces = parts[1].components(separatedBy: "-----END PUBLIC KEY-----")
        guard pieces.count == 2, let key = Data(base64Encoded: pieces[0].filter { !$0.isWhitespace }),
            DERShape.isPublicKey(Array(key))
        else { throw FileProblem(message: "the public key in it is damaged") }
        return Array(key)
    }

    /// The pin of the one key in the file. A file with several certificates is refused, because the key is ambiguous.
    func pin(of path: String) throws(FileProblem) -> PublicKeyPin {
        switch self {
        case .publicKey(let pin): return pin
        case .certificates(let certificates):
            guard let first = certificates.first, certificates.count == 1 else {
                throw FileProblem(
                    message: "\(path): there are \(certificates.count) certificates in it, so it is not clear whose "
                        + "key is meant; give a file with one, or take a pin that afnet pins \(path) shows"
                )
            }
            return first.pin
        }
    }
}

/// Why a file of keys, certificates or pins cannot be used.
struct FileProblem: Error {
    let message: String

    init(message: String) {
        self.message = message
    }

    /// Adds the path to the message of an error.
    init(_ error: any Error, in path: String) {
        let reason = (error as? FileProblem)?.message ?? (error as? SystemFailure)?.text ?? "\(error)"
        message = "\(path): \(reason)"
    }
}

/// Recognizes public keys in DER, so that afnet makes no pin of other bytes.
enum DERShape {
    /// Whether all bytes are one `SEQUENCE { SEQUENCE { OBJECT IDENTIFIER … } BIT STRING }`.
    static func isPublicKey(_ bytes: [UInt8]) -> Bool {
        guard let whole = element(0x30, in: bytes[...]), whole.rest.isEmpty,
            let algorithm = element(0x30, in: whole.content), element(0x06, in: algorithm.content) != nil,
            let key = element(0x03, in: algorithm.rest)
        else { return false }
        return key.rest.isEmpty && key.content.count > 1
    }

    private static func element(
        _ tag: UInt8,
        in bytes: ArraySlice<UInt8>
    ) -> (content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
        guard bytes.first == tag, let first = bytes.dropFirst().first else { return nil }
        var rest = bytes.dropFirst(2)
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), rest.count >= count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        guard length <= rest.count else { return nil }
        return (rest.prefix(length), rest.dropFirst(length))
    }
}
