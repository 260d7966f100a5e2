import AFURLSession
import Foundation
import Testing

/// `--pin` and `--pinned-cert`. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct PinOptionTests {
    private let site: SecuredSite

    init() throws {
        site = try SecuredSite()
    }

    @Test("every member of the chain can be pinned, in each spelling, T-TLS-22")
    func members() async throws {
        for pin in [site.leafPin, site.intermediatePin, site.rootPin] {
            #expect(try await site.run("--pin", pin).code == 0)
            #expect(try await site.run("--pinnedpubkey", SecuredSite.curls(pin)).code == 0)
            #expect(try await site.run("--pin", "\(SecuredSite.strangePin);\(SecuredSite.curls(pin))").code == 0)
            #expect(try await site.run("--pin", SecuredSite.strangePin, "--pin", pin).code == 0)
        }
    }

    @Test func `a pin that does not match is 90, the message has both pins, and nothing was sent`() async throws {
        let run = try await site.run("--pin", SecuredSite.strangePin, "-d", "canary")

        #expect(run.code == 90 && run.text == "" && run.errors.filter(\.isNewline).count == 1)
        for pin in [SecuredSite.strangePin, site.leafPin, site.intermediatePin, site.rootPin] {
            #expect(run.errors.contains(pin))
        }
        #expect(site.gotNothing)
    }

    @Test func `a file is pinned by its public key or certificate`() async throws {
        let leaf = site.issued
        let key = PEM.text("PUBLIC KEY", leaf.certificate.publicKeyBytes)
        let files = [
            try site.folder.make("leaf.pem", Data(leaf.pem.utf8)),
            try site.folder.make("leaf.der", Data(leaf.der)),
            try site.folder.make("key.pem", Data("the key of the site:\r\n\(key)".utf8)),
            try site.folder.make("key.der", Data(leaf.certificate.publicKeyBytes)),
        ]
        let other = try site.folder.make("other.pem", Data(CertificateAuthority().pem.utf8))

        for file in files { #expect(try await site.run("--pin", file).code == 0, "\(file)") }
        #expect(try await site.run("--pin", other).code == 90)
        #expect(try await site.run("--pin", other, "--pin", files[0]).code == 0)
    }

    @Test("a file that is no key is 43 and named, T-TLS-19")
    func unusableFiles() async throws {
        let secret = site.issued.privateKeyPEM
        let key = site.issued.certificate.publicKeyBytes
        let files = [
            site.folder.path("missing"), site.folder.url.path, "/dev/zero",
            try site.folder.make("empty"),
            try site.folder.make("text", Data("sha256".utf8)),
            try site.folder.make("secret.pem", Data(secret.utf8)),
            try site.folder.make("chain.pem", Data(site.issued.chainPEM.utf8)),
            try site.folder.make("cut.der", Data(key.dropLast())),
            try site.folder.make("long.der", Data(key + [0])),
            try site.folder.make("cut.pem", Data(PEM.text("PUBLIC KEY", key.dropLast()).utf8)),
            try site.folder.make("two.pem", Data((PEM.text("PUBLIC KEY", key) + PEM.text("PUBLIC KEY", key)).utf8)),
            try site.folder.make("open.pem", Data("-----BEGIN PUBLIC KEY-----\nAAAA\n".utf8)),
        ]

        for file in files {
            let run = try await site.run("--pin", file)
            #expect(
                run.code == 43 && run.errors.contains(file) && run.errors.hasPrefix("afnet: --pin: "),
                "\(run.errors)"
            )
            #expect(!run.errors.contains(secret.split(separator: "\n")[1]))
        }
        let chain = try await site.run("--pin", site.folder.path("chain.pem"))
        #expect(chain.errors.contains("there are 2 certificates in it"))
        #expect(site.server.acceptedConnections == 0)
    }

    @Test("--pinned-cert wants the certificate itself in the chain, T-TLS-24")
    func certificates() async throws {
        let leaf = try site.folder.make("leaf.pem", Data(site.issued.pem.utf8))
        let between = try site.folder.make("between.der", Data(site.intermediate.der))
        let renewed = try site.intermediate.issue(for: "127.0.0.1", key: site.issued.key)
        let other = try site.folder.make("renewed.pem", Data(renewed.pem.utf8))

        for file in [leaf, between, site.root] {
            #expect(try await site.run("--pinned-cert", file).code == 0)
            #expect(try await Program.run("-k", "--pinned-cert", file, site.url).code == 0)
        }
        #expect(try await site.run("--pinned-cert", other, "--pinned-cert", leaf).code == 0)
        // The key is the same, but the certificate differs.
        #expect(try await site.run("--pin", other).code == 0)
        let refused = try await site.run("--pinned-cert", other)
        #expect(refused.code == 90 && refused.errors.contains("pinned certificates"))
        #expect(try await Program.run("-k", "--pinned-cert", other, site.url).code == 90)
    }

    @Test func `with both kinds of pins both must match`() async throws {
        #expect(try await site.run("--pin", site.leafPin, "--pinned-cert", site.root).code == 0)
        #expect(try await site.run("--pin", SecuredSite.strangePin, "--pinned-cert", site.root).code == 90)
        let other = try site.folder.make("other.pem", Data(CertificateAuthority().pem.utf8))
        #expect(try await site.run("--pin", site.leafPin, "--pinned-cert", other).code == 90)
    }

    @Test func `pinned certificates that cannot be read are 43`() async throws {
        let run = try await site.run("--pinned-cert", site.folder.path("missing"))

        #expect(run.code == 43 && run.errors.contains(site.folder.path("missing")))
    }

    @Test("a forged leaf that names the pinned authority is refused, T-TLS-16")
    func forged() async throws {
        let forged = try site.intermediate.issue(.server(for: ["127.0.0.1"]), signedBy: CertificateKey())
        try site.server.use(tls: ServerTLS(forged))
        let pinned = try site.folder.make("between.pem", Data(site.intermediate.pem.utf8))

        #expect(try await site.run("--pin", site.intermediatePin).code == 60)
        #expect(try await site.run("--insecure", "--pin", site.intermediatePin).code == 90)
        #expect(try await site.run("--insecure", "--pinned-cert", pinned).code == 90)
        #expect(site.gotNothing)
    }

    @Test("plain http, which has no pins, is refused, T-TLS-20")
    func plainText() async throws {
        let server = try TestServer()
        let root = try SecuredSite()

        for option in [
            ["--pin", SecuredSite.strangePin], ["-k", "--pin", SecuredSite.strangePin], ["--pinned-cert", root.root],
        ] {
            let run = try await Program.run(option + [server.url("/").absoluteString])
            #expect(run.code == 1 && run.errors.contains("The request was not sent: "), "\(run.errors)")
        }
        #expect(server.acceptedConnections == 0)
    }

    @Test func `pins hold for every URL, also over a resumed connection`() async throws {
        let other = try SecuredSite()
        let both = try site.folder.make("both.pem", Data((site.authority.pem + other.authority.pem).utf8))

        let run = try await Program.run("--cacert", both, "--pin", site.leafPin, site.closingURL, site.url, other.url)

        #expect(run.code == 90 && run.text == "closedanswer")
        #expect(site.server.connections.map { $0.tls?.isResumed } == [false, true])
        #expect(other.gotNothing)
    }
}

/// PEM text for binary data.
enum PEM {
    static func text(_ label: String, _ bytes: some Collection<UInt8>) -> String {
        let lines = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----\n"
    }
}
