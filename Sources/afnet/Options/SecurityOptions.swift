package import AFURLSession

/// The options about TLS: trust, pins and the client certificate. Their files are not read yet.
package struct SecurityOptions: Sendable, Equatable {
    /// The file with the only authorities to trust.
    package var authorities: String?
    /// The folder with the only authorities to trust.
    package var authoritiesFolder: String?
    package var resumesSessions = true
    /// The file with the client certificate, and with the key unless `privateKey` names a file.
    package var certificate: String?
    package var privateKey: String?
    /// The file whose first line is the passphrase of the key.
    package var passphraseFile: String?
    package var passphrase: String?
    /// Nil to tell by the name of the file.
    package var certificateType: CertificateType?
    /// The suites of TLS 1.2, in OpenSSL's notation; nil for the usual ones.
    package var ciphers: String?
    package var isInsecure = false
    package var pins: [PinOption] = []
    /// Files with pinned certificates.
    package var pinnedCertificates: [String] = []
    /// The file with the pins of hosts.
    package var policy: String?
    package var minimumVersion = TLSVersion.v1_2
    package var maximumVersion = TLSVersion.v1_3

    /// The values of `--cert-type`.
    package enum CertificateType: String, CaseIterable, Sendable {
        case pem = "PEM"
        case pkcs12 = "P12"
    }

    /// The values of `--tls-max`.
    enum NewestVersion: String, CaseIterable, Sendable {
        case v1_2 = "1.2"
        case v1_3 = "1.3"
        case `default`

        var version: TLSVersion { self == .v1_2 ? .v1_2 : .v1_3 }
    }

    func check() throws(ArgumentError) {
        try checkPolicy()
        if certificate == nil {
            if privateKey != nil { throw .usage("--key needs --cert") }
            if passphraseFile != nil { throw .usage("--cert-pass-file needs --cert") }
        }
        if authorities != nil, authoritiesFolder != nil { throw .usage("--cacert and --capath exclude each other") }
        if passphraseFile != nil, passphrase != nil { throw .usage("--pass and --cert-pass-file exclude each other") }
        if isPKCS12, privateKey != nil {
            throw .usage("a PKCS#12 file has its key in it; leave out --key")
        }
    }

    private func checkPolicy() throws(ArgumentError) {
        if policy != nil, isInsecure { throw .usage("--policy and --insecure exclude each other") }
        if policy != nil, hasPins { throw .usage("--policy and --pin exclude each other: put the pin into the file") }
        if maximumVersion < minimumVersion { throw .usage("--tlsv1.3 and --tls-max 1.2 exclude each other") }
    }

    /// `FILE`, or `FILE:PASSPHRASE`.
    mutating func setCertificate(_ text: String) {
        let parts = FileWithPassphrase(text)
        certificate = parts.path
        if let passphrase = parts.passphrase { self.passphrase = passphrase }
    }

    /// Whether the certificate's file is PKCS#12: by its type, or by its name.
    var isPKCS12: Bool {
        if let certificateType { return certificateType == .pkcs12 }
        let name = certificate?.lowercased() ?? ""
        return name.hasSuffix(".p12") || name.hasSuffix(".pfx")
    }

    var hasPins: Bool { !pins.isEmpty || !pinnedCertificates.isEmpty }
}
