import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Scenario {
    /// Requests by way of another machine.
    static let proxy = forwarding + tunnels + proxyRefusals

    /// A session that goes through a proxy to whatever it loads.
    private static func session(
        _ stage: Stage,
        _ proxy: TestProxy,
        user: String = "",
        again: URL?,
        _ configure: (URLSessionConfiguration, inout ProxyConfiguration) throws -> Void = { _, _ in }
    ) throws -> URLSession {
        let scheme = proxy.url.scheme ?? "http"
        var proxies = ProxyConfiguration(try ProxyServer("\(scheme)://\(user)127.0.0.1:\(proxy.port)"))
        proxies.includesLoopback = true
        proxies.all?.tls = try Stage.trust
        let tls = try Stage.trust
        var mistake: (any Error)?
        let session = stage.session(again: again) { configuration in
            configuration.tls = tls
            do { try configure(configuration, &proxies) } catch { mistake = error }
            configuration.proxies = proxies
        }
        if let mistake { throw mistake }
        return session
    }

    private static func hello(_ server: TestServer) {
        server.route("GET", "/hello", .text("hello"))
        server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
    }

    private static let forwarding: [Scenario] = [
        Scenario(.proxy, "forwarded") { stage in
            let server = try stage.server(hello)
            let session = try session(stage, try stage.proxy(), again: server.url("/again"))
            for _ in 1...2 { await stage.load(server.url("/hello"), in: session, expecting: "hello") }
        },
        Scenario(.proxy, "basic") { stage in
            let server = try stage.server(hello)
            let proxy = try stage.proxy()
            let secret = stage.secret("password", for: proxy.server)
            proxy.rules.authentication = .password(user: "me", password: secret)
            let session = try session(stage, proxy, user: "me:\(secret)@", again: server.url("/again"))
            for _ in 1...2 { await stage.load(server.url("/hello"), in: session, expecting: "hello") }
        },
        Scenario(.proxy, "digest") { stage in
            let server = try stage.server(hello)
            let proxy = try stage.proxy()
            let secret = stage.secret("password", for: proxy.server)
            proxy.rules.authentication = .digest(DigestRules(user: "me", password: secret))
            let session = try session(stage, proxy, user: "me:\(secret)@", again: server.url("/again"))
            for _ in 1...2 { await stage.load(server.url("/hello"), in: session, orRefusal: 407, expecting: "hello") }
        },
        Scenario(.proxy, "upload") { stage in
            let server = try stage.server { $0.route("POST", "/echo") { .data($0.body) } }
            let session = try session(stage, try stage.proxy(), again: server.url("/again"))
            let text = String(repeating: "0123456789", count: 500)
            var request = URLRequest(url: server.url("/echo"))
            request.httpMethod = "POST"
            request.httpBody = Data(text.utf8)
            await stage.load(request, in: session, expecting: text)
        },
        Scenario(.proxy, "exception") { stage in
            let server = try stage.server(hello)
            let proxy = try stage.proxy()
            let session = try session(stage, proxy, again: server.url("/again")) { _, proxies in
                proxies.exceptions = ProxyExceptions(noProxy: "127.0.0.1")
            }
            await stage.load(server.url("/hello"), in: session, expecting: "hello")
            stage.demand(proxy.server.acceptedConnections == 0, "the proxy was asked")
        },
    ]

    private static let tunnels: [Scenario] = [
        Scenario(.proxy, "tunnel") { stage in
            let server = try stage.securedServer({ _ in }, hello)
            let proxy = try stage.proxy()
            let secret = stage.secret("token", for: server)
            let session = try session(stage, proxy, again: server.url("/again"))
            var request = URLRequest(url: server.url("/hello"))
            request.setValue(secret, forHTTPHeaderField: "Authorization")
            for _ in 1...2 { await stage.load(request, in: session, expecting: "hello") }
        },
        Scenario(.proxy, "tunnel-basic") { stage in
            let server = try stage.securedServer({ _ in }, hello)
            let proxy = try stage.proxy()
            let secret = stage.secret("password", for: proxy.server)
            proxy.rules.authentication = .password(user: "me", password: secret)
            let session = try session(stage, proxy, user: "me:\(secret)@", again: server.url("/again"))
            await stage.load(server.url("/bye"), in: session, expecting: "bye")
            await stage.load(server.url("/hello"), in: session, expecting: "hello")
        },
        Scenario(.proxy, "socks") { stage in
            let server = try stage.server(hello)
            let session = try session(stage, try stage.proxy(.socks5), again: server.url("/again"))
            await stage.load(server.url("/bye"), in: session, expecting: "bye")
            await stage.load(server.url("/hello"), in: session, expecting: "hello")
        },
        Scenario(.proxy, "socks-password") { stage in
            let server = try stage.securedServer({ _ in }, hello)
            let proxy = try stage.proxy(.socks5)
            let secret = stage.secret("password", for: proxy.server)
            proxy.rules.authentication = .password(user: "me", password: secret)
            let session = try session(stage, proxy, user: "me:\(secret)@", again: server.url("/again"))
            await stage.load(server.url("/hello"), in: session, expecting: "hello")
        },
        Scenario(.proxy, "tls-in-tls") { stage in
            let server = try stage.securedServer({ _ in }, hello)
            let proxy = try stage.proxy(tls: ServerTLS(try Stage.site))
            let session = try session(stage, proxy, again: server.url("/again"))
            for _ in 1...2 { await stage.load(server.url("/hello"), in: session, expecting: "hello") }
        },
    ]

    private static let proxyRefusals: [Scenario] = [
        Scenario(.proxy, "refused") { stage in
            let server = try stage.securedServer({ _ in }, hello)
            let proxy = try stage.proxy()
            proxy.enqueue(.answering(.status(502)))
            let session = try session(stage, proxy, again: server.url("/again"))
            await stage.refusal("a tunnel that is refused", codes: [-1004, -1005, 310, 311, 306]) {
                try await session.data(from: server.url("/hello"))
            }
            await stage.load(server.url("/hello"), in: session, expecting: "hello")
        },
        // The server behind the proxy is not the one that the session trusts.
        Scenario(.proxy, "impostor") { stage in
            let server = try stage.securedServer({ $0 = ServerTLS(try Stage.foreign) }, hello)
            let session = try session(stage, try stage.proxy(), again: nil)
            var request = URLRequest(url: server.url("/hello"))
            request.setValue(stage.secret("token"), forHTTPHeaderField: "Authorization")
            await stage.refusal("an impostor", codes: [-1202, -1203]) { try await session.data(for: request) }
        },
    ]
}
