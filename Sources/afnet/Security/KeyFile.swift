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
