import AFFaults
import AFTLS
import Foundation
import Testing

@Suite struct HostnameMatcherTests {
    private let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
    }

    private func certificate(
        _ names: [CertificateTemplate.AlternativeName],
        commonName: String? = nil
    ) throws -> Certificate {
        var template = CertificateTemplate.server(for: [])
        template.subject = commonName.map { [.commonName($0)] } ?? []
        template.alternativeNames = names
        return try authority.issue(template).certificate
    }

    private func matches(_ certificate: Certificate, _ host: String) throws -> Bool {
        HostnameMatcher.matches(certificate, try #require(PeerName(host)))
    }

    @Test("an address matches only an entry of that type with the same bytes, T-TLS-35, T-TLS-36, T-TLS-37")
    func addresses() throws {
        let both = try certificate([.ip([192, 0, 2, 1]), .ip([UInt8](repeating: 0, count: 15) + [1])])
        #expect(try matches(both, "192.0.2.1"))
        #expect(try matches(both, "[::1]"))
        #expect(try matches(both, "[0:0::1]"))
        #expect(try !matches(both, "192.0.2.2"))
        #expect(try !matches(both, "::ffff:192.0.2.1"))
        #expect(try !matches(both, "[::2]"))

        let mapped = try certificate([.ip([UInt8](repeating: 0, count: 10) + [255, 255, 192, 0, 2, 1])])
        #expect(try matches(mapped, "::ffff:192.0.2.1"))
        #expect(try !matches(mapped, "192.0.2.1"))

        let texts = try certificate(
            [.dns("192.0.2.1"), .dns("*.0.2.1"), .dns("::1"), .uri("https://192.0.2.1/"), .email("192.0.2.1")],
            commonName: "192.0.2.1"
        )
        #expect(try !matches(texts, "192.0.2.1"))
        #expect(try !matches(texts, "::1"))

        let odd = try certificate([.ip([]), .ip([192, 0, 2]), .ip([192, 0, 2, 1, 255, 255, 255, 255])])
        #expect(try !matches(odd, "192.0.2.1"))
        #expect(!HostnameMatcher.matches(odd, .ip([])))
        #expect(!HostnameMatcher.matches(odd, .ip([192, 0, 2])))
    }

    @Test("a name is found behind entries of other types")
    func mixedTypes() throws {
        let names: [CertificateTemplate.AlternativeName] = [
            .email("a@good.test"), .uri("https://good.test/"), .ip([192, 0, 2, 1]), .dns("good.test"),
        ]
        for order in [names, names.reversed()] {
            let mixed = try certificate(order)
            #expect(try matches(mixed, "good.test"))
            #expect(try matches(mixed, "192.0.2.1"))
            #expect(try !matches(mixed, "a.test"))
        }
    }

    @Test("a name that was never canonical matches no entry, not even one that is the same, T-TLS-38, T-TLS-39")
    func badReferences() throws {
        let names = ["192.0.2.1", "127.1", "0x7f.1", "good.test.", ".good.test", "a..test", "*.good.test", ""]
        let certificate = try certificate(names.map { .dns($0) } + [.dns("*.0.2.1")])

        for name in names { #expect(!HostnameMatcher.matches(certificate, .dns(name))) }
    }

    @Test("the common name never counts, T-TLS-42")
    func commonName() throws {
        let names: [[CertificateTemplate.AlternativeName]] = [
            [], [.dns("other.test")], [.ip([127, 0, 0, 1])], [.email("good.test")], [.uri("good.test")],
            [.other("1.3.6.1.4.1.55555.2", value: [0x0C, 9] + Array("good.test".utf8))],
        ]
        for list in names {
            #expect(try !matches(certificate(list, commonName: "good.test"), "good.test"))
        }
        #expect(try matches(certificate([.dns("good.test")], commonName: "other.test"), "good.test"))
    }

    @Test("an entry with NUL, other bytes than ASCII, or no bytes never matches, T-TLS-40")
    func badEntries() throws {
        for entry in [
            "good.test\0.evil.test", "good.test\0", "\0good.test", "", ".", "good.test.", ".good.test", "göod.test",
        ] {
            #expect(try !matches(certificate([.dns(entry)]), "good.test"))
            #expect(try !matches(certificate([.dns(entry)], commonName: "good.test\0.evil.test"), "good.test"))
            #expect(try matches(certificate([.dns(entry), .dns("good.test")]), "good.test"))
        }
    }

    @Test("names are read as typed fields, not as text, T-TLS-46")
    func injection() throws {
        let crafted = try certificate(
            [.dns("evil.test, DNS:good.test"), .uri("x, DNS:good.test"), .email("a@evil.test, DNS:good.test")],
            commonName: "evil.test, DNS:good.test"
        )

        #expect(try !matches(crafted, "good.test"))
        #expect(crafted.dnsNames == ["evil.test, DNS:good.test"])
        #expect(crafted.emailAddresses == ["a@evil.test, DNS:good.test"])
    }

    @Test("alternative names that stand there twice or cannot be read match nothing")
    func unreadable() throws {
        let twice = try authority.issue(for: "good.test") {
            $0.otherExtensions = [
                .init("2.5.29.17", value: [0x30, 0x0B, 0x82, 0x09] + Array("good.test".utf8))
            ]
        }
        let broken = try authority.issue(.server(for: [])) {
            $0.otherExtensions = [.init("2.5.29.17", value: [0x30, 0x0B, 0x82, 0x7F] + Array("good.test".utf8))]
        }

        #expect(try !matches(twice.certificate, "good.test"))
        #expect(try !matches(broken.certificate, "good.test"))
        #expect(twice.certificate.dnsNames.isEmpty)
    }

    @Test("ten thousand names are looked at in one quick pass, and none beyond, T-TLS-48")
    func manyNames() throws {
        let fillers = (0..<9_999).map { CertificateTemplate.AlternativeName.dns("name\($0).example.test") }
        let within = try certificate(fillers + [.dns("good.test")])
        let beyond = try certificate(fillers + [.dns("last.test"), .dns("good.test")])

        let name = try #require(PeerName("good.test"))
        var isMatch = false
        let cost = CPUTime.of { isMatch = HostnameMatcher.matches(within, name) }

        #expect(isMatch)
        #expect(cost < .milliseconds(200))
        #expect(try matches(beyond, "last.test"))
        #expect(try !matches(beyond, "good.test"))
        #expect(beyond.dnsNames.count == 10_000)
        let evaluation = try judge([within], for: "other.test", anchors: [authority])
        #expect(evaluation.failure?.message.utf8.count ?? .max < 1_000)
    }

    @Test("the message lists three names at most, T-TLS-48")
    func message() throws {
        let one = try judge([authority.issue(for: "a.test").certificate], anchors: [authority])
        let two = try judge([authority.issue(for: "a.test", "127.0.0.1").certificate], anchors: [authority])
        let five = try judge([authority.issue(for: "a", "b", "c", "d", "e").certificate], anchors: [authority])
        let none = try judge([certificate([], commonName: "good.test")], anchors: [authority])

        #expect(one.failure?.message == "the certificate is for a.test, not for good.test")
        #expect(two.failure?.message == "the certificate is for a.test and 127.0.0.1, not for good.test")
        #expect(five.failure?.message == "the certificate is for a, b, c and 2 more, not for good.test")
        #expect(none.failure?.message.contains("has no alternative names") == true)
        #expect(none.failure?.reason == .name)
    }

    @Test(
        "an address that stands as a DNS name is told apart in the message, T-TLS-35, T-TLS-36",
        arguments: ["127.0.0.1", "::1"]
    )
    func addressAsName(address: String) throws {
        var template = CertificateTemplate.server(for: ["a.test"])
        template.alternativeNames.append(.dns(address))
        let failure = try judge([authority.issue(template).certificate], for: address, anchors: [authority]).failure

        #expect(failure?.reason == .name)
        #expect(failure?.message.contains("has the address \(address) as a DNS name") == true)
        #expect(failure?.message.contains("not for \(address)") == false)
        let other = try judge([authority.issue(template).certificate], for: "127.0.0.2", anchors: [authority]).failure
        #expect(other?.message.hasSuffix("not for 127.0.0.2") == true)
    }
}

extension CertificateAuthority {
    fileprivate func issue(
        _ template: CertificateTemplate,
        _ change: (inout CertificateTemplate) -> Void
    ) throws -> IssuedCertificate {
        var template = template
        change(&template)
        return try issue(template)
    }
}
