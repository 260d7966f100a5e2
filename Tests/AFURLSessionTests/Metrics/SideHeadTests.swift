extension MonitoringTests {
    /// What comes beside the head and the body of a response.
    @Suite("Interim responses, tunnels and trailers in metrics")
    struct SideHeads {
        private func entries(_ url: URL, in session: URLSession) async throws -> [URLSessionTaskTransactionMetrics] {
            let collector = TaskMetricsCollector()
            _ = try? await session.data(from: url, delegate: collector)
            return try #require(collector.metrics).transactionMetrics
        }

        @Test func `interim responses are listed with their fields, and trailers behind the body`() async throws {
            let server = try TestServer()
            server.script(
                .expectRequest,
                .send("HTTP/1.1 102 Thinking\r\n\r\nHTTP/1.1 103 \r\nLink: </a>; rel=preload\r\nX: 1\r\n\r\n"),
                .send("HTTP/1.1 200 Very Fine\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"),
                .send("2\r\nhi\r\n0\r\nX-Sum: 7\r\nx-two:  b \r\n\r\n"),
                .close
            )

            let entry = try #require(try await entries(server.url("/"), in: .loopback()).first)

            let interim = entry.informationalResponses
            #expect(interim.map(\.statusCode) == [102, 103] && interim.map(\.reasonPhrase) == ["Thinking", ""])
            #expect(interim.last?.headerFields.map { "\($0.name)=\($0.value)" } == ["Link=</a>; rel=preload", "X=1"])
            #expect(entry.trailerFields.map { "\($0.name)=\($0.value)" } == ["X-Sum=7", "x-two=b"])
            let response = try #require(entry.response as? HTTPURLResponse)
            #expect(response.httpVersion == "HTTP/1.1" && response.reasonPhrase == "Very Fine")
            #expect(entry.proxyResponse == nil)
        }

        @Test func `the version and the phrase are the server's`() async throws {
            let server = try TestServer()
            server.script(.expectRequest, .send("HTTP/1.0 404\r\nContent-Length: 0\r\n\r\n"), .close)

            let (_, response) = try await URLSession.loopback().data(from: server.url("/"))

            let http = try #require(response as? HTTPURLResponse)
            #expect(http.httpVersion == "HTTP/1.0" && http.reasonPhrase == "" && http.statusCode == 404)
        }

        @Test func `a proxy's answer about a tunnel belongs to the request that asked for the tunnel`() async throws {
            let server = try TestServer()
            let proxy = try TestProxy()
            defer {
                server.stop()
                proxy.stop()
            }
            server.route("GET", "/x", .text("x"))
            let session = URLSession.loopback { configuration in
                var proxies = try? ProxyConfiguration(ProxyServer("http://127.0.0.1:\(proxy.port)"))
                proxies?.tunnelsPlainHTTP = true
                proxies?.includesLoopback = true
                configuration.proxies = proxies
            }

            let first = try await entries(server.url("/x"), in: session)
            let second = try await entries(server.url("/x"), in: session)

            #expect(first.map(\.proxyResponse?.statusCode) == [200])
            #expect(second.map(\.proxyResponse) == [nil] && second.first?.isReusedConnection == true)
        }

        @Test func `so does the refusal of a proxy`() async throws {
            let proxy = try TestServer()
            proxy.script(
                .expectHead,
                .send("HTTP/1.1 403 Not you\r\nX-Why: rules\r\nContent-Length: 0\r\n\r\n"),
                .close
            )
            let session = URLSession.loopback { configuration in
                configuration.proxies = try? ProxyConfiguration(ProxyServer("http://127.0.0.1:\(proxy.port)"))
            }

            let url = try #require(URL(string: "https://a.test/"))
            let entry = try #require(try await entries(url, in: session).first)

            #expect(entry.proxyResponse?.statusCode == 403 && entry.proxyResponse?.reasonPhrase == "Not you")
            #expect(entry.proxyResponse?.value(forHTTPHeaderField: "X-Why") == "rules")
            #expect(entry.response == nil)
        }
    }
}
