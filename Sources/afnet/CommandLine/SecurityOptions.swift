/// The options about who is at the other end, and who we are. Files are not looked at yet.
package struct SecurityOptions: Sendable, Equatable {
    /// The file with the only authorities to trust.
    package var authorities: String?
    /// The file with our certificate; with the key as well if there is no file for that.
    package var certificate: String?
    package var privateKey: String?
    /// The file whose first line opens our key.
    package var passphraseFile: String?
    package var isInsecure = false
    package var pins: [PinOption] = []
    /// Files with pinned certificates.
    package var pinnedCertificates: [String] = []

    func check() throws(ArgumentError) {
        if certificate == nil {
            if privateKey != nil { throw .usage("--key needs --cert") }
            if passphraseFile != nil { throw .usage("--cert-pass-file needs --cert") }
        }
        if isPKCS12, privateKey != nil {
            throw .usage("a PKCS#12 file has its key in it; leave out --key")
        }
    }

    /// By its name, as everywhere.
    var isPKCS12: Bool {
        let name = certificate?.lowercased() ?? ""
        return name.hasSuffix(".p12") || name.hasSuffix(".pfx")
    }

    var hasPins: Bool { !pins.isEmpty || !pinnedCertificates.isEmpty }
}
