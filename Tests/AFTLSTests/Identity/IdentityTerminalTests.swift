import AFTLS
import CAFOpenSSL
import Glibc
import Testing

@Suite struct IdentityTerminalTests {
    @Test("an encrypted key without its passphrase asks no question on the terminal, T-TLS-77")
    func terminal() async {
        await #expect(processExitsWith: .success) {
            let terminal = try #require(ControllingTerminal())
            let client = try CertificateAuthority().issueClient("alice")
            let sealed = try client.key.pem(passphrase: "typed ahead")
            let old = try client.key.traditionalPEM(passphrase: "typed ahead")
            let file = try client.pkcs12(passphrase: "typed ahead")
            terminal.type("typed ahead\n")
            #expect(terminal.shows("typed ahead\r\n"), "the terminal's own echo")

            for text in [sealed, old] {
                let error = identityError {
                    try ClientIdentity(certificates: client.chain, privateKeyPEM: text.utf8)
                }
                #expect(error?.rule == .passphraseRequired)
                let wrong = identityError {
                    try ClientIdentity(certificates: client.chain, privateKeyPEM: text.utf8, passphrase: "wrong")
                }
                #expect(wrong?.rule == .wrongPassphrase)
            }
            #expect(identityError { try ClientIdentity(pkcs12: file, passphrase: "") }?.rule == .passphraseRequired)

            #expect(terminal.isStill, "no question")
            // The same terminal does answer to who asks: OpenSSL's own question gets what was typed.
            #expect(Self.opensAsking(old))
            #expect(terminal.shows("PEM pass phrase"))
        }
    }

    /// Opens the key with the callback that OpenSSL brings along.
    private static func opensAsking(_ pem: String) -> Bool {
        let bytes = Array(pem.utf8)
        guard let bio = BIO_new_mem_buf(bytes, Int32(bytes.count)) else { return false }
        defer { BIO_free(bio) }
        let key = PEM_read_bio_PrivateKey(bio, nil, nil, nil)
        defer { EVP_PKEY_free(key) }
        return key != nil
    }
}
