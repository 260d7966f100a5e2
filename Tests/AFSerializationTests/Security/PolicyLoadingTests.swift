import Glibc

@Suite struct PolicyLoadingTests {
    private let root: CertificateAuthority
    private let site: IssuedCertificate
    private let other: IssuedCertificate
    private let folder: ScratchFolder

    init() throws {
        root = try CertificateAuthority()
        site = try root.issue(for: "good.test")
        other = try root.issue(for: "other.test")
        folder = try ScratchFolder()
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
            let folder = try ScratchFolder()
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

    @Test("without any file there is no policy, or one that trusts no server, T-TLS-19")
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
        // A broken link cannot be read, not even by root.
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

    @Test(
        "T-FIL-29 what has no end is not read, and refuses every server",
        .timeLimit(.minutes(2)),
        arguments: ["a pipe", "a device", "a link to a device", "a folder", "a terabyte", "17 MiB"]
    )
    func endless(what: String) throws {
        let path = folder.path + "/endless.cer"
        let files = FileManager.default
        switch what {
        case "a pipe": #expect(mkfifo(path, 0o600) == 0)
        case "a device": try files.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        case "a link to a device":
            try files.createSymbolicLink(atPath: folder.path + "/device", withDestinationPath: "/dev/zero")
            try files.createSymbolicLink(atPath: path, withDestinationPath: "device")
        case "a folder": try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        default:
            try folder.write("endless.cer", [])
            #expect(truncate(path, what == "17 MiB" ? 17 << 20 : 1 << 40) == 0)
        }
        try folder.write("good.der", site.der)
        try files.createSymbolicLink(atPath: folder.path + "/good.cer", withDestinationPath: "good.der")
        let bundle = try #require(Bundle(path: folder.path))

        let found = SecurityPolicy.certificates(in: bundle)

        #expect(found == [Data(site.der), Data()])
        let policy = SecurityPolicy(pinningMode: .publicKey, withPinnedCertificates: found)
        #expect(policy.evaluate(trust).rule == "unreadable pin")
        #expect(throws: CertificateError.self) { try SecurityPolicy(pinningMode: .publicKey, certificatesIn: bundle) }
        #expect(throws: CertificateError.self) {
            try SecurityPolicy(pinningMode: .publicKey, certificatesAtPath: path)
        }
    }
}
