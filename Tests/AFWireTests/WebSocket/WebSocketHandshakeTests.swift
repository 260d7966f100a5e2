import Testing

@testable import AFWire

/// What a client asks for, and which answers it takes (RFC 6455 §4.1, RFC 7692 §7.1).
struct WebSocketHandshakeTests {
    private let accept = Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8)

    private func fields(_ changes: [String: String] = [:]) -> HTTPHeaders {
        var fields = HTTPHeaders()
        let usual = [
            "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Accept": String(decoding: accept, as: UTF8.self),
        ]
        for (name, value) in usual.merging(changes, uniquingKeysWith: { $1 }) where value != "-" {
            fields.append(name, value: value)
        }
        return fields
    }

    /// What both sides agree on, or what is wrong.
    private func answer(_ handshake: WebSocketHandshake, _ changes: [String: String]) -> String {
        do throws(WebSocketHandshake.Flaw) {
            let agreed = try handshake.agreement(in: fields(changes), accept: accept)
            let compression = agreed.compression.map { compression in
                "\(compression.serverResetsContext) \(compression.clientResetsContext) "
                    + "\(compression.serverWindowBits) \(compression.clientWindowBits)"
            }
            return [agreed.subprotocol, compression].compactMap(\.self).joined(separator: " ")
        } catch {
            switch error {
            case .upgrade: return "upgrade"
            case .connection: return "connection"
            case .accept: return "accept"
            case .subprotocol: return "subprotocol"
            case .extensions: return "extensions"
            }
        }
    }

    @Test(
        arguments: [
            (["Upgrade": "WebSocket", "Connection": "keep-alive, UPGRADE"], ""), (["Upgrade": "-"], "upgrade"),
            (["Upgrade": "h2c"], "upgrade"), (["Connection": "-"], "connection"),
            (["Connection": "close"], "connection"),
            (["Sec-WebSocket-Accept": "-"], "accept"),
            (["Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOO="], "accept"),
            (["Sec-WebSocket-Protocol": "b"], "b"), (["Sec-WebSocket-Protocol": "B"], "subprotocol"),
            (["Sec-WebSocket-Protocol": "a, b"], "subprotocol"), (["Sec-WebSocket-Extensions": ""], ""),
            (["Sec-WebSocket-Extensions": "permessage-deflate"], "extensions"),
        ] as [([String: String], String)]
    )
    func `T-WSS-02 T-WSS-03 an answer has to fit what was asked`(changes: [String: String], expected: String) {
        #expect(answer(WebSocketHandshake(subprotocols: ["a", "b"]), changes) == expected)
    }

    @Test(arguments: [
        ("permessage-deflate", "false false 15 15"),
        ("Permessage-Deflate ; server_no_context_takeover", "true false 15 15"),
        ("permessage-deflate; client_no_context_takeover", "false true 15 15"),
        ("permessage-deflate; server_max_window_bits=10", "false false 10 15"),
        ("permessage-deflate; client_max_window_bits=\"8\"", "false false 15 8"), ("permessage-deflate;", "extensions"),
        ("permessage-deflate; client_max_window_bits", "extensions"),
        ("permessage-deflate; server_max_window_bits=7", "extensions"),
        ("permessage-deflate; server_max_window_bits=16", "extensions"),
        ("permessage-deflate; server_max_window_bits=08", "extensions"),
        ("permessage-deflate; server_no_context_takeover=1", "extensions"), ("permessage-deflate; other", "extensions"),
        ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", "extensions"),
        ("permessage-deflate; server_max_window_bits=15; client_max_window_bits=15", "false false 15 15"),
        (" ,, permessage-deflate , ", "false false 15 15"), ("permessage-deflate, permessage-deflate", "extensions"),
        ("x-other", "extensions"),
        ("permessage-deflate; server_max_window_bits=10 x", "extensions"),
        ("permessage-deflate; server_max_window_bits=18446744073709551615", "extensions"),
    ])
    func `T-WSS-03 parameters of the compression are read strictly`(value: String, expected: String) {
        let handshake = WebSocketHandshake(compression: WebSocketCompression())
        #expect(answer(handshake, ["Sec-WebSocket-Extensions": value]) == expected)
    }

    @Test func `a server that ignores what was offered is refused`() {
        let offered = WebSocketCompression(
            serverResetsContext: true,
            clientResetsContext: true,
            serverWindowBits: 10,
            clientWindowBits: 11
        )
        let handshake = WebSocketHandshake(compression: offered)
        let good = "permessage-deflate; server_no_context_takeover; server_max_window_bits=10"
        for (value, expected) in [
            (good, "true true 10 11"), ("\(good); client_max_window_bits=9", "true true 10 9"),
            ("\(good); client_max_window_bits=12", "extensions"), ("permessage-deflate", "extensions"),
            ("permessage-deflate; server_no_context_takeover", "extensions"),
            ("permessage-deflate; server_max_window_bits=10", "extensions"),
            ("permessage-deflate; server_no_context_takeover; server_max_window_bits=11", "extensions"),
        ] {
            #expect(answer(handshake, ["Sec-WebSocket-Extensions": value]) == expected, "\(value)")
        }
    }

    @Test func `T-WSS-02 two fields with a subprotocol are refused`() {
        var fields = fields(["Sec-WebSocket-Protocol": "a"])
        fields.append("Sec-WebSocket-Protocol", value: "a")
        let handshake = WebSocketHandshake(subprotocols: ["a"])
        #expect(throws: WebSocketHandshake.Flaw.self) { try handshake.agreement(in: fields, accept: accept) }
    }

    // MARK: - The request

    @Test func `a request asks for what its session wants`() {
        func fields(_ handshake: WebSocketHandshake) -> [String] {
            handshake.fields(key: "dGhlIHNhbXBsZSBub25jZQ==").fields.map { "\($0.name): \($0.value)" }
        }
        let always = [
            "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        #expect(fields(WebSocketHandshake()) == always)
        let whole = WebSocketHandshake(subprotocols: ["a", "b"], compression: WebSocketCompression())
        let offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
        #expect(fields(whole) == always + ["Sec-WebSocket-Protocol: a, b", offer])
    }

    @Test(arguments: [
        (WebSocketCompression(), ""), (WebSocketCompression(clientWindowBits: 14), "=14"),
        (WebSocketCompression(serverWindowBits: 14), "; server_max_window_bits=14"),
        (WebSocketCompression(clientResetsContext: true), "; client_no_context_takeover"),
        (WebSocketCompression(serverResetsContext: true), "; server_no_context_takeover"),
    ])
    func `an offer names what differs from the standard`(compression: WebSocketCompression, difference: String) {
        #expect(compression.offer == "permessage-deflate; client_max_window_bits\(difference)")
    }

    @Test(
        arguments: [
            ([], nil), (["a", "b.c-1"], nil), (["a", ""], ""), (["a b"], "a b"), (["a", "a"], "a"), (["a,b"], "a,b"),
            (["ä"], "ä"), (["a", "A"], nil), (["a", "b", "c\r\n"], "c\r\n"),
        ] as [([String], String?)]
    )
    func `a subprotocol is a token, and stands there once`(names: [String], unusable: String?) {
        #expect(WebSocketHandshake(subprotocols: names).unusableSubprotocol == unusable)
    }

    @Test func `handshakes are equal if they ask for the same`() {
        let one = WebSocketHandshake(subprotocols: ["a"], compression: WebSocketCompression())
        let same = WebSocketHandshake(subprotocols: ["a"], compression: WebSocketCompression())
        #expect(one == same && one.hashValue == same.hashValue)
        let others = [
            WebSocketHandshake(subprotocols: ["b"], compression: WebSocketCompression()),
            WebSocketHandshake(subprotocols: ["a"]),
            WebSocketHandshake(subprotocols: ["a"], compression: WebSocketCompression(serverWindowBits: 9)),
        ]
        for other in others { #expect(other != one && other.hashValue != one.hashValue) }
    }

    @Test(arguments: [
        ("ws://a/b", "http://a/b"), ("WSS://a", "https://a"), ("wss:", "https:"), ("http://ws://", "http://ws://"),
        ("wsx://a", "wsx://a"), ("", ""), ("//ws/", "//ws/"),
    ])
    func `ws and wss stand for http and https`(text: String, expected: String) {
        #expect(RequestURL.httpText(ofWebSocket: text).lowercased() == expected)
        let bytes = Array("\(text)/".utf8) + [0xFF]
        #expect(bytes.withUnsafeBytes { RequestURL.httpBytes(ofWebSocket: $0) }.suffix(2) == [0x2F, 0xFF])
    }
}
