import CAFOpenSSL
import Foundation
import Testing

@testable import AFTLS

/// What is read out of certificates below the types of Swift: exact answers, and what is answered for nothing.
@Suite struct CertificatePartsTests {
    private let root: CertificateAuthority

    init() throws {
        root = try CertificateAuthority("Root")
    }

    /// A certificate of which OpenSSL does not know the kind of key.
    private func foreignKey() throws -> Certificate {
        var der = try root.issue(for: "good.test").certificate.derBytes
        let curve = try #require(Data(der).range(of: Data([6, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1])))
        der[curve.upperBound - 1] = 0x7F
        return try Certificate(der: der)
    }

    // MARK: - Names

    @Test func `of alternative names only those have bytes that are one text or one address`() throws {
        let site = try root.issue(for: "good.test") {
            $0.alternativeNames += [
                .dns(""), .ip([192, 0, 2, 1]), .email("a@b"), .uri("u:x"), .other("1.2.3", value: [5, 0]),
                .raw(tag: 0x88, [0x2A, 3, 4]), .raw(tag: 0xA4, [0x30, 0]),
            ]
        }.certificate
        let names = try #require(caf_alternative_names(site.handle))
        defer { caf_general_names_free(names) }
        let found = (-1...caf_general_name_count(names)).map { caf_general_name_at(names, $0) }

        #expect(found.map(\.type) == [-1, GEN_DNS, GEN_DNS, GEN_IPADD, GEN_EMAIL, GEN_URI, -1, -1, -1, -1])
        #expect(found.map(\.count) == [0, 9, 0, 4, 3, 3, 0, 0, 0, 0])
        #expect(found.map { $0.bytes?.pointee } == [nil, 0x67, 0, 192, 0x61, 0x75, nil, nil, nil, nil])
        #expect(caf_general_name_count(nil) == 0)
    }

    @Test func `a part of a name is the last of its kind, or there is none`() throws {
        let cases: [([CertificateTemplate.Attribute], String?)] = [
            ([], nil), ([.country("DE")], nil), ([.country("DE"), .unit("U")], nil), ([.commonName("One")], "One"),
            ([.commonName("One"), .commonName("Three"), .country("DE")], "Three"),
        ]
        for (parts, expected) in cases {
            let site = try root.issue(for: "a.test") { $0.subject = parts }.certificate
            var text: UnsafeMutablePointer<UInt8>?
            let count = caf_name_entry(X509_get_subject_name(site.handle), NID_commonName, &text)
            defer { caf_free(text) }
            #expect(count == expected.map { Int32($0.utf8.count) } ?? -1)
            #expect(text.map { String(cString: $0) } == expected)
        }
    }

    @Test func `an address has 4 or 16 bytes, and a text that is none has no bytes`() {
        var text = [CChar](repeating: 0, count: 46)
        let bytes: [UInt8] = [192, 0, 2, 1] + [UInt8](repeating: 0, count: 13)
        for count in 0...17 {
            let length = caf_ip_text(bytes, count, &text, text.count)
            #expect(length == (count == 4 ? 9 : count == 16 ? 10 : -1), "\(count)")
        }
        #expect(caf_ip_text(bytes, 4, &text, 9) == -1)
        var address = [UInt8](repeating: 7, count: 16)
        #expect(caf_ip_parse("192.0.2.1", &address) == 4 && Array(address.prefix(5)) == [192, 0, 2, 1, 7])
        #expect(caf_ip_parse("::2", &address) == 16 && address == [UInt8](repeating: 0, count: 15) + [2])
        for other in ["", "1.2.3", "x", "1.2.3.4 "] { #expect(caf_ip_parse(other, &address) == -1) }
    }

    // MARK: - Digests, keys and extensions

    @Test func `a digest of no kind or not begun is none, and one of SHA-512 has 64 bytes`() throws {
        var bytes = [UInt8](repeating: 0, count: 64)
        #expect(caf_digest(5) == nil && caf_digest(-1) == nil)
        let context = try #require(EVP_MD_CTX_new())
        defer { EVP_MD_CTX_free(context) }
        #expect(caf_digest_add(context, bytes, 0) == 1 && caf_digest_add(context, bytes, 1) == 0)
        #expect(caf_digest_end(context, &bytes) == 0)
        let digest = try #require(MessageDigest(sha: 512))
        digest.add(Array("abc".utf8))
        // FIPS 180-4, the example for SHA-512.
        let found = try #require(digest.finish())
        #expect(found.count == 64 && found.starts(with: [0xDD, 0xAF, 0x35, 0xA1]) && found.last == 0x9F)
        bytes = [UInt8](repeating: 7, count: 64)
        caf_wipe(&bytes, 63)
        #expect(bytes == [UInt8](repeating: 0, count: 63) + [7])
    }

    @Test func `a key that OpenSSL does not know has no size, and a digest`() throws {
        let foreign = try foreignKey()
        var digest = [UInt8](repeating: 0, count: 32)
        #expect(caf_key_bits(root.certificate.handle) == 256 && caf_key_bits(foreign.handle) == 0)
        #expect(!caf_has_dsa_key(root.certificate.handle) && !caf_has_dsa_key(foreign.handle))
        #expect(caf_public_key_sha256(foreign.handle, &digest) == 1)
        #expect(digest == SHA256Digest.of(foreign.publicKeyBytes) && foreign.subject == "CN=good.test")
        #expect(SHA256Digest.of(Array("abc".utf8)).starts(with: [0xBA, 0x78, 0x16, 0xBF]))
    }

    // MARK: - Reading

    @Test func `one certificate is read in its one encoding, and what follows is told`() throws {
        let site = try root.issue(for: "good.test").certificate
        var other = site.derBytes
        // A signature of one bit less, which is there all the same: DER has zeros in its place.
        let ends = (other.count - 80..<other.count).filter { $0 + Int(other[$0 - 1]) == other.count }
        let unused = try #require(ends.first { other[$0 - 2] == 3 && other[$0] == 0 })
        other[unused] = 1
        other[other.count - 1] |= 1
        let cases: [([UInt8], Int, isRead: Bool, trailing: Int32)] = [
            (site.derBytes, 0, true, 0), (site.derBytes + [0], 0, false, 1), (site.derBytes.dropLast(), 0, false, 0),
            (other, 0, false, 0), ([0x30], 0, false, 0), (site.derBytes, site.derBytes.count, false, 0),
        ]
        for (bytes, left, isRead, expected) in cases {
            var trailing: Int32 = 7
            let made = caf_x509_parse(bytes, bytes.count - left, &trailing)
            #expect((made != nil) == isRead && trailing == expected)
            X509_free(made)
        }
        // What stands behind is nothing to those who read as OpenSSL does.
        for read in [caf_x509_parse_leniently, caf_x509_parse_with_uses] {
            let made = read(site.derBytes, site.derBytes.count)
            #expect(made != nil && read([1, 2], 2) == nil)
            X509_free(made)
        }
    }

    @Test func `whatever fails leaves no error behind for the next who asks`() throws {
        let (junk, foreign) = ([UInt8]([0x30, 3, 0xFF, 0xFF, 0xFF]), try foreignKey())
        let broken = try root.issue(for: "good.test") {
            $0.otherExtensions = [.init("1.3.6.1.5.5.7.1.1", value: [5]), .init("2.5.29.30", value: [5])]
        }.certificate
        let forged = try root.issue(for: "good.test") { $0.breaksSignature = true }.certificate
        let raw = try #require(EVP_MD_CTX_new())
        defer { EVP_MD_CTX_free(raw) }
        var (number, hash, seconds, size) = (Int32(0), UInt64(0), Int64(0), 0)
        var (bytes, label) = ([UInt8](repeating: 0, count: 64), UnsafeMutablePointer<CChar>?.none)
        var der: UnsafeMutablePointer<UInt8>?
        let calls: [(String, () -> Bool)] = [
            ("parse", { caf_x509_parse(junk, 5, &number) == nil }),
            ("leniently", { caf_x509_parse_leniently(junk, 5) == nil }),
            ("uses", { caf_x509_parse_with_uses(junk, 5) == nil }),
            ("subject", { caf_subject_key(junk, 5, &hash) == 0 }),
            ("name", { caf_name_key(X509_get_subject_name(foreign.handle), &hash) == 1 }),
            ("block", { caf_pem_block(junk, 5, &label, &number, &der, &size) == 0 }),
            ("time", { caf_time_seconds(nil, &seconds) == 0 }),
            ("digest", { caf_digest(9) == nil }), ("end", { caf_digest_end(raw, &bytes) == 0 }),
            ("bits", { caf_key_bits(foreign.handle) == 0 }), ("DSA", { !caf_has_dsa_key(foreign.handle) }),
            ("location", { caf_names_issuer_location(broken.handle) == 0 }),
            ("allowed", { !caf_names_allowed(foreign.handle, broken.handle, true) }),
            ("host", { caf_host_allowed(broken.handle, junk, 5) == X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX }),
            ("signed", { caf_signed_by(forged.handle, root.certificate.handle, 2) == 0 }),
        ]
        for (name, fails) in calls {
            ErrorQueue.poison()
            #expect(fails() && ERR_peek_error() == 0, "\(name)")
        }
    }
}
