import AFBase
internal import CAFOpenSSL

extension Certificate {
    /// The certificate that these bytes are, in DER; all of them.
    public init(der: some Collection<UInt8>) throws(CertificateError) {
        let bytes = Array(der)
        guard !bytes.isEmpty else {
            throw CertificateError(.empty, message: "there are no bytes where a certificate should be")
        }
        var trailing: Int32 = 0
        guard let handle = caf_x509_parse(bytes, bytes.count, &trailing) else {
            throw trailing == 1
                ? CertificateError(
                    .trailingBytes,
                    message: "bytes follow the certificate; give one certificate at a time, or PEM"
                )
                : CertificateError(
                    .malformed,
                    message: "these \(bytes.count) bytes are not an X.509 certificate in DER"
                )
        }
        self.init(owning: handle)
    }

    /// The certificates of a PEM text, in its order; at least one.
    ///
    /// Text between the blocks is allowed. Every block must be a certificate that can be read: a broken one is an error
    /// and never skipped, and so is a private key, which has no business in a list of certificates.
    public static func certificates(pem: some Collection<UInt8>) throws(CertificateError) -> [Certificate] {
        var found: [Certificate] = []
        for block in PEMBlock.split(Array(pem)) {
            let der = try block.certificateBytes()
            do {
                found.append(try Certificate(der: der))
            } catch {
                throw CertificateError(
                    error.rule,
                    message: "block \(block.index + 1) of the PEM: \(error.message)",
                    block: block.index
                )
            }
        }
        guard !found.isEmpty else {
            throw CertificateError(.noCertificate, message: "no line begins with -----BEGIN CERTIFICATE-----")
        }
        return found
    }

    /// The certificates of these bytes, PEM or one in DER.
    public static func certificates(in bytes: some Collection<UInt8>) throws(CertificateError) -> [Certificate] {
        let bytes = Array(bytes)
        guard !bytes.isEmpty else { throw CertificateError(.empty, message: "it is empty") }
        // A certificate in DER is a SEQUENCE longer than 127 bytes. No text begins like that.
        if bytes[0] == 0x30, bytes.count > 1, bytes[1] & 0x80 != 0 { return [try Certificate(der: bytes)] }
        return try certificates(pem: bytes)
    }

    /// The certificates of a file, PEM or one in DER.
    public static func certificates(atPath path: String) throws(CertificateError) -> [Certificate] {
        do {
            return try certificates(in: try FileReader.bytes(atPath: path))
        } catch {
            throw error.from(path)
        }
    }

    /// The certificates of all files in a folder whose name ends in `.cer`, `.der`,
    /// `.pem` or `.crt`, sorted by file name. Folders in it are not looked into.
    public static func certificates(inFolder path: String) throws(CertificateError) -> [Certificate] {
        var found: [Certificate] = []
        for name in try FileReader.names(inFolder: path) where isCertificateFile(name) {
            found += try certificates(atPath: path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)")
        }
        guard !found.isEmpty else {
            throw CertificateError(
                .noCertificate,
                message: "no file in it ends in .cer, .der, .pem or .crt",
                path: path
            )
        }
        return found
    }

    private static func isCertificateFile(_ name: String) -> Bool {
        let end = name.utf8.suffix(4).map(ASCII.folded)
        return name.utf8.count > 4 && [".cer", ".der", ".pem", ".crt"].contains { end.elementsEqual($0.utf8) }
    }
}
