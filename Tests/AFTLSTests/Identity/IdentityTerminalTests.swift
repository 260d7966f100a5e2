import AFNetworkingTesting
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

/// A terminal of which this process becomes the foreground: code that opens `/dev/tty` gets it.
private struct ControllingTerminal {
    private let master: Int32

    init?() {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // TIOCSPTLCK, TIOCGPTN and TIOCSCTTY: macros that Swift does not import.
        var lock: Int32 = 0
        var number: Int32 = 0
        guard master >= 0, ioctl(master, 0x4004_5431, &lock) == 0, ioctl(master, 0x8004_5430, &number) == 0
        else { return nil }
        let device = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        _ = setsid()
        guard device >= 0, ioctl(device, 0x540E, 0) == 0 else { return nil }
        let again = open("/dev/tty", O_RDWR | O_NOCTTY)
        guard again >= 0 else { return nil }
        close(again)
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        dup2(device, 0)
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Whether this appears on it: what is written or echoed gets here by way of a thread of the kernel's.
    func shows(_ text: String) -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        var shown = ""
        repeat {
            shown += unread
            if shown.contains(text) { return true }
            usleep(1_000)
        } while ContinuousClock.now < end
        return false
    }

    /// Whether nothing has appeared on it since the last time, nor does within a moment.
    var isStill: Bool {
        usleep(100_000)
        return unread.isEmpty
    }

    private var unread: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var text: [UInt8] = []
        while case let count = read(master, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
        return String(decoding: text, as: UTF8.self)
    }
}
