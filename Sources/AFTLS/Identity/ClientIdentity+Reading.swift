extension ClientIdentity {
    /// Certificates, and a private key in PEM.
    ///
    /// - Parameters:
    ///   - certificates: The key's own certificate first, then the authorities between it
    ///     and the root that the server knows. They are sent in this order.
    ///   - privateKeyPEM: Exactly one private key: PKCS#8, PKCS#1 or SEC 1. Blocks that
    ///     are no private key are passed by.
    ///   - passphrase: Opens an encrypted key. Nil makes an encrypted key an error; for
    ///     a key that is not encrypted it is of no importance.
    public init(
        certificates: [Certificate],
        privateKeyPEM: some Collection<UInt8>,
        passphrase: String? = nil
    ) throws(ClientIdentityError) {
        let input = ClientIdentityError.Input.privateKey
        try self.init(
            certificates: certificates,
            key: try IdentityReader(input, passphrase: passphrase).key(inPEM: Array(privateKeyPEM)),
            input: input
        )
    }

    /// Certificates and their private key in one PEM, in any order as long as the key's
    /// own certificate is the first one.
    public init(pem: some Collection<UInt8>, passphrase: String? = nil) throws(ClientIdentityError) {
        let reader = IdentityReader(.pem, passphrase: passphrase)
        let bytes = Array(pem)
        guard !bytes.isEmpty else { throw reader.emptiness }
        let key = try reader.key(inPEM: bytes)
        try self.init(certificates: try reader.certificates(inPEM: bytes), key: key, input: .pem)
    }

    /// A file with the certificates, in PEM or one in DER, and one with the private key in
    /// PEM. They may be the same file.
    public init(
        certificatePath: String,
        keyPath: String,
        passphrase: String? = nil
    ) throws(ClientIdentityError) {
        let (chain, secret) = (
            IdentityReader(.certificates, passphrase: nil), IdentityReader(.privateKey, passphrase: passphrase)
        )
        let certificates = try chain.reading(certificatePath) { bytes throws(ClientIdentityError) in
            try chain.certificates(in: bytes)
        }
        let key = try secret.reading(keyPath) { bytes throws(ClientIdentityError) in
            try secret.key(inPEM: bytes)
        }
        do {
            try self.init(certificates: certificates, key: key, input: .privateKey)
        } catch {
            throw error.from(keyPath)
        }
    }

    /// A PKCS#12 file: one private key and its certificate, with any others.
    ///
    /// The certificate of the key comes first, the others follow in the order of the file. Files of the old kind,
    /// encrypted with RC2 or 3DES as key chains export them, are read too, if OpenSSL's legacy provider is installed.
    public init(pkcs12: some Collection<UInt8>, passphrase: String) throws(ClientIdentityError) {
        try self.init(pkcs12: pkcs12, passphrase: passphrase, legacyModules: nil)
    }

    /// A PKCS#12 file by its path.
    public init(pkcs12Path: String, passphrase: String) throws(ClientIdentityError) {
        self = try IdentityReader(.pkcs12, passphrase: passphrase).reading(pkcs12Path) {
            bytes throws(ClientIdentityError) in
            try ClientIdentity(pkcs12: bytes, passphrase: passphrase)
        }
    }

    /// - Parameter legacyModules: Where to look for the legacy provider; nil: where OpenSSL does.
    package init(
        pkcs12: some Collection<UInt8>,
        passphrase: String,
        legacyModules: String?
    ) throws(ClientIdentityError) {
        let reader = IdentityReader(.pkcs12, passphrase: passphrase, legacyModules: legacyModules)
        let (key, certificates) = try reader.pkcs12(Array(pkcs12))
        let own = certificates.filter { key.belongs(to: $0) }.prefix(1)
        try self.init(certificates: own + certificates.filter { !own.contains($0) }, key: key, input: .pkcs12)
    }
}
