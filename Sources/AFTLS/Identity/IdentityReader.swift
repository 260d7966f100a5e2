internal import CAFOpenSSL

/// Reads one of the inputs an identity is made from, and says what is wrong with it.
struct IdentityReader {
    /// Far above any identity; a wrong path must not fill the memory.
    static let limit = 1024 * 1024

    private let input: ClientIdentityError.Input
    private let passphrase: String?
    private let legacyModules: String?

    init(_ input: ClientIdentityError.Input, passphrase: String?, legacyModules: String? = nil) {
        self.input = input
        self.passphrase = passphrase
        self.legacyModules = legacyModules
    }

    var emptiness: ClientIdentityError { error(.empty, message: "it is empty") }

    private func error(_ rule: ClientIdentityError.Rule, message: String) -> ClientIdentityError {
        ClientIdentityError(rule, input: input, message: message)
    }

    // MARK: - Files

    func reading<Result>(
        _ path: String,
        parse: ([UInt8]) throws(ClientIdentityError) -> Result
    ) throws(ClientIdentityError) -> Result {
        let bytes: [UInt8]
        do {
            bytes = try FileReader.bytes(atPath: path, limit: Self.limit)
        } catch {
            throw ClientIdentityError(.unreadable, input: input, message: error.message, path: path)
        }
        do {
            return try parse(bytes)
        } catch {
            throw error.from(path)
        }
    }

    // MARK: - Certificates

    /// PEM, or one in DER.
    func certificates(in bytes: [UInt8]) throws(ClientIdentityError) -> [Certificate] {
        guard !bytes.isEmpty else { throw emptiness }
        guard bytes[0] == 0x30 else { return try certificates(inPEM: bytes) }
        do {
            return try Certificate.certificates(in: bytes)
        } catch {
            throw self.error(.brokenCertificate, message: error.message)
        }
    }

    /// All of them in the text's order; keys are passed by.
    func certificates(inPEM bytes: [UInt8]) throws(ClientIdentityError) -> [Certificate] {
        var found: [Certificate] = []
        for block in PEMBlock.split(bytes) where !block.isPrivateKey && !block.isParameters {
            do {
                found.append(try Certificate(der: try block.certificateBytes()))
            } catch {
                let place = error.block == nil ? "block \(block.index + 1) of the PEM: " : ""
                throw self.error(.brokenCertificate, message: place + error.message)
            }
        }
        guard !found.isEmpty else {
            throw error(
                .noCertificate,
                message: "no line begins with -----BEGIN CERTIFICATE-----; add the key's certificate"
            )
        }
        return found
    }

    // MARK: - Keys

    /// The one private key of a PEM.
    func key(inPEM bytes: [UInt8]) throws(ClientIdentityError) -> PrivateKey {
        guard !bytes.isEmpty else { throw emptiness }
        let blocks = PEMBlock.split(bytes).filter(\.isPrivateKey)
        guard let block = blocks.first else {
            throw error(
                .noKey,
                message: "no line begins with -----BEGIN PRIVATE KEY----- or the like; add the key, in PEM"
            )
        }
        guard blocks.count == 1 else {
            throw error(
                .severalKeys,
                message: "there are \(blocks.count) private keys; leave only the certificate's own"
            )
        }
        guard block.isOnLine else {
            throw error(.malformed, message: "-----BEGIN of the private key does not stand at the beginning of a line")
        }
        var made: OpaquePointer?
        let status = withPassphrase { passphrase in
            block.bytes.withUnsafeBufferPointer {
                caf_read_private_key($0.baseAddress, $0.count, passphrase, legacyModules, &made)
            }
        }
        guard status == CAF_IDENTITY_READ, let made else { throw refusal(status) }
        return PrivateKey(owning: made)
    }

    /// The one private key of a PKCS#12 file, and its certificates.
    func pkcs12(_ bytes: [UInt8]) throws(ClientIdentityError) -> (PrivateKey, [Certificate]) {
        guard !bytes.isEmpty else { throw emptiness }
        guard bytes.count <= Self.limit else { throw error(.malformed, message: "it is larger than 1 MiB") }
        var made: OpaquePointer?
        var stack: OpaquePointer?
        let status = withPassphrase { passphrase in
            caf_read_pkcs12(bytes, bytes.count, passphrase, legacyModules, &made, &stack)
        }
        guard status == CAF_IDENTITY_READ, let made, let stack else { throw refusal(status) }
        defer { caf_x509_free_all(stack) }
        let certificates = (0..<caf_x509_count(stack)).compactMap { index in
            caf_x509_at(stack, index).flatMap { Certificate(sharing: $0) }
        }
        return (PrivateKey(owning: made), certificates)
    }

    // OpenSSL gets the bytes where they are: a copy would have to be wiped.
    private func withPassphrase(_ use: (UnsafePointer<caf_passphrase>) -> caf_identity_status) -> caf_identity_status {
        var text = passphrase ?? ""
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                var given = caf_passphrase(
                    text: characters.baseAddress,
                    count: characters.count,
                    is_given: passphrase == nil ? 0 : 1
                )
                return use(&given)
            }
        }
    }

    // MARK: - Refusals

    private func refusal(_ status: caf_identity_status) -> ClientIdentityError {
        switch status {
        case CAF_IDENTITY_PASSPHRASE_REQUIRED:
            error(
                .passphraseRequired,
                message: "it is encrypted and no passphrase was given; give one, it is never asked for"
            )
        case CAF_IDENTITY_WRONG_PASSPHRASE:
            error(
                .wrongPassphrase,
                message: "the passphrase does not open it; check it, or whether the file is damaged"
            )
        case CAF_IDENTITY_UNPROTECTED:
            error(
                .unprotected,
                message: "nothing in it tells whether it was changed (no MAC); export it again with a passphrase"
            )
        case CAF_IDENTITY_UNSUPPORTED:
            error(
                .unsupportedEncryption,
                message: "this OpenSSL cannot decrypt it; export it again, with AES-256 and SHA-256"
            )
        case CAF_IDENTITY_NO_LEGACY:
            error(
                .legacyProviderMissing,
                message:
                    "it is encrypted in an old way (RC2, RC4 or DES) and OpenSSL's legacy provider cannot be loaded; "
                    + "install the package that has legacy.so, or export it again, with AES-256"
            )
        case CAF_IDENTITY_EXCESSIVE:
            error(
                .excessiveWork,
                message: "it asks for more than 10 million rounds of key derivation; export it with fewer"
            )
        case CAF_IDENTITY_NO_KEY:
            error(.noKey, message: "there is no private key in it; export the certificate together with its key")
        case CAF_IDENTITY_SEVERAL_KEYS:
            error(.severalKeys, message: "there is more than one private key in it; export one identity alone")
        case CAF_IDENTITY_UNUSABLE_KEY:
            error(
                .unusableKey,
                message: "its private key is damaged or of a kind that is not supported; give PKCS#8 in PEM"
            )
        default:
            error(.malformed, message: "it is cut short, damaged, or not what it is said to be; export it again")
        }
    }
}
