import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

@Suite struct PolicyLoadingTests {
    private let root: CertificateAuthority
    private let site: IssuedCertificate
    private let other: IssuedCertificate
    private let folder: TemporaryFolder

    init() throws {
        root = try CertificateAuthority()
        site = try root.issue(for: "good.test")
        other = try root.issue(for: "other.test")
        folder = try TemporaryFolder()
    }

    private var both: Set<Data> { [Data(site.der), Data(other.der)] }

    @Test func `pins come from files, folders, bundles and bytes`() throws {
        try folder.write("a.cer", site.der)
        try folder.write("b.pem", Array("a comment\n\(other.pem)".utf8))
        try folder.write("notes.txt", Array("none".utf8))
        let bundle = try #require(Bundle(path: folder.path))

        let policies = [
            try SecurityPolicy(pinningMode: .certificate, certificatesInFolder: folder.path),
            try SecurityPolicy(pinningMode: .certificate, certificatesIn: bundle),
            try SecurityPolicy(pinningMode: .certificate, pem: (site.pem + other.pem).utf8),
        ]
        let single = try SecurityPolicy(pinningMode: .publicKey, certificatesAtPath: folder.path + "/a.cer")

        for policy in policies { #expect(policy.pinnedCertificates == both) }
        #expect(single.pinnedCertificates == [Data(site.der)])
        #expect(single.evaluate(trust) == .accept)
    }

    private var trust: ServerTrust {
        ServerTrust(servedChain: site.chain, host: "good.test", anchors: .certificates([root.certificate]))
    }

    @Test("one file that is no certificate fails the whole policy, and is named, T-TLS-19")
    func brokenFiles() throws {
        let broken: [(name: String, bytes: [UInt8])] = [
            ("truncated.der", Array(site.der.dropLast(3))),
            ("junk.pem", Array("-----BEGIN CERTIFICATE-----\nx\n".utf8)),
            ("key.pem", Array(site.privateKeyPEM.utf8)), ("empty.cer", []), ("double.cer", site.der + site.der),
        ]
        for file in broken {
            let folder = try TemporaryFolder()
            try folder.write("good.cer", site.der)
            try folder.write(file.name, file.bytes)
            let bundle = try #require(Bundle(path: folder.path))

            #expect { try SecurityPolicy(pinningMode: .publicKey, certificatesInFolder: folder.path) } throws: {
                "\($0)".contains(file.name)
            }
            #expect { try SecurityPolicy(pinningMode: .publicKey, certificatesIn: bundle) } throws: {
                "\($0)".contains(file.name)
            }
            #expect(throws: CertificateError.self) {
                try SecurityPolicy(pinningMode: .publicKey, certificatesAtPath: "\(folder.path)/\(file.name)")
            }
            #expect(throws: CertificateError.self) { try SecurityPolicy(pinningMode: .publicKey, pem: file.bytes) }
            guard file.name.hasSuffix(".cer") else { continue }
            let policy = SecurityPolicy(
                pinningMode: .publicKey,
                withPinnedCertificates: SecurityPolicy.certificates(in: bundle)
            )
            #expect(policy.evaluate(trust).rule == "unreadable pin")
        }
    }

    @Test("without any file there is no policy, or one that trusts nobody, T-TLS-19")
    func noFiles() throws {
        let bundle = try #require(Bundle(path: folder.path))

        #expect(throws: CertificateError.self) {
            try SecurityPolicy(pinningMode: .publicKey, certificatesInFolder: folder.path)
        }
        #expect(throws: CertificateError.self) {
            try SecurityPolicy(pinningMode: .publicKey, certificatesInFolder: folder.path + "/missing")
        }
        #expect(throws: CertificateError.self) { try SecurityPolicy(pinningMode: .publicKey, certificatesIn: bundle) }
        let policy = SecurityPolicy(
            pinningMode: .publicKey,
            withPinnedCertificates: SecurityPolicy.certificates(in: bundle)
        )
        #expect(policy.evaluate(trust).rule == "empty set of pins")
    }

    @Test func `a file that may not be read is not left out`() throws {
        try folder.write("good.cer", site.der)
        // A link to nowhere cannot be read by anybody, root included.
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/gone.cer",
            withDestinationPath: folder.path + "/nowhere"
        )
        let bundle = try #require(Bundle(path: folder.path))

        let found = SecurityPolicy.certificates(in: bundle)

        #expect(found == [Data(site.der), Data()])
        let policy = SecurityPolicy(pinningMode: .publicKey, withPinnedCertificates: found)
        #expect(policy.evaluate(trust).rule == "unreadable pin")
    }
}
