import AFTLS

extension ProxyTests {
    /// Proxies behind real sockets.
    @Suite("Proxies on the loopback interface")
    struct Loopback {
        private func configuration(
            _ scheme: String,
            _ proxy: TestServer,
            user: String = ""
        ) throws -> ProxyConfiguration {
            var proxies = ProxyConfiguration(try ProxyServer("\(scheme)://\(user)127.0.0.1:\(proxy.port)"))
            proxies.includesLoopback = true
            return proxies
        }

        @Test func `T-PRX-02 a proxy reads plain requests, and the server is never connected to`() async throws {
            let server = try TestServer()
            let proxy = try TestServer()
            proxy.script(.expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy"), .expectEnd)
            let proxies = try configuration("http", proxy, user: "me:secret@")

            let outcome = try await URLSession.loopback { $0.proxies = proxies }.outcome(of: server.url("/path?q"))

            #expect(outcome.text == "proxy", "\(outcome)")
            #expect(outcome.response?.url == server.url("/path?q"))
            let request = try #require(proxy.requests.first)
            #expect(request.target == server.url("/path?q").absoluteString)
            #expect(request.headers["Proxy-Authorization"] == "Basic bWU6c2VjcmV0")
            #expect(server.acceptedConnections == 0)
        }

        @Test(
            "T-TLS-30 an impostor that ends TLS in the proxy gets no byte of a request",
            arguments: TLSVersion.allCases
        )
        func impostor(version: TLSVersion) async throws {
            let authority = try CertificateAuthority()
            let genuine = try authority.issue(for: "127.0.0.1")
            let forged = try authority.issue(for: "127.0.0.1")
            let pin = genuine.certificate.pin
            var tls = TLSConfiguration()
            tls.anchors = .certificates([authority.certificate])
            tls.speak(version)
            tls.evaluator = FixedEvaluator([7]) { trust in
                trust.evaluation.isTrusted && trust.servedChain.first?.pin == pin
                    ? .accept : .reject(rule: "pins", explanation: "no pin matches")
            }
            for (shown, isGenuine) in [(genuine, true), (forged, false)] {
                let proxy = try TestServer()
                proxy.route("GET", "/secret", .text("hello"))
                proxy.script(.expectHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .handshake(ServerTLS(shown)), .serve)
                let proxies = try configuration("http", proxy)
                let session = URLSession.loopback { [tls] in
                    $0.proxies = proxies
                    $0.tls = tls
                }
                let url = try #require(URL(string: "https://127.0.0.1:9/secret"))

                let outcome = try await session.outcome(
                    of: URLRequest("GET", url, fields: ["Authorization": "canary"])
                )

                #expect((outcome.text == "hello") == isGenuine, "\(outcome)")
                if !isGenuine { #expect(outcome.code == -1202 && outcome.reason == .trust) }
                session.invalidateAndCancel()
                let connection = try #require(try await proxy.waitUntilIdle().first)
                let received = String(decoding: connection.received, as: UTF8.self)
                #expect(received.hasPrefix("CONNECT 127.0.0.1:9 HTTP/1.1\r\n"))
                #expect(received.contains("canary") == isGenuine)
                #expect(received.contains("secret") == isGenuine)
            }
        }

        @Test("T-TLS-78 a proxy that asks is not shown what is for servers", arguments: TLSVersion.allCases)
        func identity(version: TLSVersion) async throws {
            let authority = try CertificateAuthority()
            var serving = ServerTLS(try authority.issue(for: "127.0.0.1"))
            serving.clientCertificates = .requested
            let proxy = try TestServer(tls: serving)
            proxy.script(.expectHead, .send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"))
            var proxies = try configuration("https", proxy)
            proxies.all?.tls.anchors = .certificates([authority.certificate])
            proxies.all?.tls.speak(version)
            var tls = TLSConfiguration()
            tls.identity = try ClientIdentity(try authority.issueClient("me"))
            let asked = TrustDelegate { _ in (.performDefaultHandling, nil) }
            let session = URLSession.loopback(delegate: asked) { [proxies, tls] in
                $0.proxies = proxies
                $0.tls = tls
            }

            let outcome = try await session.outcome(of: try #require(URL(string: "https://127.0.0.1:9/")))

            #expect(outcome.reason == .proxy && outcome.detail == .refused, "\(outcome)")
            let handshake = try #require(proxy.connections.first?.tls)
            #expect(handshake.isComplete && handshake.clientCertificates.isEmpty)
            // Neither about the proxy's certificate nor about ours.
            #expect(asked.methods.value.isEmpty)
        }

        @Test func `T-PRX-11 a proxy that refuses the connection is the end of it`() async throws {
            let server = try TestServer()
            let proxy = try TestServer()
            let proxies = try configuration("http", proxy)
            proxy.stop()

            let outcome = try await URLSession.loopback { $0.proxies = proxies }.outcome(of: server.url())

            #expect(outcome.code == -1004 && outcome.detail == .connect, "\(outcome)")
            #expect(server.acceptedConnections == 0)
        }
    }
}
