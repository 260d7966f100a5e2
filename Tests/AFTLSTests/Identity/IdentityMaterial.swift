import AFTLS
import CAFOpenSSL
import Foundation

/// What the tests of identities are made from, once.
struct IdentityMaterial {
    static let shared = Result { try IdentityMaterial() }

    let authority: CertificateAuthority
    let client: IssuedCertificate
    let other: IssuedCertificate

    private init() throws {
        authority = try CertificateAuthority("Identity Root").makeIntermediate("Identity Intermediate")
        client = try authority.issueClient("alice")
        other = try authority.issueClient("bob")
    }

    /// The certificates in PEM, the client's first.
    var chainPEM: [UInt8] { Array(client.chainPEM.utf8) }
    var keyPEM: [UInt8] { Array(client.privateKeyPEM.utf8) }

    /// A folder of its own, gone afterwards.
    static func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("identity-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }
}

extension ClientIdentity {
    /// What its key signs, its certificate verifies.
    var works: Bool {
        certificates.first.map { caf_key_belongs($0.handle, key) == 1 && caf_key_works($0.handle, key) == 1 } ?? false
    }
}

/// The error of a body that must throw one of ours; nil if it did not.
func identityError(_ body: () throws -> ClientIdentity) -> ClientIdentityError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? ClientIdentityError
    }
}
