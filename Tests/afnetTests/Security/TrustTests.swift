import AFURLSession
import Foundation
import Testing

/// Which servers the program trusts. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct TrustTests {
    private let site: SecuredSite

    init() throws {
        site = try SecuredSite()
    }

    // MARK: Authorities

    @Test func `--ciphers, --capath and --no-sessionid reach the handshake`() async throws {
        let old = ["--tls-max", "1.2", "-v", site.url]
        let suite = "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
        let chosen = try await Program.run(["--cacert", site.root, "--ciphers", suite] + old)
        #expect(chosen.code == 0 && chosen.errors.contains("AES_256_GCM_SHA384"))
        #expect(try await Program.run(["--cacert", site.root, "--ciphers", "NO-SUCH-SUITE"] + old).code != 0)

        #expect(try await Program.run("--capath", site.folder.url.path, site.url).code == 0)
        #expect(try await Program.run("--capath", site.folder.path("none"), site.url).code == 77)

        let twice = ["--cacert", site.root, "-v", site.closingURL, site.closingURL]
        #expect(try await Program.run(twice).errors.contains("resumed handshake"))
        #expect(try await !Program.run(["--no-sessionid"] + twice).errors.contains("resumed handshake"))
    }

    @Test func `--cacert makes the authority of a site trusted`() async throws {
        let run = try await site.run()

        #expect(run.code == 0 && run.text == "answer" && run.errors == "")
    }

    @Test func `an unknown authority is 60, the message has the option, and nothing was sent`() async throws {
        let run = try await Program.run(site.url)

        #expect(run.code == 60 && run.text == "")
        #expect(run.errors.hasPrefix("afnet: The server at 127.0.0.1:\(site.server.port) is not trusted: "))
        #expect(run.errors.hasSuffix(" (--cacert PATH)\n") && run.errors.filter(\.isNewline).count == 1)
        #expect(site.gotNothing)
    }

    @Test func `authorities of --cacert replace those of the system`() async throws {
        let other = try site.folder.make("other.pem", Data(CertificateAuthority().pem.utf8))

        let run = try await Program.run(["--cacert", other, site.url], environment: ["SSL_CERT_FILE": site.root])

        #expect(run.code == 60)
        #expect(try await Program.run([site.url], environment: ["SSL_CERT_FILE": site.root]).code == 0)
    }

    @Test func `a group does not share the authorities of a file whose name only looks alike`() async throws {
        let root = try Data(contentsOf: URL(fileURLWithPath: site.root))
        let trusted = try site.folder.make("caf\u{E9}.pem", root)
        let other = try site.folder.make("cafe\u{301}.pem", Data(CertificateAuthority().pem.utf8))
        try #require(trusted == other)

        let run = try await Program.run("--cacert", trusted, site.url, "--next", "--cacert", other, site.url)

        #expect(run.code == 60 && run.text == "answer")
    }

    @Test(arguments: ["another host", "expired", "not yet valid"])
    func `a certificate for another host or time is 60`(fault: String) async throws {
        let site = try SecuredSite(for: fault == "another host" ? ["elsewhere.test"] : ["127.0.0.1"]) { template in
            if fault == "expired" { template.expire() }
            if fault == "not yet valid" { template.postpone() }
        }

        #expect(try await site.run().code == 60)
        #expect(try await site.run("--pin", SecuredSite.strangePin).code == 60)
        #expect(try await site.run("--pinned-cert", site.root).code == 60)
        #expect(try await site.run("--insecure").code == 0)
    }

    @Test func `authorities that cannot be used are 77`() async throws {
        let broken = try site.folder.make("broken.pem", Data("-----BEGIN CERTIFICATE-----\nxx\n".utf8))
        let empty = try site.folder.make("empty.pem")

        for path in [site.folder.path("missing"), site.folder.url.path, broken, empty] {
            let run = try await Program.run("--cacert", path, site.url)
            #expect(run.code == 77 && run.errors.contains(path), "\(run.errors)")
        }
        #expect(site.server.acceptedConnections == 0)
    }

    private static let noAuthorities = ["SSL_CERT_FILE": "/no/such/file", "SSL_CERT_DIR": "/no/such/folder"]

    @Test func `a system without authorities is 77, but not with --insecure`() async throws {
        let strict = try await Program.run([site.url], environment: Self.noAuthorities)
        let lax = try await Program.run(["-k", site.url], environment: Self.noAuthorities)
        let custom = try await Program.run(["--cacert", site.root, site.url], environment: Self.noAuthorities)

        #expect(strict.code == 77 && strict.errors.contains("/no/such/file"))
        #expect(lax.code == 0 && custom.code == 0)
    }

    // MARK: Insecure

    @Test func `--insecure says once what is not checked`() async throws {
        let site = try SecuredSite(for: ["elsewhere.test"]) { $0.expire() }

        let run = try await Program.run("--insecure", site.url, site.url)

        #expect(run.code == 0 && run.text == "answeranswer")
        let warning = "afnet: --insecure: certificates are not checked for their issuer, their dates or the host: "
        #expect(run.errors.hasPrefix(warning) && run.errors.filter(\.isNewline).count == 1)
        #expect(try await Program.run("-sk", site.url).errors == "")
    }

    @Test func `--insecure has nothing to say about plain http`() async throws {
        let server = try TestServer()
        server.route("GET", "/", .text("plain"))

        let run = try await Program.run("-k", server.url("/").absoluteString)

        #expect(run.text == "plain" && run.errors == "")
    }

    @Test func `--insecure still checks pins`() async throws {
        let site = try SecuredSite(for: ["elsewhere.test"]) { $0.expire() }

        let right = try await Program.run("-k", "--pin", site.leafPin, site.url)
        let wrong = try await Program.run("-k", "--pin", SecuredSite.strangePin, site.url)

        #expect(right.code == 0 && right.errors.hasSuffix(": only what is pinned\n"))
        #expect(wrong.code == 90 && wrong.text == "")
        #expect(site.server.requests.count == 1)
    }

    @Test("a certificate that was only sent along does not match a pin, T-TLS-15")
    func sentAlong() async throws {
        let pinned = try SecuredSite()
        let forger = try CertificateAuthority("Forger")
        let forged = try forger.issue(for: "127.0.0.1")
        let tls = ServerTLS(
            credentials: [.init(forged, followedBy: [pinned.issued.certificate, pinned.intermediate.certificate])]
        )
        let server = try TestServer(tls: tls)
        server.route("*", "/*", .text("answer"))
        let trusted = try pinned.folder.make("forger.pem", Data(forger.pem.utf8))
        let url = server.url("/").absoluteString

        for pin in [pinned.leafPin, pinned.intermediatePin] {
            #expect(try await Program.run("--insecure", "--pin", pin, url).code == 90)
            #expect(try await Program.run("--cacert", trusted, "--pin", pin, url).code == 90)
        }
        #expect(server.requests.isEmpty)
    }

    // MARK: Verbose

    @Test func `--verbose shows TLS version, suite and certificate`() async throws {
        let run = try await site.run("-v", site.closingURL)

        let lines = run.errors.split(separator: "\n").map(String.init)
        let secured = lines.indices.filter { lines[$0].hasPrefix("* TLS 1.3, TLS_AES_") }
        #expect(secured.count == 2 && run.code == 0)
        #expect(lines[secured[0]].contains(", new handshake, ") && lines[secured[0]].hasSuffix(" ms"))
        #expect(lines[secured[1]].contains(", resumed handshake, "))
        for index in secured {
            #expect(lines[index - 1].hasPrefix("* new connection to 127.0.0.1:"))
            #expect(lines[index + 1] == "* certificate CN=site")
            #expect(lines[index + 2] == "*   issued by CN=Site Intermediate")
            #expect(lines[index + 3].wholeMatch(of: /\*   valid \S+ \S+ UTC to \S+ \S+ UTC/) != nil)
            #expect(lines[index + 4] == "*   \(site.leafPin)")
            #expect(lines[index + 5].hasSuffix("done at"))
        }
        #expect(lines.count { $0.hasPrefix("*   tls ") && $0.hasSuffix(" ms") } == 2)
        #expect(lines.contains("> Host: 127.0.0.1:\(site.server.port)"))
    }

    @Test func `--verbose shows no TLS for plain http, and no certificate for a reused connection`() async throws {
        let server = try TestServer()
        server.route("GET", "/", .text("plain"))

        let plain = try await Program.run("-v", server.url("/").absoluteString)
        let reused = try await site.run("-v", site.url)

        #expect(!plain.errors.contains("TLS") && !plain.errors.contains("*   tls "))
        #expect(reused.errors.components(separatedBy: "* certificate ").count == 2)
        #expect(reused.errors.contains(/\* reused connection .*\n\* TLS 1.3, TLS_[A-Z0-9_]*\n/))
    }

    @Test(arguments: [["--digest", "--user", "me:secret"], ["--user", "me:secret"], []])
    func `all URLs of a run share a secured connection`(options: [String]) async throws {
        let run = try await Program.run(["--cacert", site.root] + options + [site.url, site.url, site.url])

        #expect(run.code == 0, "\(run.errors)")
        #expect(site.server.connections.map(\.requestCount) == [3])
    }

    @Test func `--verbose says that an accepted server is not trusted`() async throws {
        let site = try SecuredSite(for: ["elsewhere.test"])

        let run = try await site.run("-kv")

        #expect(run.code == 0 && run.errors.contains("\n*   not trusted: "))
    }

    @Test func `--verbose adds the certificates of a refused server`() async throws {
        let run = try await Program.run("-v", site.url)

        #expect(run.code == 60)
        let message = try #require(run.errors.range(of: "\nafnet: The server at "))
        let block = run.errors[message.upperBound...]
        for certificate in site.issued.chain {
            #expect(block.contains("  \(certificate.subject)\n*      issued by \(certificate.issuer)\n*      valid "))
            #expect(block.contains("\n*      \(certificate.pin)\n"))
        }
        #expect(!block.contains("\u{1B}") && !run.errors.contains("* certificate "))
    }

    @Test func `TLS 1.2 is named with its suite`() async throws {
        let site = try SecuredSite { _ in
        } tls: { tls, _ in
            tls.maximumVersion = .tls12
            tls.cipherList = "ECDHE-ECDSA-AES128-GCM-SHA256"
        }

        let run = try await site.run("-v")

        #expect(run.errors.contains("\n* TLS 1.2, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, new handshake, "))
    }

    // MARK: Handshakes that fail

    @Test func `a handshake that fails is 35`() async throws {
        let plain = try TestServer()
        let address = "https://127.0.0.1:\(plain.port)/"
        plain.script(.receive(1), .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close)
        let faults: [ServerTLS.HandshakeFault] = [.alert(40), .close(after: 0), .close(after: 200), .reset(after: 100)]

        for fault in faults {
            let site = try SecuredSite { _ in
            } tls: { tls, _ in
                tls.handshakeFault = fault
            }
            let run = try await site.run()
            #expect(run.code == 35, "\(fault) \(run.errors)")
        }
        let old = try SecuredSite { _ in
        } tls: { tls, _ in
            tls.minimumVersion = .tls10
            tls.maximumVersion = .tls11
        }
        #expect(try await old.run().code == 35)
        #expect(try await Program.run(address).code == 35)
    }

    @Test func `a TLS connection that breaks later has the usual codes`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"
        let forged: [UInt8] = [0x17, 3, 3, 0, 32] + Array(repeating: 0, count: 32)
        let endings: [([ScriptStep], Int32)] = [
            ([.close], 52), ([.send(head), .close], 18), ([.send(head), .sendOnWire(bytes: forged), .stall], 56),
            ([.send("HTTP/1.1 200 OK\r\n\r\nab"), .closeUnannounced], 18),
        ]

        for (index, (steps, code)) in endings.enumerated() {
            site.server.script(on: .connection(index + 1), steps: [.expectRequest] + steps)
            let run = try await site.run()
            #expect(run.code == code, "\(index) \(run.errors)")
        }
    }
}
