import AFTLS
import Foundation
import Testing

@Suite struct CertificateFieldsTests {
    private let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority("The Root")
    }

    @Test("a certificate tells what stands in it")
    func fields() throws {
        let site = try authority.issue(for: "good.test", "192.0.2.1", "2001:db8::1") {
            $0.subject = [.country("DE"), .organization("Äpfel, GmbH"), .commonName("good.test")]
            $0.alternativeNames += [.email("a@good.test"), .uri("https://good.test"), .ip([1, 2])]
            $0.serialNumber = [0x01, 0xAB]
            $0.notBefore = Date(seconds: 1_700_000_000)
            $0.notAfter = Date(seconds: 2_600_000_000)
        }
        let certificate = site.certificate

        #expect(certificate.subject == "CN=good.test,O=Äpfel\\, GmbH,C=DE")
        #expect(certificate.issuer == "CN=The Root")
        #expect(certificate.summary == "good.test")
        #expect(certificate.serialNumber == "01ab")
        #expect(certificate.dnsNames == ["good.test"])
        #expect(certificate.ipAddresses == ["192.0.2.1", "2001:db8::1"])
        #expect(certificate.emailAddresses == ["a@good.test"])
        #expect(certificate.notBeforeSeconds == 1_700_000_000)
        #expect(certificate.notAfterSeconds == 2_600_000_000)
        #expect(certificate.publicKeyBytes == site.key.publicKeyBytes)
        #expect(certificate.fingerprint.count == 32)
        #expect(!certificate.isSelfIssued && !certificate.mayIssue)
        #expect(authority.certificate.isSelfIssued && authority.certificate.mayIssue)
        #expect(certificate.description.hasPrefix("certificate \"CN=good.test,"))
    }

    @Test("the summary falls back to organisation, DNS name and subject")
    func summary() throws {
        let organisation = try authority.issue(for: "a.test") { $0.subject = [.organization("Org"), .country("DE")] }
        let nameless = try authority.issue(for: "a.test") { $0.subject = [] }
        let several = try authority.issue(for: "a.test") { $0.subject = [.commonName("Outer"), .commonName("Inner")] }

        #expect(organisation.certificate.summary == "Org")
        #expect(nameless.certificate.summary == "a.test")
        #expect(nameless.certificate.subject == "")
        #expect(several.certificate.summary == "Inner")
    }

    @Test("equal are those with the same bytes, and a set finds them")
    func equality() throws {
        let site = try authority.issue(for: "good.test")
        let again = try Certificate(der: site.certificate.derBytes)
        var resigned = site.certificate.derBytes
        resigned[resigned.count - 1] ^= 1
        let forged = try Certificate(der: resigned)

        #expect(again == site.certificate)
        #expect(again.hashValue == site.certificate.hashValue)
        #expect(forged != site.certificate)
        #expect(Set([site.certificate, again, forged]).count == 2)
    }

    @Test("text from a certificate is escaped and bounded in every message, T-TLS-46, T-TLS-55, T-MSG-57")
    func hostileText() throws {
        let hostile = "a\0b\n\u{1B}[31m,CN=good.test\u{202E}"
        let long = String(repeating: "é", count: 5_000)
        let site = try authority.issue(for: "good.test") {
            $0.subject = [
                .commonName(hostile), .organization(long), .init("2.5.4.3", bytes: [0xFF, 0xFE], tag: 0x14),
                .init("2.5.4.11", bytes: [0x20, 0x2E, 0x00, 0x07], tag: 0x1E),
                .init("1.2.3.4.5", bytes: [1, 2], tag: 0x1E),
            ]
            $0.alternativeNames += [.dns(hostile), .email(long), .dns(long)]
        }
        let certificate = site.certificate
        let texts =
            [certificate.subject, certificate.summary, certificate.description, certificate.issuer]
            + certificate.dnsNames + certificate.emailAddresses

        for text in texts {
            #expect(text.utf8.count < 1_000)
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
        }
        let failure = try judge(site.chain, for: "other.test", anchors: [authority]).failure
        let message = try #require(failure?.message)
        #expect(!message.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
        #expect(message.utf8.count < 1_500)
    }

    @Test("serial numbers of any sign and size are shown, T-TLS-55")
    func serialNumbers() throws {
        for (bytes, text) in [([0xFF], "-01"), ([0], "00"), ([0x00, 0x80], "80")] as [([UInt8], String)] {
            #expect(try authority.issue(for: "a.test") { $0.serialNumber = bytes }.certificate.serialNumber == text)
        }
        let long = try authority.issue(for: "a.test") { $0.serialNumber = [1] + [UInt8](repeating: 7, count: 2_000) }
        #expect(long.certificate.serialNumber.utf8.count == 4_002)
    }
}
