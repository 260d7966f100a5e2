import AFTLS
import CAFOpenSSL
import Foundation
import Testing

@Suite struct EnvironmentTests {
    @Test("the configuration file that the environment names is not read, T-TLS-75")
    func configurationFile() async {
        await #expect(processExitsWith: .success) {
            let file = FileManager.default.temporaryDirectory.appending(path: "aftls-\(UUID().uuidString).cnf")
            let text = "openssl_conf = all\n[all]\noid_section = names\n[names]\naftlsCanary = 1.3.6.1.4.1.55555.7\n"
            try Data(text.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            setenv("OPENSSL_CONF", file.path, 1)

            #expect(throws: CertificateError.self) { try Certificate(der: [0x30, 0x80, 0, 0]) }
            let pin = PublicKeyPin(publicKeyBytes: [1])
            let store = try TrustStore([])

            #expect(pin.digest != [UInt8](repeating: 0, count: 32))
            #expect(store.count == 0)
            #expect(OBJ_txt2nid("aftlsCanary") == NID_undef)
            // It would have been found: loading it by name works.
            #expect(CONF_modules_load_file(file.path, nil, 0) > 0)
            #expect(OBJ_txt2nid("aftlsCanary") != NID_undef)
        }
    }
}
