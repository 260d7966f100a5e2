import CAFOpenSSL
import Testing

@testable import AFTLS

/// Numbers by which roots are found: one for all spellings of a name, and none for what is not encoded as DER demands.
@Suite struct NameKeyTests {
    private typealias DER = PKCS12Draft
    private static let commonName: [UInt8] = [6, 3, 0x55, 4, 3]

    /// A name of one attribute.
    private static func name(_ value: [UInt8], tag: UInt8 = 0x0C, type: [UInt8] = commonName) -> [UInt8] {
        DER.sequence(DER.element(0x31, DER.sequence(type, DER.element(tag, value))))
    }

    private static func name(_ text: String) -> [UInt8] { name(Array(text.utf8)) }

    /// The number of a subject in a certificate that has nothing else in it.
    private func key(
        _ name: [UInt8],
        version: [UInt8] = [0xA0, 3, 2, 1, 2],
        before: [UInt8] = [2, 1, 9, 0x30, 0, 0x30, 0, 0x30, 0]
    ) -> UInt64? {
        whole(DER.sequence(DER.sequence(version, before, name)))
    }

    private func whole(_ bytes: [UInt8]) -> UInt64? {
        var key: UInt64 = 77
        let done = caf_subject_key(bytes, bytes.count, &key)
        #expect(done == 0 || done == 1)
        return done == 0 ? nil : key
    }

    @Test func `it is that of the subject, whatever version the certificate has`() throws {
        let root = try CertificateAuthority("Any Root 7")
        let old = try root.issue(for: "good.test") {
            $0 = CertificateTemplate(subject: [.commonName("any ROOT  7")])
            $0.version = 1
            $0.hasKeyIdentifiers = false
        }
        var subject: UInt64 = 77
        #expect(caf_name_key(X509_get_subject_name(root.certificate.handle), &subject) == 1)
        #expect(whole(root.der) == subject && whole(old.certificate.derBytes) == subject)
        #expect(key(Self.name("anyroot7")) == subject && key(Self.name("anyroot7"), version: []) == subject)
        #expect(key(DER.sequence()) == 0)
    }

    @Test func `letters and digits tell names apart, in either case and in any width`() {
        let x = key(Self.name("x"))
        for letter in "azAZ09mM5" {
            #expect(key(Self.name("x\(letter)")) != x && key(Self.name("\(letter)")) != key(Self.name("")))
            #expect(key(Self.name("x\(letter)")) == key(Self.name("X\(letter.lowercased())")))
        }
        for other in "@[`{/: -é" { #expect(key(Self.name("x\(other)")) == x, "\(other)") }
        let wide: [([UInt8], UInt8)] = [
            ([0, 0x58, 0, 0x39, 1, 0x41], 0x1E), ([0, 0, 0, 0x78, 0, 0, 0, 0x39, 0, 1, 0, 0x41], 0x1C),
            // A part of a unit at the end is none.
            ([0, 0x58, 0, 0x39, 0x41], 0x1E), ([0, 0, 0, 0x78, 0, 0, 0, 0x39, 0, 0x41, 0x41], 0x1C),
            (Array("X9".utf8), 0x13), (Array("X9".utf8), 0x14),
        ]
        for (bytes, tag) in wide { #expect(key(Self.name(bytes, tag: tag)) == key(Self.name("x9")), "\(tag)") }
        #expect(key(Self.name("ab")) != key(Self.name("ba")) && key(Self.name("x1")) != key(Self.name("x2")))
    }

    @Test func `attributes count with their kind, in any order`() {
        let unit: [UInt8] = [6, 3, 0x55, 4, 11]
        let parts = [(Self.commonName, "a"), (unit, "b")].map { DER.sequence($0, DER.element(12, Array($1.utf8))) }
        let apart = parts.map { DER.element(0x31, $0) }
        let keys = [
            DER.sequence(apart[0], apart[1]), DER.sequence(apart[1], apart[0]),
            DER.sequence(DER.element(0x31, parts[0] + parts[1])),
        ].map { key($0) }
        #expect(Set(keys).count == 1 && keys[0] != nil)
        #expect(key(DER.sequence(apart[0])) != keys[0] && key(DER.sequence(apart[0])) != key(DER.sequence(apart[1])))
        #expect(key(Self.name("a")) != key(Self.name(Array("a".utf8), type: unit)))
    }

    @Test func `what DER does not allow in a name or before it has no number`() {
        let good = Self.name("x")
        let attribute = DER.sequence(Self.commonName, [12, 1, 0x78])
        let names: [[UInt8]] = [
            [], [5, 0], [0xB0] + good.dropFirst(), [0x31] + good.dropFirst(), Array(good.dropLast()),
            [0x30, 0x80] + good.dropFirst(2) + [0, 0], DER.sequence([0x30] + DER.element(0x31, attribute).dropFirst()),
            DER.sequence(DER.element(0x31, [0x31] + attribute.dropFirst())),
            DER.sequence(DER.element(0x31, [0x30, 0])),
            Self.name([], tag: 0x30), Self.name([], tag: 0xA0), Self.name([1], type: [2, 1, 1]),
            Self.name([1], type: []),
            DER.sequence(DER.element(0x31, DER.sequence(Self.commonName))), DER.sequence([0x31, 0x80, 0, 0]),
            DER.sequence([0x31, 5, 0x30, 3, 6]), DER.sequence([0x31]),
        ]
        #expect(key(good) != nil)
        for name in names { #expect(key(name) == nil, "\(name)") }
        let befores: [[UInt8]] = [
            [], [2, 1, 9], [2, 1, 9, 0x30, 0, 0x30, 0], [2, 1, 9, 0x30, 0, 0x30, 0, 0x31, 0], [0x30, 0],
            [0x30, 0, 0x30, 0, 0x30, 0, 0x30, 0],
        ]
        for before in befores { #expect(key(good, before: before) == nil, "\(before)") }
        #expect(key(good, version: [0xA1, 3, 2, 1, 2]) == nil && key(good, version: [0xA0, 3, 2, 1]) == nil)
        let wholes: [[UInt8]] = [
            [], [0x30], [0x30, 0], [0x31] + DER.sequence(good).dropFirst(), DER.sequence([0xA0, 3, 2, 1, 2]),
        ]
        for bytes in wholes {
            #expect(whole(bytes) == nil && whole(DER.sequence(bytes)) == nil, "\(bytes)")
        }
    }
}
