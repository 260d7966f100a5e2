import AFLoop
import AFWire

@testable import AFTransport

extension ProxyTests {
    @Suite("Asking for a tunnel")
    struct Exchanges {
        enum End: Equatable {
            case waiting
            /// With so many bytes behind the answer.
            case established(surplus: Int = 0)
            case failed(String)
        }

        private func endpoint(_ url: String) throws -> Endpoint { try RequestURL(url).endpoint }

        private func route(_ url: String) throws -> ProxyRoute { ProxyRoute(server: try ProxyServer(url), number: 1) }

        /// Offers an answer in pieces and returns how the exchange ended, and what it sent.
        private func play(_ exchange: any TunnelExchange, _ pieces: [[UInt8]]) -> (end: End, sent: [[UInt8]]) {
            var exchange = exchange
            var sent = [exchange.begin()]
            for (index, piece) in pieces.enumerated() {
                switch piece.withUnsafeBytes({ exchange.receive($0) }) {
                case .needsMore: break
                case .send(let bytes): sent.append(bytes)
                case .established(let surplus):
                    return (.established(surplus: surplus + pieces[(index + 1)...].joined().count), sent)
                case .failed(let failure): return (.failed(failure.name), sent)
                }
            }
            return (.waiting, sent)
        }

        // MARK: - CONNECT

        @Test func `T-PRX-01 T-PRX-10 the request has the server's place and nothing of its requests`() throws {
            let fields = try TunnelFields(["X-Office": "7"])
            let server = try ProxyServer("http://me:secret@proxy.test")
            var agent = HTTPHeaders()
            agent.append("User-Agent", value: "t/1")
            let route = ProxyRoute(server: server, number: 1, tunnelFields: fields, agent: agent)

            for (url, place) in [
                ("https://api.test/path?q#f", "api.test:443"), ("https://user:pw@api.test:8443/", "api.test:8443"),
                ("https://[2001:DB8::1]/", "[2001:db8::1]:443"), ("http://192.0.2.1/", "192.0.2.1:80"),
                ("https://API.test./", "api.test.:443"),
            ] {
                let (_, sent) = play(ConnectExchange(to: try endpoint(url), by: route), [])
                #expect(
                    String(decoding: sent[0], as: UTF8.self) == """
                        CONNECT \(place) HTTP/1.1\r
                        Host: \(place)\r
                        Proxy-Authorization: Basic bWU6c2VjcmV0\r
                        User-Agent: t/1\r
                        X-Office: 7\r
                        \r

                        """
                )
            }
        }

        @Test func `T-PRX-01 of a request's head a tunnel takes the User-Agent, and nothing else`() throws {
            var usual = HTTPHeaders()
            usual.append("User-Agent", value: "session/1")
            func sent(
                _ fields: [String: String],
                _ asked: HTTPHeaders,
                at url: String = "http://proxy.test"
            ) throws -> String {
                let route = ProxyRoute(
                    server: try ProxyServer(url),
                    number: 1,
                    tunnelFields: try TunnelFields(fields),
                    agent: usual
                ).naming(agentOf: asked)
                var all = route.agent
                all.append(contentsOf: route.proxy.tunnelFields.fields)
                return all.withBytes { String(decoding: $0, as: UTF8.self) }
            }
            var fields = HTTPHeaders()
            for (name, value) in [("Cookie", "User-Agent: no"), ("user-AGENT", "own/1"), ("X", "y")] {
                fields.append(name, value: value)
            }
            var others = HTTPHeaders()
            others.append("X-User-Agent", value: "no")

            #expect(try sent([:], fields) == "user-AGENT: own/1\r\n")
            #expect(try sent([:], others) == "")
            #expect(try sent(["user-agent": "office/1"], fields) == "user-agent: office/1\r\n")
            #expect(try sent([:], fields, at: "socks5://proxy.test") == "User-Agent: session/1\r\n")
            let route = ProxyRoute(server: try ProxyServer("http://proxy.test"), number: 1)
            let named = route.naming(agentOf: fields)
            #expect(named != route && named == route.naming(agentOf: fields))
            #expect(named.naming(agentOf: fields) === named)
            let authorized = named.authorized(by: "Basic YTpi")
            #expect(authorized.agent == named.agent && authorized.authorization == "Basic YTpi")
            #expect(authorized.naming(agentOf: HTTPHeaders()).authorization == "Basic YTpi")
        }

        private static let answers: [(String, End)] = [
            ("HTTP/1.1 200 OK\r\n\r\n", .established()),
            ("HTTP/1.0 200 Connection established\r\n\r\n", .established()),
            ("HTTP/1.1 204 No Content\r\n\r\n", .established()),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", .established()),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .established()),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .established()),
            ("HTTP/1.1 200 OK\r\n", .waiting),
            ("HTTP/1.1 100 Continue\r\n\r\n", .waiting),
            ("HTTP/1.1 200 OK\r\n\r\nH", .established(surplus: 1)),
            (
                "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
                .established(surplus: 42)
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", .established(surplus: 5)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .established(surplus: 5)),
            ("HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\n\r\n", .failed("refused 302")),
            ("HTTP/1.1 407 No\r\nContent-Length: 99999\r\n\r\nbody", .failed("refused 407")),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", .failed("malformed")),
            ("<html>hello", .failed("malformed")),
            ("HTTP/2 200\r\n\r\n", .failed("malformed")),
            ("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", .failed("malformed")),
            ("\r\nHTTP/1.1 200 OK\r\n\r\n", .failed("malformed")),
        ]

        @Test("T-PRX-04 T-PRX-06 an answer is read strictly, in whatever pieces", arguments: answers)
        func connect(answer: String, end: End) throws {
            let exchange = ConnectExchange(to: try endpoint("https://api.test/"), by: try route("http://proxy.test"))
            let bytes = Array(answer.utf8)

            #expect(play(exchange, [bytes]).end == end)
            for cut in 1..<bytes.count {
                #expect(play(exchange, [Array(bytes[..<cut]), Array(bytes[cut...])]).end == end, "cut at \(cut)")
            }
            #expect(play(exchange, bytes.map { [$0] }).end == end)
        }

        @Test func `T-PRX-06 a head of more than 16 KiB is refused, in one field, in many, or in interim answers`()
            throws
        {
            let exchange = ConnectExchange(to: try endpoint("https://api.test/"), by: try route("http://proxy.test"))
            let many = String(repeating: "X-Filler: 0123456789\r\n", count: 1000)
            let interim = String(
                repeating: "HTTP/1.1 102 Processing\r\nX: \(String(repeating: "y", count: 2000))\r\n\r\n",
                count: 12
            )
            let answers = [
                "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 17_000))",
                "HTTP/1.1 200 OK\r\n\(many)",
                interim,
                String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 17),
            ]
            for answer in answers {
                #expect(play(exchange, [Array(answer.utf8)]).end == .failed("malformed"))
                #expect(play(exchange, Array(answer.utf8).map { [$0] }).end == .failed("malformed"))
            }
        }

        // MARK: - SOCKS

        private func socks(_ url: String = "http://api.test/", login: String? = nil) throws -> SOCKS5Exchange {
            let endpoint = try endpoint(url)
            let login = login.flatMap { SOCKS5Login(user: $0, password: "pw") }
            return SOCKS5Exchange(to: SOCKS5Destination(endpoint.host), port: endpoint.port, login: login)
        }

        @Test func `T-SOX-07 names and addresses are sent in their own forms`() throws {
            let name = String(repeating: "a.", count: 125) + "abc"
            for (url, bytes) in [
                ("http://api.test/", [3, 8] + Array("api.test".utf8) + [0, 80]),
                ("https://192.0.2.1:8443/", [1, 192, 0, 2, 1, 0x20, 0xFB]),
                ("https://[2001:db8::1]/", [4, 0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [1, 1, 187]),
                (
                    "http://[::ffff:192.0.2.1]/",
                    [4] + [UInt8](repeating: 0, count: 10) + [255, 255, 192, 0, 2, 1, 0, 80]
                ),
                ("http://\(name)/", [3, 253] + Array(name.utf8) + [0, 80]),
            ] as [(String, [UInt8])] {
                let (end, sent) = play(try socks(url), [[5, 0]])
                #expect(end == .waiting && sent == [[5, 1, 0], [5, 1, 0] + bytes], "\(url)")
            }
            for (text, bytes) in [
                ("192.0.2.7", [1, 192, 0, 2, 7]),
                ("2001:db8::7", [4, 0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [7]),
            ] as [(String, [UInt8])] {
                let address = try #require(SocketAddress(ipv4: text, port: 1) ?? SocketAddress(ipv6: text, port: 1))
                #expect(SOCKS5Destination(address)?.bytes == bytes)
            }
            #expect(SOCKS5Destination(try #require(SocketAddress(unixPath: "/x"))) == nil)
        }

        @Test func `T-SOX-02 the login is sent when it is asked for, and never otherwise`() throws {
            #expect(play(try socks(), [[5, 0]]).sent[0] == [5, 1, 0])
            let (_, unasked) = play(try socks(login: "me"), [[5, 0]])
            #expect(unasked[0] == [5, 2, 0, 2] && unasked[1].starts(with: [5, 1, 0, 3]))
            let (end, asked) = play(try socks(login: "me"), [[5, 2], [1, 0], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]])
            #expect(end == .established() && asked[1] == [1, 2] + Array("me".utf8) + [2] + Array("pw".utf8))
            #expect(asked.count == 3)
        }

        private static let granted: [UInt8] = [5, 0, 0, 1, 192, 0, 2, 9, 4, 56]

        private static let replies: [([UInt8], End)] = [
            (granted, .established()),
            ([5, 0, 0, 3, 3, 97, 98, 99, 4, 56], .established()),
            ([5, 0, 0, 3, 0, 4, 56], .established()),
            ([5, 0, 0, 4] + [UInt8](repeating: 7, count: 18), .established()),
            ([5, 0, 0, 1, 0, 0, 0, 0, 0], .waiting),
            (granted + [72], .established(surplus: 1)),
            ([5, 0, 0, 3, 3, 97, 98, 99, 4, 56, 5, 0], .established(surplus: 2)),
            ([5, 0, 0, 4] + [UInt8](repeating: 7, count: 300), .established(surplus: 282)),
            ([5, 1], .failed("reply 1")), ([5, 2, 0, 1, 0, 0, 0, 0, 0, 0], .failed("reply 2")),
            ([5, 5], .failed("reply 5")), ([5, 9], .failed("reply 9")), ([5, 255], .failed("reply 255")),
            ([4, 0], .failed("violation")), ([0, 90], .failed("violation")),
            (Array("HTTP/1.1 400".utf8), .failed("violation")),
            ([5, 0, 0, 2, 0], .failed("violation")), ([5, 0, 0, 0, 0], .failed("violation")),
        ]

        @Test("T-SOX-03 T-SOX-04 a reply is read strictly, in whatever pieces", arguments: replies)
        func reply(bytes: [UInt8], end: End) throws {
            #expect(play(try socks(), [[5, 0], bytes]).end == end)
            for cut in 1..<bytes.count {
                let pieces = [[5, 0], Array(bytes[..<cut]), Array(bytes[cut...])]
                #expect(play(try socks(), pieces).end == end, "cut at \(cut)")
            }
        }

        private static let greetings: [([[UInt8]], String)] = [
            ([[5, 2]], "violation"),  // without a login it was not offered
            ([[5, 1]], "violation"), ([[5, 3]], "violation"), ([[5, 128]], "violation"), ([[5, 255]], "no method"),
            ([[4]], "violation"), ([[0]], "violation"), ([[72]], "violation"), ([[5, 0, 0]], "surplus"),
        ]

        @Test("T-SOX-06 only what was offered may be chosen", arguments: greetings)
        func greeting(pieces: [[UInt8]], end: String) throws {
            #expect(play(try socks(), pieces).end == .failed(end))
        }

        @Test(
            arguments: [
                ([[1, 1]], "login"), ([[1, 255]], "login"), ([[5, 0]], "violation"), ([[0, 0]], "violation"),
                ([[1, 0, 5]], "surplus"),
            ] as [([[UInt8]], String)]
        )
        func `T-SOX-02 T-SOX-06 an answer to the login is one of two`(pieces: [[UInt8]], end: String) throws {
            #expect(play(try socks(login: "me"), [[5, 2]] + pieces).end == .failed(end))
        }

        // MARK: - Both

        private final class Hearer: ProxyTunnelClient {
            var end: End?

            var serverMaySpeakFirst: Bool { true }

            func tunnelEstablished(_ tunnel: ProxyTunnel, channel: any ByteChannel) { end = .established() }

            func tunnelFailed(_ tunnel: ProxyTunnel, failure: TunnelFailure) {
                end = .failed(failure.name)
            }
        }

        @Test(
            arguments: [
                (Array("HTTP/1.1 200 OK\r\n\r\n".utf8), false), ([5, 0], true), ([], false), ([], true),
            ] as [([UInt8], Bool)]
        )
        func `T-PRX-04 bytes of a proxy before it was asked are no answer`(early: [UInt8], isSOCKS: Bool) throws {
            let connect = ConnectExchange(to: try endpoint("https://api.test/"), by: try route("http://proxy.test"))
            let exchange: any TunnelExchange = isSOCKS ? try socks() : connect
            let channel = try ScriptedChannel()
            channel.reads = early.isEmpty ? [] : [.bytes(early)]
            let hearer = Hearer()
            let tunnel = ProxyTunnel(channel: channel, exchange: exchange, buffer: ReadBuffer(), client: hearer)

            tunnel.start(try Departure.free())

            #expect(hearer.end == (early.isEmpty ? nil : .failed("surplus")))
            #expect(channel.written.isEmpty == !early.isEmpty && channel.isClosed == !early.isEmpty)
            tunnel.cancel()
        }

        @Test("T-SOX-03 T-PRX-06 random bytes never trap, and grant nothing by chance", arguments: 1...20)
        func random(seed: Int) throws {
            var random = SystemRandomNumberGenerator()
            let connect = ConnectExchange(to: try endpoint("https://api.test/"), by: try route("http://proxy.test"))
            let starts: [[UInt8]] = [[], [5], [5, 0], [5, 0, 5, 0, 0], Array("HTTP/1.1 200 OK\r\n".utf8)]
            for _ in 0..<200 {
                let tail = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                let bytes = (starts.randomElement(using: &random) ?? []) + tail
                let cut = Int.random(in: 0...bytes.count, using: &random)
                let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
                if case .established = play(connect, pieces).end { #expect(bytes.starts(with: Array("HTTP/1.".utf8))) }
                _ = play(try socks(), pieces)
                _ = play(try socks(login: "me"), pieces)
                _ = play(try socks(login: "me"), [[5, 2]] + pieces)
            }
        }

        @Test func `a route with other credentials is another one, and the same in all else`() throws {
            let plain = try route("http://proxy.test:3128")
            let known = plain.authorized(by: "Digest username=\"me\"")

            #expect(plain != known && known == plain.authorized(by: "Digest username=\"me\""))
            #expect(known.authorization == "Digest username=\"me\"" && known.endpoint == plain.endpoint)
            #expect(!known.text.contains("Digest"))
            let socks = try route("socks5://me:pw@proxy.test")
            #expect(socks.authorized(by: "Digest x") == socks)
        }

        @Test func `T-PRX-08 a connection is shared by one way to one server only`() throws {
            var keys: Set<ConnectionKey> = []
            let proxies = [
                "http://p.test", "http://q.test", "http://p.test:81", "https://p.test", "socks5h://p.test",
                "socks5://p.test",
            ]
            for url in ["http://a.test/", "http://b.test/", "https://a.test/", "http://a.test:81/"] {
                keys.insert(ConnectionKey(endpoint: try endpoint(url), unixPath: nil, security: nil))
                for proxy in proxies {
                    for user in ["", "me:1@", "me:2@", "you:1@"] {
                        let route = try route(proxy.replacing("://", with: "://\(user)"))
                        let key = ConnectionKey(endpoint: try endpoint(url), unixPath: nil, security: nil, route: route)
                        #expect(keys.insert(key).inserted, "\(url) \(proxy) \(user)")
                        #expect(key.place == key)
                    }
                }
            }
            #expect(keys.count == 4 * (1 + 6 * 4))
        }
    }
}
