import AFTLS
import Foundation
import Testing

@Suite struct CertificateReadingTests {
    private let site: IssuedCertificate
    private let other: IssuedCertificate

    init() throws {
        let authority = try CertificateAuthority()
        site = try authority.issue(for: "good.test")
        other = try authority.issue(for: "other.test")
    }

    private func rule(_ read: () throws -> some Any) -> CertificateError.Rule? {
        do {
            _ = try read()
            return nil
        } catch {
            return (error as? CertificateError)?.rule
        }
    }

    @Test("bytes are one certificate, all of them and as DER demands, T-TLS-19")
    func der() throws {
        let der = site.certificate.derBytes

        #expect(try Certificate(der: der) == site.certificate)
        #expect(try Certificate(der: der).derBytes == der)
        #expect(rule { try Certificate(der: []) } == .empty)
        #expect(rule { try Certificate(der: der + [0]) } == .trailingBytes)
        #expect(rule { try Certificate(der: der + other.certificate.derBytes) } == .trailingBytes)
        #expect(rule { try Certificate(der: site.key.publicKeyBytes) } == .malformed)
        for count in [1, 2, 4, 20, der.count / 2, der.count - 1] {
            #expect(rule { try Certificate(der: der.prefix(count)) } == .malformed)
        }
        // The same certificate with an indefinite length, which is BER.
        #expect(rule { try Certificate(der: [0x30, 0x80] + der.dropFirst(4) + [0, 0]) } == .malformed)
    }

    @Test("a text may hold several, with other lines between them, T-TLS-19")
    func pem() throws {
        let text = "Issuer: x\n\(site.pem)\n# comment\n\(other.pem)the end"

        #expect(try Certificate.certificates(pem: text.utf8) == [site.certificate, other.certificate])
        #expect(try Certificate.certificates(in: Array(text.utf8)) == [site.certificate, other.certificate])
        #expect(try Certificate.certificates(in: site.certificate.derBytes) == [site.certificate])
        let crlf = site.pem.split(separator: "\n").joined(separator: "\r\n") + "\r\n"
        #expect(try Certificate.certificates(pem: crlf.utf8) == [site.certificate])
    }

    @Test("no block is passed by: what is broken is an error that says which, T-TLS-19")
    func brokenBlocks() throws {
        let (good, bad) = (site.pem, other.pem)
        let broken = [
            String(bad.dropLast(20)), bad.replacingOccurrences(of: "MII", with: "M!I"), "\u{FEFF}" + bad, " " + bad,
            "x-----BEGIN CERTIFICATE-----\n", bad.replacingOccurrences(of: "END CERT", with: "END DERT"),
        ]
        for text in broken {
            let error = #expect(throws: CertificateError.self) { try Certificate.certificates(pem: (good + text).utf8) }
            #expect(error?.rule == .brokenBlock)
            #expect(error?.block == 1)
            #expect(error?.description.contains("block 2 of the PEM") == true)
            #expect(rule { try Certificate.certificates(pem: (text + "\n" + good).utf8) } == .brokenBlock)
        }
        let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        #expect(rule { try Certificate.certificates(pem: (good + junk).utf8) } == .malformed)
        #expect(rule { try Certificate.certificates(pem: "".utf8) } == .noCertificate)
        #expect(rule { try Certificate.certificates(in: "hello".utf8) } == .noCertificate)
        #expect(rule { try Certificate.certificates(in: []) } == .empty)
    }

    @Test("private keys and other blocks are refused, and never shown, T-TLS-19")
    func otherBlocks() throws {
        let keys = [
            site.privateKeyPEM, try site.key.traditionalPEM(), try site.key.pem(passphrase: "secret"),
            "-----BEGIN RSA PRIVATE KEY-----\ntruncated",
        ]
        for key in keys {
            for text in [key, site.pem + key, key + "\n" + site.pem] {
                let error = #expect(throws: CertificateError.self) { try Certificate.certificates(pem: text.utf8) }
                #expect(error?.rule == .privateKey)
                #expect(error?.description.contains("MII") == false)
            }
        }
        let request = site.pem.replacingOccurrences(of: "CERTIFICATE", with: "PUBLIC KEY")
        #expect(rule { try Certificate.certificates(pem: (site.pem + request).utf8) } == .otherBlock)
        let trusted = site.pem.replacingOccurrences(of: "CERTIFICATE", with: "TRUSTED CERTIFICATE")
        #expect(rule { try Certificate.certificates(pem: trusted.utf8) } == .otherBlock)
        let old = site.pem.replacingOccurrences(of: "CERTIFICATE", with: "X509 CERTIFICATE")
        #expect(try Certificate.certificates(pem: old.utf8) == [site.certificate])
    }

    // MARK: - Files

    @Test("a file that gives nothing is an error with its path, T-TLS-19, T-TLS-57, T-FIL-29")
    func files() throws {
        try withFolder { folder in
            let write = { (name: String, bytes: [UInt8]) in try Data(bytes).write(to: folder.appending(path: name)) }
            try write("good.pem", Array((site.pem + other.pem).utf8))
            try write("good.der", site.certificate.derBytes)
            try write("empty.pem", [])
            try write("junk.pem", [UInt8](repeating: 0xA5, count: 5_000))
            try write("key.pem", Array(site.privateKeyPEM.utf8))
            try write("cut.der", Array(site.certificate.derBytes.dropLast()))
            #expect(mkfifo(folder.appending(path: "pipe").path, 0o600) == 0)
            let read = { (name: String) in try Certificate.certificates(atPath: "\(folder.path)/\(name)") }

            #expect(try read("good.pem") == [site.certificate, other.certificate])
            #expect(try read("good.der") == [site.certificate])
            let refused: [(String, CertificateError.Rule)] = [
                ("missing.pem", .missing), ("empty.pem", .empty), ("junk.pem", .noCertificate),
                ("key.pem", .privateKey),
                ("cut.der", .malformed), ("", .unreadable), ("pipe", .unreadable), ("good.pem/x", .unreadable),
                ("a\0b", .missing),
            ]
            for (name, rule) in refused {
                let error = #expect(throws: CertificateError.self) { try read(name) }
                #expect(error?.rule == rule, "\(name)")
                #expect(error?.path?.hasPrefix(folder.path) == true)
                #expect(error?.description.contains(folder.path) == true)
                #expect(throws: CertificateError.self) { try TrustAnchors.file("\(folder.path)/\(name)") }
            }
        }
    }

    @Test("a file that this user may not read is an error", .enabled(if: geteuid() != 0))
    func permission() throws {
        try withFolder { folder in
            let file = folder.appending(path: "secret.pem")
            try Data(site.pem.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file.path)

            #expect(rule { try Certificate.certificates(atPath: file.path) } == .unreadable)
        }
    }

    @Test("an endless file is not read to its end, T-TLS-57, T-FIL-29")
    func endless() throws {
        #expect(rule { try Certificate.certificates(atPath: "/dev/zero") } == .unreadable)
        try withFolder { folder in
            let file = folder.appending(path: "large.pem").path
            #expect(FileManager.default.createFile(atPath: file, contents: nil))
            #expect(truncate(file, 1 << 40) == 0)
            #expect(rule { try Certificate.certificates(atPath: file) } == .tooLarge)
        }
    }

    @Test("a folder gives its certificate files in the order of their names, T-TLS-19, T-TLS-57")
    func folder() throws {
        try withFolder { folder in
            let files: [(String, [UInt8])] = [
                ("b.CER", site.certificate.derBytes), ("a.pem", Array(other.pem.utf8)), ("notes.txt", [1, 2, 3]),
                (".crt", [1]), ("key.key", Array(site.privateKeyPEM.utf8)),
            ]
            for (name, bytes) in files { try Data(bytes).write(to: folder.appending(path: name)) }
            let inner = folder.appending(path: "inner")
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
            try Data(site.pem.utf8).write(to: inner.appending(path: "c.txt"))

            #expect(try Certificate.certificates(inFolder: folder.path) == [other.certificate, site.certificate])
            #expect(try Certificate.certificates(inFolder: folder.path + "/").count == 2)
            #expect(try TrustAnchors.folder(folder.path) == .certificates([site.certificate, other.certificate]))
            #expect(rule { try Certificate.certificates(inFolder: inner.path) } == .noCertificate)
            #expect(rule { try Certificate.certificates(inFolder: folder.path + "/none") } == .missing)
            #expect(rule { try Certificate.certificates(inFolder: folder.path + "/a.pem") } == .unreadable)
            try Data([1]).write(to: folder.appending(path: "z.crt"))
            let error = #expect(throws: CertificateError.self) { try Certificate.certificates(inFolder: folder.path) }
            #expect(error?.path == folder.path + "/z.crt")
        }
    }
}

/// A folder that is gone afterwards.
func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "aftls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
}
