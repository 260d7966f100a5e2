import AFNetworking
import Foundation

/// The options with the contents of their files.
extension SecurityOptions {
    /// - Parameter reportsTo: Called for servers that a report-only rule of `--policy` would refuse.
    func serverRules(
        _ reportsTo: @escaping @Sendable (PinningReport) -> Void = { _ in }
    ) throws(TransferFailure) -> ServerRules {
        var keys: Set<PublicKeyPin> = []
        for pin in pins {
            switch pin {
            case .keys(let given): keys.formUnion(given)
            case .file(let path): keys.insert(try Self.key(inFile: path))
            }
        }
        var certificates: [Certificate] = []
        for path in pinnedCertificates {
            do throws(CertificateError) {
                certificates += try Certificate.certificates(atPath: path)
            } catch {
                throw TransferFailure(.badArgument, "--pinned-cert: \(error)")
            }
        }
        let policy = try policy.map { path throws(TransferFailure) in try Self.policy(inFile: path, reportsTo) }
        return ServerRules(verifies: !isInsecure, keys: keys, certificates: certificates, policy: policy)
    }

    private static func policy(
        inFile path: String,
        _ reportsTo: @escaping @Sendable (PinningReport) -> Void
    ) throws(TransferFailure) -> SecurityPolicy {
        do throws(FileProblem) {
            let policy = try PolicyFile(path: path).policy
            policy.reportHandler = reportsTo
            return policy
        } catch {
            throw TransferFailure(.badArgument, "--policy: \(error.message)")
        }
    }

    private static func key(inFile path: String) throws(TransferFailure) -> PublicKeyPin {
        do throws(FileProblem) {
            return try KeyFile(path: path).pin(of: path)
        } catch {
            throw TransferFailure(.badArgument, "--pin: \(error.message)")
        }
    }

    func anchors() throws(TransferFailure) -> TrustAnchors {
        if let authoritiesFolder {
            do throws(CertificateError) {
                return try .folder(authoritiesFolder)
            } catch {
                throw TransferFailure(.authoritiesUnusable, "--capath: \(error)")
            }
        }
        guard let authorities else {
            // Nothing is checked against authorities then, and a machine may have none.
            return isInsecure && !hasPins ? .certificates([]) : .system
        }
        do throws(CertificateError) {
            return try .file(authorities)
        } catch {
            throw TransferFailure(.authoritiesUnusable, "--cacert: \(error)")
        }
    }

    func identity() throws(TransferFailure) -> ClientIdentity? {
        guard let certificate else { return nil }
        let passphrase = if let given = passphrase { given } else { try passphraseOfFile() }
        do throws(ClientIdentityError) {
            return isPKCS12
                ? try ClientIdentity(pkcs12Path: certificate, passphrase: passphrase ?? "")
                : try ClientIdentity(
                    certificatePath: certificate,
                    keyPath: privateKey ?? certificate,
                    passphrase: passphrase
                )
        } catch {
            throw TransferFailure(.clientCertificate, "--cert: \(error)\(Self.advice(error))")
        }
    }

    private static func advice(_ error: ClientIdentityError) -> String {
        error.rule == .passphraseRequired ? " (--cert-pass-file PATH or --pass)" : ""
    }

    /// The first line of its file. All users of the machine could read a passphrase on the command line.
    private func passphraseOfFile() throws(TransferFailure) -> String? {
        guard let passphraseFile else { return nil }
        let bytes: Data
        do throws(SystemFailure) {
            bytes = try Descriptor.contents(of: passphraseFile, limit: 64 << 10)
        } catch {
            throw TransferFailure(.clientCertificate, "--cert-pass-file: \(passphraseFile): \(error.text)")
        }
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw TransferFailure(
                .clientCertificate,
                "--cert-pass-file: \(passphraseFile): its first line is not UTF-8"
            )
        }
        return text
    }
}
