import AFURLSession
import Foundation
import Testing

/// The client certificate. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) final class IdentityTests {
    private static let passphrase = "canary-passphrase"

    let site: SecuredSite
    let client: IssuedCertificate

    init() throws {
        site = try SecuredSite { _ in
        } tls: { tls, authority in
            tls.clientCertificates = .required(by: [authority.certificate])
        }
        client = try site.authority.issueClient("ann")
    }

    private func make(_ name: String, _ text: String) throws -> String { try site.folder.make(name, Data(text.utf8)) }

    private func files() throws -> (certificate: String, key: String) {
        (try make("client.pem", client.chainPEM), try make("client.key", client.privateKeyPEM))
    }

    private var shown: [[Certificate]] { site.server.connections.map { $0.tls?.clientCertificates ?? [] } }

    @Test(arguments: [ServerTLS.Version.tls12, .tls13])
    func `a server that asks gets the certificate`(version: ServerTLS.Version) async throws {
        var tls = ServerTLS(site.issued)
        tls.clientCertificates = .required(by: [site.authority.certificate])
        tls.maximumVersion = version
        try site.server.use(tls: tls)
        let (certificate, key) = try files()

        let run = try await site.run("--cert", certificate, "--key", key)

        #expect(run.code == 0 && run.text == "answer" && run.errors == "")
        #expect(shown == [[client.certificate]])
    }

    @Test func `certificate and key may be in one file, or in PKCS#12`() async throws {
        let one = try make("one.pem", client.privateKeyPEM + client.chainPEM)
        let passphrase = try make("passphrase", Self.passphrase)
        let bag = try site.folder.make("client.P12", Data(client.pkcs12(passphrase: Self.passphrase)))
        let open = try site.folder.make("client.pfx", Data(client.pkcs12(passphrase: "")))

        #expect(try await site.run("-E", one).code == 0)
        #expect(try await site.run("--cert", bag, "--cert-pass-file", passphrase).code == 0)
        #expect(try await site.run("--cert", open).code == 0)
        #expect(shown == Array(repeating: [client.certificate], count: 3))
    }

    @Test(arguments: ["canary-passphrase", "canary-passphrase\n", "canary-passphrase\r\nanother line\n"])
    func `the passphrase is the first line of its file`(text: String) async throws {
        let (certificate, _) = try files()
        let key = try make("encrypted.key", client.key.pem(passphrase: Self.passphrase))
        let passphrase = try make("passphrase", text)

        let run = try await site.run("--cert", certificate, "--key", key, "--cert-pass-file", passphrase)

        #expect(run.code == 0 && run.errors == "")
    }

    @Test func `the passphrase may stand behind the certificate, or in --pass, and the type in --cert-type`()
        async throws
    {
        let (certificate, _) = try files()
        let key = try make("encrypted.key", client.key.pem(passphrase: Self.passphrase))
        let bag = try site.folder.make("client.bag", Data(client.pkcs12(passphrase: Self.passphrase)))

        #expect(try await site.run("-E", "\(certificate):\(Self.passphrase)", "--key", key).code == 0)
        #expect(try await site.run("-E", certificate, "--pass", Self.passphrase, "--key", key).code == 0)
        #expect(try await site.run("-E", certificate, "--pass", "x", "--key", key).code == 58)
        #expect(try await site.run("-E", bag, "--pass", Self.passphrase, "--cert-type", "P12").code == 0)
        #expect(try await site.run("-E", bag, "--pass", Self.passphrase).code == 58)
    }

    @Test(arguments: [ServerTLS.Version.tls12, .tls13])
    func `a missing certificate that the server requires is 58`(version: ServerTLS.Version) async throws {
        var tls = ServerTLS(site.issued)
        tls.clientCertificates = .required(by: [site.authority.certificate])
        tls.maximumVersion = version
        try site.server.use(tls: tls)

        let run = try await site.run()

        #expect(run.code == 58, "\(run.errors)")
        #expect(run.errors.hasSuffix(" (--cert PATH --key PATH)\n"))
    }

    @Test(arguments: [ServerTLS.Version.tls12, .tls13])
    func `a certificate that is refused is 58`(version: ServerTLS.Version) async throws {
        var tls = ServerTLS(site.issued)
        tls.clientCertificates = .required(by: [try CertificateAuthority().certificate])
        tls.maximumVersion = version
        try site.server.use(tls: tls)
        let (certificate, key) = try files()

        let run = try await site.run("--cert", certificate, "--key", key)

        #expect(run.code == 58, "\(run.errors)")
        #expect(run.text == "")
    }

    @Test func `an unusable certificate is 58 and names the file`() async throws {
        let (certificate, key) = try files()
        let other = try make("other.key", CertificateKey().pem)
        let sealed = try make("sealed.key", client.key.pem(passphrase: Self.passphrase))
        let passphrase = try make("passphrase", Self.passphrase + "x")
        let bag = try site.folder.make("client.p12", Data(client.pkcs12(passphrase: Self.passphrase)))
        let broken = try make("broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        let cases = [
            (["--cert", site.folder.path("missing"), "--key", key], "missing"),
            (["--cert", certificate], certificate),
            (["--cert", certificate, "--key", other], other),
            (["--cert", certificate, "--key", sealed], "--cert-pass-file PATH"),
            (["--cert", certificate, "--key", sealed, "--cert-pass-file", passphrase], sealed),
            (["--cert", bag], bag),
            (["--cert", bag, "--cert-pass-file", passphrase], bag),
            (["--cert", broken, "--key", key], broken),
            (["--cert", certificate, "--key", key, "--cert-pass-file", site.folder.path("none")], "none"),
            (["--cert", certificate, "--key", key, "--cert-pass-file", "/dev/zero"], "/dev/zero"),
        ]

        for (arguments, name) in cases {
            let run = try await Program.run(arguments + ["-v", "--cacert", site.root, site.url])
            #expect(run.code == 58 && run.errors.contains(name), "\(arguments): \(run.errors)")
            #expect(run.errors.filter(\.isNewline).count == 1)
        }
        #expect(site.server.acceptedConnections == 0)
    }

    @Test func `no message has a secret`() async throws {
        let (certificate, _) = try files()
        let secret = try client.key.pem(passphrase: Self.passphrase)
        let key = try make("sealed.key", secret)
        let right = try make("right", Self.passphrase)
        let wrong = try make("wrong", "another canary")
        let binary = try site.folder.make("binary", Data([0xFF]) + Data(Self.passphrase.utf8))

        for passphrase in [right, wrong, binary, key] {
            for pin in [site.leafPin, SecuredSite.strangePin] {
                let run = try await site.run(
                    "-v",
                    "--cert",
                    certificate,
                    "--key",
                    key,
                    "--cert-pass-file",
                    passphrase,
                    "--pin",
                    pin
                )
                #expect(run.code == (passphrase == right ? (pin == site.leafPin ? 0 : 90) : 58))
                for canary in ["canary", String(secret.split(separator: "\n")[1])] {
                    #expect(!run.errors.contains(canary) && !run.text.contains(canary))
                }
            }
        }
    }

    @Test func `an untrusted server does not get the certificate`() async throws {
        let (certificate, key) = try files()

        let run = try await Program.run("--cert", certificate, "--key", key, site.url)

        #expect(run.code == 60 && shown.allSatisfy(\.isEmpty) && site.gotNothing)
    }
}
