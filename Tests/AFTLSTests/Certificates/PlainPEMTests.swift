import CAFOpenSSL
import Foundation
import Testing

@testable import AFTLS

/// The quick way to a certificate in PEM. What it leaves to OpenSSL costs time; what it took for a certificate and is
/// none would be trusted.
@Suite struct PlainPEMTests {
    private static let (begin, end) = ("-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----")
    private static let line = String(repeating: "QUJD", count: 16) + "\n"

    /// What is made of a text, of which only so many bytes are there to be read.
    private func plain(_ text: String, _ count: Int? = nil) -> [UInt8] {
        var der = [UInt8](repeating: 0, count: text.utf8.count)
        let size = caf_pem_plain(Array(text.utf8), count ?? text.utf8.count, &der)
        return size <= der.count ? Array(der.prefix(size)) : [UInt8](repeating: 0xEE, count: 999)
    }

    @Test func `what everyone writes is read, of any length, and no part of it`() {
        for size in 1...150 {
            let der = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ size) }
            let digits = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            let text = "\(Self.begin)\(digits)\n\(Self.end)"
            #expect(plain(text) == der && plain(text + "\n") == der && plain(text + "\njunk") == der)
            #expect(plain(text + "x", text.utf8.count) == der && plain(text + "\n", text.utf8.count) == der)
            for count in 0..<text.utf8.count where size % 48 < 2 { #expect(plain(text + "\n", count) == []) }
        }
    }

    @Test(
        "any other text is left to OpenSSL",
        arguments: [
            "", "\n", "QUJD", "QUJ\n", "QUJDQ\n", "\nQUJD\n", "\(line)\n", "QUJD\nQUJD\n", "\(line)QUJD\nQUJD\n",
            "\(line.dropLast())QUJD\nQUJD\n", "\(line.dropLast(5))QUJD\n\(line.dropLast(5))\n\(line)",
            "\(line.dropLast(3))==\nQUJD\n", "\(line.dropLast(2))=\nQUJD\n", "QUJDQ===\n", "Q===\n", "QU=D\n", "====\n",
            "QU==QUJD\n", "Q!JD\n", " QUJD\n", "QUJD \n", "QUJD\r\n", "QUJD\n\n", "QUJD\n-", "QUJD\n----",
            "\(line)QUJD",
        ]
    )
    func refused(body: String) {
        #expect(plain("\(Self.begin)\(body)\(Self.end)\n") == [])
    }

    @Test func `first and last line are exactly those of a certificate`() {
        for (first, last) in [
            ("-----BEGIN CERTIFICATE-----", Self.end), ("-----BEGIN CERTIFICATF-----\n", Self.end),
            (" " + Self.begin, Self.end), ("-----BEGIN X509 CERTIFICATE-----\n", "-----END X509 CERTIFICATE-----"),
            (Self.begin, "-----END CERTIFICATE----x"), (Self.begin, Self.end + "-"), (Self.begin, Self.end + "\r\n"),
            (Self.begin, "----END CERTIFICATE-----"), (Self.begin, "-"), (Self.begin, ""),
        ] {
            #expect(plain("\(first)QUJD\n\(last)") == [], "\(first) \(last)")
        }
        #expect(plain("\(Self.begin)QUJD\n\(Self.end)") == Array("ABC".utf8))
    }

    @Test func `a certificate that is sealed is none`() throws {
        let header = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"
        let site = try CertificateAuthority().issue(for: "good.test").pem
        let sealed = site.replacingOccurrences(of: Self.begin, with: Self.begin + header)
        let error = #expect(throws: CertificateError.self) { try Certificate.certificates(pem: sealed.utf8) }
        #expect(error?.rule == .otherBlock)
    }
}
