import AFNetworking
import AFNetworkingTesting
import AFSecurity
import Foundation
import Testing

/// The snippets of the article about proxies.
@Suite struct ProxiesTests {
    private let configuration = URLSessionConfiguration.ephemeral

    @Test func `proxies are set, or none`() throws {
        let password = "secret"

        var proxies = ProxyConfiguration(try ProxyServer("http://proxy.example.com:3128"))
        proxies.exceptions = try ProxyExceptions([".example.com", "10.0.0.0/8"])
        configuration.proxies = proxies
        #expect(configuration.proxies?.all?.port == 3128)

        configuration.proxies = ProxyConfiguration.none
        #expect(configuration.proxies?.all == nil)

        var named = try ProxyConfiguration.ofEnvironment()
        named.includesLoopback = true
        configuration.proxies = named
        #expect(configuration.proxies?.includesLoopback == true)

        let office = try ProxyServer(.http, host: "proxy.example.com", port: 3128, user: "anna", password: password)
        configuration.proxies = ProxyConfiguration(office)
        #expect(configuration.proxies?.all?.user == "anna")

        var ways = ProxyConfiguration()
        ways.http = try ProxyServer("http://cache.example.com:3128")
        ways.https = try ProxyServer("socks5h://127.0.0.1:9050")
        #expect(ways.https?.kind == .socks5h)
    }

    @Test func `a proxy has authorities of its own`() throws {
        let folder = try ScratchFolder()
        let root = try folder.write("root.pem", Data(CertificateAuthority().pem.utf8)).path

        var secured = try ProxyServer("https://proxy.example.com")
        secured.tls.anchors = try .file(root)

        #expect(secured.kind == .https && secured.port == 443)
    }

    @Test func `the dictionary of Apple's loader is read`() {
        configuration.connectionProxyDictionary = [
            kCFNetworkProxiesHTTPSEnable: 1,
            kCFNetworkProxiesHTTPSProxy: "proxy.example.com",
            kCFNetworkProxiesHTTPSPort: 3128,
        ]

        #expect(configuration.connectionProxyDictionary?.count == 3)
    }

    @Test func `metrics tell that a proxy was used`() async throws {
        let proxy = try TestProxy()
        let site = try Site()
        site.server.route("GET", "/hello", .text("hi"))
        proxy.rules.names["origin.test"] = site.server.address
        configuration.proxies = ProxyConfiguration(try ProxyServer(proxy.url.absoluteString))
        let session = site.owned(URLSession(configuration: configuration))
        let url = try #require(URL(string: "http://origin.test/hello"))

        let collector = TaskMetricsCollector()
        _ = try await session.data(from: url, delegate: collector)
        let wentByProxy = collector.metrics?.transactionMetrics.last?.isProxyConnection

        #expect(wentByProxy == true && proxy.requests.count == 1)
    }

    @Test func `a request goes another way in a session of its own`() async throws {
        let (proxy, site) = (try TestProxy(), try Site())
        site.server.route("GET", "/hello", .text("hi"))
        proxy.rules.names["origin.test"] = site.server.address
        let session = site.session
        let request = URLRequest(url: try #require(URL(string: "http://origin.test/hello")))

        do {
            let other = session.configuration
            other.proxies = ProxyConfiguration(try ProxyServer("http://abroad.example.com:3128"))
            let abroad = URLSession(configuration: other)
            defer { abroad.invalidateAndCancel() }
            #expect(abroad.configuration.proxies?.all?.port == 3128 && session.configuration.proxies == nil)
        }
        let other = session.configuration
        other.proxies = ProxyConfiguration(try ProxyServer(proxy.url.absoluteString))
        let abroad = site.owned(URLSession(configuration: other))

        let (data, response) = try await abroad.data(for: request)

        #expect(String(decoding: data, as: UTF8.self) == "hi" && response.url == request.url)
        #expect(abroad.configuration.httpCookieStorage === session.configuration.httpCookieStorage)
        #expect(proxy.requests.count == 1)
    }
}
