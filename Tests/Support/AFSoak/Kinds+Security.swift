import AFNetworking
import Foundation

extension Kind {
    // MARK: - TLS

    private static let untrusted: Expectation = .code([
        URLError.serverCertificateHasUnknownRoot.rawValue, URLError.serverCertificateUntrusted.rawValue,
    ])

    static let secured = [
        getting("secured", "/hello", .text("hello"), on: \.secured),
        getting("secured, with a handshake each", "/bye", .text("bye"), on: \.secured),
        getting("secured, without resumption", "/bye", .text("bye"), on: \.secured) { configuration, stage in
            configuration.tls.resumesSessions = false
        },
        getting("the pins match", "/bye", .text("bye"), on: \.secured) { configuration, stage in
            configuration.tls = stage.pinned(to: stage.authority)
        },
        getting("no pin matches", "/hello", untrusted, on: \.secured) { configuration, stage in
            configuration.tls = stage.pinned(to: stage.foreignAuthority)
        },
        getting("the server is not trusted", "/hello", untrusted, on: \.impostor),
        getting("the handshake breaks", "/hello", .code([URLError.secureConnectionFailed.rawValue]), on: \.broken),
        loading("other pins from one to the next", .done, width: 1) { stage, session, number in
            session.tls = number % 2 == 0 ? stage.pinned(to: stage.authority) : stage.pinned(to: stage.foreignAuthority)
            let end = await session.end(of: stage.url("/hello", \.secured))
            let isRight = number % 2 == 0 ? end.data == Data("hello".utf8) : [-1202, -1203].contains(end.code)
            let isCancelled = end.code == URLError.cancelled.rawValue
            return isRight ? End() : isCancelled ? end : End(nil, nil, end.error ?? URLError(.unknown))
        },
    ]

    // MARK: - Proxies

    private static func through(
        _ name: String,
        _ kind: String,
        _ proxy: Port,
        _ target: Port,
        _ expects: Expectation
    ) -> Kind {
        getting(name, "/hello", expects, on: target) { configuration, stage in
            var proxies = ProxyConfiguration(
                try ProxyServer("\(kind)://127.0.0.1:\(stage.addresses[keyPath: proxy])")
            )
            proxies.includesLoopback = true
            configuration.proxies = proxies
        }
    }

    static let proxied = [
        through("through a proxy", "http", \.proxy, \.plain, .text("hello")),
        through("through a tunnel", "http", \.proxy, \.secured, .text("hello")),
        through("through SOCKS", "socks5", \.socks, \.secured, .text("hello")),
        through("the proxy wants a password", "http", \.strictProxy, \.plain, .status(407)),
        through("the proxy refuses a tunnel", "http", \.strictProxy, \.secured, .code([310, -1013, -1005, -1012])),
        through("there is no proxy", "http", \.closed, \.secured, .code([310, -1004])),
        through("SOCKS finds no server", "socks5", \.socks, \.closed, .code([310, -1004, -1005])),
    ]

    // MARK: - A server of others

    /// With nginx, if it runs: a part of a file.
    static func nginx(_ environment: [String: String]) -> [Kind] {
        guard let base = environment["AFNET_INTEROP_NGINX"].flatMap({ URL(string: $0) }),
            let folder = environment["AFNET_INTEROP_NGINX_FILES"],
            let file = try? Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent("1m"))
        else { return [] }
        return [
            loading("a part of a file of nginx", .done) { stage, session, number in
                let first = number % 1_000_000
                var request = URLRequest(url: base.appendingPathComponent("1m"))
                request.setValue("bytes=\(first)-\(first + 9999)", forHTTPHeaderField: "Range")
                let end = await session.end(of: request)
                let isRight = end.status == 206 && end.data == file[first..<first + 10_000]
                return isRight || end.error != nil ? end : End(nil, nil, URLError(.cannotParseResponse))
            }
        ]
    }
}
