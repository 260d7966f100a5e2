import AFNetworking
import Foundation
import Testing
import afnet

/// `afnet pins`. Runs one process at a time, because other tests measure the machine.
@Suite(.serialized) struct PinsTests {
    private func lines(_ run: Program.Run) -> [String] {
        run.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The output before the code.
    private func block(_ mark: String, _ certificate: Certificate, hosts: String = "") -> String {
        let dates = "valid \(date(certificate.notBeforeSeconds)) to \(date(certificate.notAfterSeconds))"
        let names = hosts.isEmpty ? "" : "     for \(hosts)\n"
        return """
              \(mark)  \(certificate.subject)
                 issued by \(certificate.issuer)
                 \(dates)
            \(names)     \(certificate.pin)

            """
    }

    private func date(_ seconds: Int64) -> String {
        let text = Date(timeIntervalSince1970: TimeInterval(seconds)).ISO8601Format()
        return text.replacing("T", with: " ").replacing("Z", with: " UTC")
    }

    @Test func `a server's chain is shown with its pins and the code, and no request is sent`() async throws {
        let site = try SecuredSite()
        let port = site.server.port

        let run = try await Program.run("pins", "127.0.0.1:\(port)", "--cacert", site.root)

        #expect(run.code == 0 && run.errors == "")
        let hosts = "localhost, 127.0.0.1, ::1"
        #expect(
            run.text == """
                127.0.0.1:\(port) showed 2 certificates:

                \(block("0", site.issued.certificate, hosts: hosts))
                \(block("1", site.intermediate.certificate))
                The chain is trusted for 127.0.0.1.
                From the file \(site.root) it leads to:

                \(block("+", site.authority.certificate))
                Pin the server's own key (site) if you decide when it changes, or that of the authority
                above it (Site Intermediate), which outlives new keys of the server but trusts everything it issues.
                Have both as long as you have no better backup: a key of yours that is not in use. For its pin:
                openssl pkey -in KEY -pubout -out FILE && afnet pins FILE

                In Swift:

                    import AFNetworking

                    let policy = SecurityPolicy()
                    let keys = ["\(site.leafPin)"]
                    let spares = ["\(site.intermediatePin)"]
                    policy.hostRules = [try .pins("127.0.0.1", PinSet(keys, backups: spares))]
                    let configuration = URLSessionConfiguration.default
                    configuration.tls.anchors = try .file("\(site.root)")
                    configuration.tls.evaluator = policy
                    let session = URLSession(configuration: configuration)

                """
        )
        let connections = try await site.server.waitUntilIdle()
        #expect(connections.count == 1 && connections[0].tls?.isComplete == false && site.gotNothing)
    }

    /// The printed code, so that it is compiled. Never called, because there is no such file.
    private func printedCode() throws -> URLSession {
        let policy = SecurityPolicy()
        let keys = ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
        let spares = ["sha256/BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA="]
        policy.hostRules = [try .pins("api.example.test", PinSet(keys, backups: spares))]
        let configuration = URLSessionConfiguration.default
        configuration.tls.anchors = try .file("root.pem")
        configuration.tls.evaluator = policy
        let session = URLSession(configuration: configuration)
        return session
    }

    /// The same without the optional line.
    private func shortCode() throws -> URLSession {
        let policy = SecurityPolicy()
        let keys = ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
        policy.hostRules = [try .pins("short.example.test", PinSet(keys))]
        let configuration = URLSessionConfiguration.default
        configuration.tls.evaluator = policy
        let session = URLSession(configuration: configuration)
        return session
    }

    @Test func `the code that is printed compiles`() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let pins = [
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha256/BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=",
        ]

        for code in [
            PinningSnippet.code(host: "api.example.test", pins: pins, authorities: "root.pem"),
            PinningSnippet.code(host: "short.example.test", pins: Array(pins.prefix(1)), authorities: nil),
        ] {
            #expect(code.prefix(2) == ["import AFNetworking", ""])
            let body = code.dropFirst(2).map { "        \($0)\n" }.joined()
            #expect(source.contains("throws -> URLSession {\n\(body)        return session\n"))
        }
    }

    @Test func `the session of the code loads from the server, and from no other`() async throws {
        let site = try SecuredSite()
        let other = try site.authority.issue(for: "127.0.0.1")
        let policy = SecurityPolicy()
        let keys = [site.leafPin]
        let spares = [SecuredSite.strangePin]
        policy.hostRules = [try .pins("127.0.0.1", PinSet(keys, backups: spares))]
        let configuration = URLSessionConfiguration.default
        configuration.tls.anchors = try .file(site.root)
        configuration.tls.evaluator = policy
        let session = URLSession(configuration: configuration)

        let (data, _) = try await session.data(from: site.server.url("/close"))
        try site.server.use(tls: ServerTLS(other))
        let error = await #expect(throws: URLError.self) { try await session.data(from: site.server.url("/x")) }

        #expect(String(decoding: data, as: UTF8.self) == "closed")
        #expect(error?.loadFailure?.reason == .trust && site.server.requests.count == 1)
    }

    @Test func `an untrusted chain is shown with the reason and without code`() async throws {
        let site = try SecuredSite(for: ["elsewhere.test"])
        let target = "localhost:\(site.server.port)"

        let unknown = try await Program.run("pins", target)
        let wrongName = try await Program.run("pins", target, "--cacert", site.root)

        for run in [unknown, wrongName] {
            #expect(run.code == 0 && run.text.contains(block("0", site.issued.certificate, hosts: "elsewhere.test")))
            #expect(run.text.contains("\nThe chain is not trusted: ") && !run.text.contains("SecurityPolicy"))
        }
        #expect(unknown.text.contains("An attacker could have made it"))
        #expect(wrongName.text.contains("elsewhere.test"))
    }

    @Test func `a certificate outside of the trusted chain is marked`() async throws {
        let site = try SecuredSite()
        let other = try CertificateAuthority("Other")
        try site.server.use(
            tls: ServerTLS(credentials: [
                .init(site.issued, followedBy: [site.intermediate.certificate, other.certificate])
            ])
        )

        let run = try await Program.run("pins", "127.0.0.1:\(site.server.port)", "--cacert", site.root)

        let mark = "\n     not in the chain that is trusted: a pin of it never matches\n"
        #expect(run.text.components(separatedBy: mark).count == 2)
        #expect(run.text.contains("\(other.certificate.pin)\(mark)"))
    }

    @Test func `the certificates of a file are shown like those of a server`() async throws {
        let site = try SecuredSite(for: ["api.example.test", "*.example.test"])
        let chain = try site.folder.make("chain.pem", Data(site.issued.chainPEM.utf8))
        let der = try site.folder.make("root.der", Data(site.authority.der))

        let trusted = try await Program.run("pins", chain, "--cacert", site.root)
        let alone = try await Program.run("pins", der, "--cacert", site.root)

        #expect(trusted.code == 0 && trusted.text.hasPrefix("\(chain) holds 2 certificates:\n\n"))
        #expect(trusted.text.contains("\nThe chain is trusted for api.example.test.\n"))
        #expect(
            trusted.text.contains(
                "    policy.hostRules = [try .pins(\"api.example.test\", PinSet(keys, backups: spares))]\n"
            )
        )
        #expect(alone.code == 0 && alone.text.contains(block("0", site.authority.certificate)))
        #expect(alone.text.contains("\nThe chain is trusted, but names no host.\n"))
        #expect(alone.text.contains("holds one certificate:") && alone.text.contains("Pin its key, if you see to it"))
    }

    @Test func `a public key in a file has a pin`() async throws {
        let site = try SecuredSite()
        let bytes = site.issued.certificate.publicKeyBytes
        let key = try site.folder.make("key.pem", Data(PEM.text("PUBLIC KEY", bytes).utf8))

        let run = try await Program.run("pins", key)

        #expect(run.code == 0 && run.text.contains("\n  0  \(site.leafPin)\n"))
    }

    @Test func `IPv6 addresses are hosts, with and without brackets`() async throws {
        let site = try SecuredSite(on: .ipv6Loopback)

        let run = try await Program.run("pins", "[::1]:\(site.server.port)", "--cacert", site.root)

        #expect(run.code == 0 && run.text.contains("\nThe chain is trusted for ::1.\n"))
        #expect(run.text.contains("try .pins(\"::1\", PinSet("))
    }

    @Test(arguments: [
        ("Example.test", "example.test", "Example.test:443"),
        ("example.test:8443", "example.test", "example.test:8443"),
        ("192.0.2.1", "192.0.2.1", "192.0.2.1:443"), ("::1", "::1", "[::1]:443"), ("[::1]", "::1", "[::1]:443"),
        ("[2001:db8::1]:8443", "2001:db8::1", "[2001:db8::1]:8443"),
        ("2001:db8::1:8443", "2001:db8::1:8443", "[2001:db8::1:8443]:443"),
    ])
    func `a host has the port 443 by default`(text: String, name: String, peer: String) throws {
        #expect(try PinsTarget(text) == .host(name, peer: peer))
    }

    @Test func `names of a certificate are escaped in the code and for the terminal`() async throws {
        let evil = "x\"]); system(\"true\u{1B}[2J"
        let site = try SecuredSite(for: [evil, "good.example.test"])
        let file = try site.folder.make("evil.pem", Data(site.issued.chainPEM.utf8))
        let folder = try Program.Folder()
        let odd = try folder.make("a \\(b) \"c\".pem", Data(site.authority.pem.utf8))

        let run = try await Program.run("pins", file, "--cacert", odd)

        #expect(run.code == 0 && !run.text.contains("\u{1B}"))
        let code = run.text.components(separatedBy: "In Swift:")[1]
        #expect(code.contains("try .pins(\"good.example.test\", PinSet(") && !code.contains("system"))
        #expect(code.contains(#"a \\(b) \"c\".pem")"#))
    }

    @Test(arguments: [
        ["pins"], ["pins", "a", "b"], ["pins", "a", "-o", "f"], ["pins", "a", "--insecure"], ["pins", "a", "-d", "x"],
    ])
    func `a bad command line is 2`(words: [String]) async throws {
        #expect(try await Program.run(words).code == 2)
    }

    @Test(arguments: ["https://h/", "a b", "h:0", "h:65536", "h:x", "h:", "[::1]x", "[::1", "no/such/file", ""])
    func `an operand that is neither host nor file is 43`(target: String) async throws {
        let run = try await Program.run("pins", target)

        #expect(run.code == 43 && run.text == "" && run.errors.filter(\.isNewline).count == 1, "\(run.errors)")
    }

    @Test func `failures before the server's certificates have their usual codes`() async throws {
        let plain = try TestServer()
        plain.script(.receive(1), .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close)
        let closed = try TestServer()
        closed.stop()
        let mute = try TestServer()
        mute.script(.receive(1), .stall)

        #expect(try await Program.run("pins", "127.0.0.1:\(plain.port)").code == 35)
        #expect(try await Program.run("pins", "127.0.0.1:\(closed.port)").code == 7)
        #expect(try await Program.run("pins", "afnet.invalid").code == 6)
        #expect(try await Program.run("pins", "-m", "0.2", "127.0.0.1:\(mute.port)").code == 28)
        #expect(try await Program.run("pins", "--cacert", "/no/such/file", "localhost").code == 77)
    }
}
