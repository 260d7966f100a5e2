import AFNetworking
import AFURLSession
import Foundation
import Testing

/// How a WebSocket is opened, against the libraries websockets and aiohttp.
@Suite(.serialized, .enabled(if: !Talker.serving.isEmpty), .timeLimit(.minutes(1)))
struct WebSocketOpeningTests {
    typealias Message = URLSessionWebSocketTask.Message
    typealias Compression = WebSocketOptions.Compression

    private func failure(_ talk: Talk) async -> LoadFailure? {
        do {
            try await talk.task.open()
            return nil
        } catch {
            return (error as? URLError)?.loadFailure
        }
    }

    private func status(_ talk: Talk) -> Int? { (talk.task.response as? HTTPURLResponse)?.statusCode }

    // MARK: Subprotocols

    @Test(arguments: Talker.serving)
    func `the server chooses a subprotocol`(talker: Talker) async throws {
        let talk = try Talk(talker, "/echo?protocols=b,c", WebSocketOptions(protocols: ["a", "c", "b"]))

        let chosen = try await talk.task.open()
        try await talk.close()

        // The order of the server for the one, that of the client for the other.
        #expect(chosen == (talker == .websockets ? "b" : "c") && talk.task.subprotocol == chosen)
        #expect(try await talk.seen().subprotocol == chosen)
    }

    @Test(arguments: Talker.serving, ["/echo", "/echo?protocols=x"])
    func `the server chooses no subprotocol`(talker: Talker, path: String) async throws {
        let talk = try Talk(talker, path, WebSocketOptions(protocols: ["a", "b"]))

        #expect(try await talk.task.open() == nil && talk.task.subprotocol == nil)
        try await talk.close()

        #expect(try await talk.seen().subprotocol == nil)
    }

    // MARK: Compression

    /// What the client offers, and what the servers agree to.
    struct Offer: Sendable, CustomTestStringConvertible {
        var serverResets = false
        var clientResets = false
        var serverBits = 15
        var clientBits = 15
        /// What websockets insists on.
        var terms: String?
        let websockets: Set<String>
        var aiohttp: Set<String> = []

        var testDescription: String { "\(compression), \(terms ?? "no terms")" }

        static func made(to talker: Talker) -> [Offer] { all.filter { talker == .websockets || $0.terms == nil } }

        var compression: Compression {
            var compression = Compression()
            compression.serverNoContextTakeover = serverResets
            compression.clientNoContextTakeover = clientResets
            compression.serverMaxWindowBits = serverBits
            compression.clientMaxWindowBits = clientBits
            return compression
        }

        static let all = [
            Offer(websockets: []),
            Offer(
                serverResets: true,
                websockets: ["server_no_context_takeover"],
                aiohttp: ["server_no_context_takeover"]
            ),
            Offer(clientResets: true, websockets: ["client_no_context_takeover"]),
            Offer(serverBits: 10, websockets: ["server_max_window_bits=10"], aiohttp: ["server_max_window_bits=10"]),
            Offer(serverBits: 9, websockets: ["server_max_window_bits=9"], aiohttp: ["server_max_window_bits=9"]),
            Offer(clientBits: 10, websockets: ["client_max_window_bits=10"]),
            Offer(
                serverResets: true,
                clientResets: true,
                serverBits: 11,
                clientBits: 12,
                websockets: [
                    "server_no_context_takeover", "client_no_context_takeover", "server_max_window_bits=11",
                    "client_max_window_bits=12",
                ],
                aiohttp: ["server_no_context_takeover", "server_max_window_bits=11"]
            ),
            Offer(terms: "server_no_context_takeover", websockets: ["server_no_context_takeover"]),
            Offer(terms: "client_no_context_takeover", websockets: ["client_no_context_takeover"]),
            Offer(terms: "server_max_window_bits=12", websockets: ["server_max_window_bits=12"]),
            Offer(terms: "client_max_window_bits=9", websockets: ["client_max_window_bits=9"]),
            Offer(clientBits: 12, terms: "client_max_window_bits=10", websockets: ["client_max_window_bits=10"]),
            Offer(
                clientBits: 11,
                terms: "client_max_window_bits=13,client_no_context_takeover,server_max_window_bits=14",
                websockets: ["client_max_window_bits=11", "client_no_context_takeover", "server_max_window_bits=14"]
            ),
        ]
    }

    @Test(arguments: Talker.serving.flatMap { talker in Offer.made(to: talker).map { (talker, $0) } })
    func `parameters of compression are agreed on and kept to`(talker: Talker, offer: Offer) async throws {
        var options = WebSocketOptions()
        options.compression = offer.compression
        let talk = try Talk(talker, "/echo?deflate=\(offer.terms ?? "")", options)
        let messages = (1...6).map { _ in Message.text(of: 40_000) } + (1...6).map { _ in .bytes(of: 3000) }

        for message in messages {
            let isSame = try await talk.echo(message) == message
            #expect(isSame)
        }
        try await talk.close()

        let seen = try await talk.seen()
        var agreed = try #require(seen.extensions).split(separator: "; ").map(String.init)
        #expect(agreed.removeFirst() == "permessage-deflate")
        #expect(Set(agreed) == (talker == .websockets ? offer.websockets : offer.aiohttp))
        #expect(seen.messages == messages.map(\.name))
        let response = try #require(talk.task.response as? HTTPURLResponse)
        #expect(response.value(forHTTPHeaderField: "Sec-WebSocket-Extensions") == seen.extensions)
    }

    @Test(arguments: Talker.serving)
    func `what was said before helps to compress, as far as both sides allow`(talker: Talker) async throws {
        /// How many bytes go to and come from the server for the same 4,000 twice.
        func cost(_ change: (inout Compression) -> Void) async throws -> (sent: Int, received: Int) {
            var options = WebSocketOptions()
            change(&options.compression!)
            let relay = try RecordingRelay(to: try #require(talker.url("").port))
            let talk = try Talk(talker, "/echo", options, port: relay.port)
            let message = Message.bytes(of: 4000)
            for _ in 1...2 { #expect(try await talk.echo(message) == message) }
            try await talk.close()
            return (relay.captured.bytes.count, relay.returned)
        }
        // About 4,000 bytes for the first message, next to nothing for the second, and the heads.
        let (small, large) = (4000..<5500, 8000..<9500)

        let keeping = try await cost { _ in }
        #expect(small.contains(keeping.sent) && small.contains(keeping.received), "\(keeping)")
        let clientResets = try await cost { $0.clientNoContextTakeover = true }
        #expect(large.contains(clientResets.sent) && small.contains(clientResets.received), "\(clientResets)")
        let serverResets = try await cost { $0.serverNoContextTakeover = true }
        #expect(small.contains(serverResets.sent) && large.contains(serverResets.received), "\(serverResets)")
        let clientBits = try await cost { $0.clientMaxWindowBits = 9 }
        #expect(large.contains(clientBits.sent) && small.contains(clientBits.received), "\(clientBits)")
        let serverBits = try await cost { $0.serverMaxWindowBits = 9 }
        #expect(small.contains(serverBits.sent) && large.contains(serverBits.received), "\(serverBits)")
    }

    @Test(arguments: Talker.serving, [true, false])
    func `either side may do without compression`(talker: Talker, isOffered: Bool) async throws {
        var options = WebSocketOptions()
        if !isOffered { options.compression = nil }
        let talk = try Talk(talker, isOffered ? "/echo?deflate=no" : "/echo", options)

        #expect(try await talk.echo(.text(of: 1000)) == .text(of: 1000))
        try await talk.close()

        let seen = try await talk.seen()
        #expect(seen.extensions == nil && (seen.requests.first?.offered != nil) == isOffered)
    }

    // MARK: TLS and proxies

    @Test(arguments: Talker.serving)
    func `over TLS, with the anchors of the session`(talker: Talker) async throws {
        let tls = try Talker.anchors
        let talk = try Talk(talker, "/echo", on: .fresh { $0.tls = tls }, isSecured: true)

        for message in [Message.text(of: 100_000), .bytes(of: 100_000)] {
            let isSame = try await talk.echo(message) == message
            #expect(isSame)
        }
        try await talk.close(.goingAway, "bye")

        let seen = try await talk.seen()
        #expect(seen.messages == ["text 100000", "bytes 100000"] && seen.code == 1001 && seen.reason == "bye")
    }

    @Test(arguments: Talker.serving)
    func `over TLS, a server of a strange authority gets no request`(talker: Talker) async throws {
        let talk = try Talk(talker, "/echo", isSecured: true)

        let failure = await failure(talk)
        talk.task.cancel()

        #expect(failure?.reason == .trust)
    }

    @Test(arguments: Talker.serving, ProxyRoad.open)
    func `through a proxy, plain and over TLS`(talker: Talker, road: ProxyRoad) async throws {
        let tls = try Talker.anchors
        for isSecured in [false, true] {
            let talk = try Talk(talker, "/echo", on: road.session { $0.tls = tls }, isSecured: isSecured)

            for message in [Message.string("through"), .bytes(of: 70_000)] {
                let isSame = try await talk.echo(message) == message
                #expect(isSame)
            }
            try await talk.ping()
            try await talk.close(.goingAway, "bye")

            let seen = try await talk.seen()
            #expect(seen.messages == ["text 7", "bytes 70000"] && seen.pings.count == 1)
            #expect(seen.code == 1001 && seen.reason == "bye")
            #expect(try await talk.transactions().last?.isProxyConnection == true)
        }
    }

    // MARK: Requests

    @Test(arguments: Talker.serving)
    func `Basic authentication, asked for by the server`(talker: Talker) async throws {
        let credential = URLCredential(user: Server.user, password: Server.password, persistence: .none)
        let talk = try Talk(talker, "/echo?locked=1", as: credential)

        #expect(try await talk.echo(.string("let in")) == .string("let in"))
        try await talk.close()

        let seen = try await talk.seen()
        #expect(seen.requests.map { $0.authorization != nil } == [false, true] && seen.messages == ["text 6"])
        #expect(try await talk.statuses() == [401, 101])
    }

    @Test(arguments: Talker.serving)
    func `without the credential no WebSocket opens`(talker: Talker) async throws {
        let wrong = URLCredential(user: Server.user, password: "canary", persistence: .none)
        for credential in [nil, wrong] {
            let talk = try Talk(talker, "/echo?locked=1", as: credential)

            #expect(await failure(talk)?.detail == .upgrade && status(talk) == 401)
        }
    }

    @Test(arguments: Talker.serving)
    func `a redirect leads to the WebSocket`(talker: Talker) async throws {
        let talk = try Talk(talker, "/elsewhere?to=/echo", WebSocketOptions(protocols: ["a"]))

        #expect(try await talk.echo(.string("there")) == .string("there"))
        try await talk.close()

        let seen = try await talk.seen()
        let paths = seen.requests.map { $0.target.prefix { $0 != "?" } }
        #expect(paths == ["/elsewhere", "/echo"] && seen.messages == ["text 5"])
        #expect(talk.task.currentRequest?.url?.path == "/echo")
        #expect(try await talk.statuses() == [302, 101])
    }

    @Test(arguments: Talker.serving)
    func `a cookie of one WebSocket goes along with the next`(talker: Talker) async throws {
        let session = URLSession.fresh()
        let first = try Talk(talker, "/echo?give=visit%3Dyes", on: session)
        try await first.task.open()
        try await first.close()

        let second = try Talk(talker, "/echo?cookie=visit%3Dyes", on: session)
        #expect(try await second.echo(.string("known")) == .string("known"))
        try await second.close()
        let stranger = try Talk(talker, "/echo?cookie=visit%3Dyes")

        #expect(await failure(stranger)?.detail == .upgrade && status(stranger) == 403)
        let seen = try await (first.seen(), second.seen(), stranger.seen())
        #expect(seen.0.requests.map(\.cookie) == [nil] && seen.1.requests.map(\.cookie) == ["visit=yes"])
        #expect(seen.2.requests.map(\.cookie) == [nil])
    }

    @Test(arguments: Talker.serving, [400, 404, 426, 503])
    func `a refusal is the response of the task`(talker: Talker, code: Int) async throws {
        let talk = try Talk(talker, "/echo?refuse=\(code)")

        #expect(await failure(talk)?.detail == .upgrade && status(talk) == code)
        let response = try #require(talk.task.response as? HTTPURLResponse)
        #expect(response.value(forHTTPHeaderField: "X-Why") == "asked for")
        #expect(try await talk.seen().requests.count == 1)
    }
}
