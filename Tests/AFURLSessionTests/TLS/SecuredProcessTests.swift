import AFFaults
import AFTLS
import Glibc

extension LoopbackTests.Alone {
    // MARK: - The end of the process

    @Test func `T-TLS-81 a process may exit at any moment of its secured transfers`() async {
        for _ in 1...30 {
            await #expect(processExitsWith: .exitCode(0)) {
                let site = try SecuredSite()
                site.server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
                site.server.route("GET", "/flood") { _ in .stream(.repeating("x", count: 1 << 30)) }
                let session = site.session()
                session.dataTask(with: site.server.url("/flood")).resume()
                for _ in 1...5 { session.dataTask(with: site.server.url("/bye")) { _, _, _ in }.resume() }
                let upload = URLRequest("POST", site.server.url("/bye"), body: Data(count: 1 << 20))
                for _ in 1...5 { session.dataTask(with: upload) { _, _, _ in }.resume() }
                Thread.detachNewThread {
                    usleep(.random(in: 0...40_000))
                    exit(0)
                }
                // Work goes on until the very end.
                while true { _ = try await session.outcome(of: site.server.url("/bye")) }
            }
        }
    }

    // MARK: - The environment

    @Test func `T-TLS-75 a configuration file of OpenSSL changes nothing`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let file = try folder.write(
                """
                openssl_conf = start
                [start]
                ssl_conf = ssl
                [ssl]
                system_default = defaults
                [defaults]
                MinProtocol = TLSv1.3
                CipherString = NULL
                Options = UnsafeLegacyRenegotiation
                """,
                "openssl.cnf"
            )
            setenv("OPENSSL_CONF", file, 1)
            // What comes first must not be what reads it.
            _ = PublicKeyPin(publicKeyBytes: [1, 2, 3])
            let site = try SecuredSite()

            for version in TLSVersion.allCases {
                let outcome = try await site.session { $0.speak(version) }.outcome(of: site.server.url("/hello"))
                #expect(outcome.text == "hello", "\(version): \(outcome)")
            }
            #expect(site.server.connections[0].tls?.offeredVersions == [0x0303])
        }
    }

    @Test func `T-TLS-75 a configuration file that cannot be read is not even missed`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            setenv("OPENSSL_CONF", try folder.write("[[[ = \u{1}\n.include /dev/full\n", "openssl.cnf"), 1)
            setenv("OPENSSL_MODULES", folder.path, 1)
            setenv("OPENSSL_ENGINES", folder.path, 1)
            let site = try SecuredSite()

            #expect(try await site.session().outcome(of: site.server.url("/hello")).text == "hello")
        }
    }

    @Test func `T-TLS-74 a key log is not written because the environment names one`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            setenv("SSLKEYLOGFILE", folder.path + "/keys", 1)
            let site = try SecuredSite()

            for version in TLSVersion.allCases {
                let outcome = try await site.session { $0.speak(version) }.outcome(of: site.server.url("/hello"))
                #expect(outcome.text == "hello")
            }

            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test func `T-TLS-75 SSL_CERT_FILE counts only where the anchors are the system's`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let site = try SecuredSite()
            setenv("SSL_CERT_FILE", try folder.write(site.authority.pem, "roots.pem"), 1)
            setenv("SSL_CERT_DIR", folder.path, 1)
            let url = site.server.url("/hello")

            #expect(try await site.session { $0.anchors = .system }.outcome(of: url).text == "hello")

            let stranger = try CertificateAuthority().certificate
            for anchors in [TrustAnchors.certificates([]), .certificates([stranger])] {
                #expect(try await site.session { $0.anchors = anchors }.outcome(of: url).code == -1203)
            }
            #expect(try await site.session { $0.anchors = .system.adding([stranger]) }.outcome(of: url).text == "hello")
        }
    }

    // MARK: - Authorities of the system

    @Test func `T-TLS-57 without authorities nothing is dialled in vain and nothing is trusted`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            setenv("SSL_CERT_FILE", folder.path + "/missing.pem", 1)
            setenv("SSL_CERT_DIR", folder.path, 1)
            let site = try SecuredSite()
            let session = site.session { $0.anchors = .system }

            for _ in 1...2 {
                let outcome = try await session.outcome(of: site.server.url("/hello"))
                #expect(outcome.code == -1202 && outcome.detail == .anchors, "\(outcome)")
                #expect(outcome.error?.loadFailure?.message.contains("missing.pem") == true)
            }
            // Also for one who accepts everything, and would not ask the system.
            let lax = site.session { tls in
                tls.anchors = .system
                tls.evaluator = FixedEvaluator.accepting
            }
            #expect(try await lax.outcome(of: site.server.url("/hello")).detail == .anchors)

            for connection in try await site.server.waitUntilIdle() { #expect(connection.wire.isEmpty) }
            // The file may come later: a failure is not kept.
            _ = try folder.write(site.authority.pem, "missing.pem")
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
        }
    }

    @Test func `T-TLS-57 one bad authority among good ones costs only itself, an empty file costs all`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            let site = try SecuredSite()
            let bad = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
            let url = site.server.url("/hello")
            setenv("SSL_CERT_DIR", folder.path, 1)
            setenv("SSL_CERT_FILE", try folder.write("", "roots.pem"), 1)
            let session = site.session { $0.anchors = .system }
            #expect(try await session.outcome(of: url).detail == .anchors)

            _ = try folder.write(bad + site.authority.pem + bad, "roots.pem")

            #expect(try await session.outcome(of: url).text == "hello")
        }
    }
}

extension ScratchFolder {
    /// Writes a file and returns its path.
    fileprivate func write(_ text: String, _ name: String) throws -> String { try write(name, Data(text.utf8)).path }
}
