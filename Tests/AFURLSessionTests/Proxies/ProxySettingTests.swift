import AFFaults
import AFSecurity
import AFTransport
import AFWire

@testable import AFURLSession
@testable import AFURLTypes

extension ProxyTests {
    @Suite("Where proxies are set")
    final class Settings: WorldSuite {
        private func proxy(_ variables: [String: String], _ url: String) throws -> String? {
            let rules = ProxySelection(ProxyEnvironment(variables), agent: HTTPHeaders())
            let route = try rules.route(for: try RequestURL(url).endpoint)?.text
            // A configuration made of the variables leads the same way.
            let made = ProxySelection(try ProxyConfiguration(ProxyEnvironment(variables)), agent: HTTPHeaders())
            #expect(try made.route(for: try RequestURL(url).endpoint)?.text == route)
            return route
        }

        private func proxy(dictionary: [AnyHashable: Any], _ url: String) throws -> String? {
            let rules = ProxySelection(ProxyDictionary(dictionary), agent: HTTPHeaders())
            return try rules.route(for: try RequestURL(url).endpoint)?.text
        }

        @Test func `a WebSocket has a tunnel, also behind a tunnel for the same User-Agent`() throws {
            let route = ProxyRoute(server: try ProxyServer("http://proxy.test:3128"), number: 1)
            let proxies = SessionProxies(rules: ProxySelection(), connectionsPerHost: 1)
            let request = try freeze("http://a.test/") { $0.setValue("own/1", forHTTPHeaderField: "User-Agent") }
            let plain = try Endpoint(scheme: .http, host: "a.test")

            for _ in 1...2 {
                #expect(!proxies.naming(route, by: request).tunnels(to: plain))
                #expect(proxies.naming(route.tunnelling, by: request).tunnels(to: plain))
            }
            let named = proxies.naming(route, by: request)
            #expect(proxies.naming(route, by: request) === named)
        }

        // MARK: - The environment

        @Test func `each scheme has its variables, and those for all stand in`() throws {
            let variables = [
                "http_proxy": "http://one.test:1", "HTTPS_PROXY": "http://two.test:2",
                "all_proxy": "socks5://three.test:3",
            ]

            #expect(try proxy(variables, "http://a.test/") == "proxy http://one.test:1")
            #expect(try proxy(variables, "https://a.test/") == "proxy http://two.test:2")
            #expect(try proxy(["ALL_PROXY": "three.test:3"], "https://a.test/") == "proxy http://three.test:3")
            #expect(try proxy(["https_proxy": "a:1", "HTTPS_PROXY": "b:2"], "https://a.test/") == "proxy http://a:1")
            #expect(try proxy(["https_proxy": "", "all_proxy": "b:2"], "https://a.test/") == nil)
            #expect(try proxy(["all_proxy": "b:2", "NO_PROXY": "a.test"], "https://a.test/") == nil)
        }

        @Test func `T-PRX-13 HTTP_PROXY in upper case is never read`() throws {
            #expect(try proxy(["HTTP_PROXY": "http://evil.test"], "http://a.test/") == nil)
            #expect(try proxy(["HTTP_PROXY": "http://evil.test"], "https://a.test/") == nil)
            let variables = ["HTTP_PROXY": "http://evil.test", "REQUEST_METHOD": "GET", "http_proxy": "good.test"]
            #expect(try proxy(variables, "http://a.test/") == "proxy http://good.test:80")
        }

        @Test func `T-PRX-13 a program without special rights believes its environment`() {
            let all = ProcessInfo.processInfo.environment
            let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
            #expect(ProxyEnvironment.ofProcess() == all.filter { names.contains($0.key) })
        }

        @Test func `T-PRX-13 a program with more rights than its user believes nothing of its environment`() async {
            await #expect(processExitsWith: .success) {
                setenv("https_proxy", "http://evil.test", 1)
                #expect(ProxyEnvironment.ofProcess()["https_proxy"] == "http://evil.test")

                MoreRights.claim()

                #expect(ProxyEnvironment.ofProcess() == [:])
            }
        }

        @Test func `T-PRX-14 the environment is read once, when the session is made`() {
            let reads = Watched(0)
            world.environment = {
                reads.change { $0 += 1 }
                // What it says later is of no interest.
                return reads.value == 1 ? ["http_proxy": "http://proxy.test:3128"] : [:]
            }
            let log = LayeredServer.Log()
            world.serve("proxy.test", port: 3128) { LayeredServer([.echo], log) }

            _ = world.session
            #expect(reads.value == 1)
            for path in ["1", "2", "3"] { #expect(world.load("http://api.test/\(path)").error == nil) }

            #expect(reads.value == 1 && log.heads.count == 3)
        }

        @Test func `T-PRX-14 a configuration that sets proxies, or wants none, leaves the environment unread`() throws {
            let asked: @Sendable () -> [String: String] = {
                Issue.record("the environment was read")
                return [:]
            }
            let server = try ProxyServer("http://proxy.test")
            let configurations: [(URLSessionConfiguration) -> Void] = [
                { $0.usesProxyEnvironment = false },
                { $0.proxies = ProxyConfiguration.none },
                { $0.proxies = ProxyConfiguration(server) },
                { $0.connectionProxyDictionary = [:] },
            ]
            for configure in configurations {
                let world = VirtualWorld()
                world.environment = asked
                world.configure(configure)
                _ = world.session
                #expect(world.finish() == [])
            }
        }

        // MARK: - The dictionary

        @Test func `Apple's keys mean what they mean there`() throws {
            let dictionary: [AnyHashable: Any] = [
                kCFNetworkProxiesHTTPEnable: 1, kCFNetworkProxiesHTTPProxy: "one.test", kCFNetworkProxiesHTTPPort: 1,
                kCFNetworkProxiesHTTPSEnable: true, kCFNetworkProxiesHTTPSProxy: "two.test",
                kCFNetworkProxiesHTTPSPort: NSNumber(value: 2),
                kCFNetworkProxiesExceptionsList: ["no.test", "*.up.test"],
                kCFNetworkProxiesExcludeSimpleHostnames: 1,
            ]

            #expect(try proxy(dictionary: dictionary, "http://a.test/") == "proxy http://one.test:1")
            #expect(try proxy(dictionary: dictionary, "https://a.test/") == "proxy http://two.test:2")
            for host in ["no.test", "a.up.test", "simple"] {
                #expect(try proxy(dictionary: dictionary, "http://\(host)/") == nil)
            }
            #expect(try proxy(dictionary: dictionary, "http://a.no.test/") != nil)
            let socks: [AnyHashable: Any] = ["SOCKSEnable": 1, "SOCKSProxy": "s.test", "SOCKSPort": 9]
            #expect(try proxy(dictionary: socks, "https://a.test/") == "proxy socks5h://s.test:9")
            #expect(try proxy(dictionary: ["HTTPEnable": 0, "HTTPProxy": "one.test"], "http://a.test/") == nil)
            #expect(try proxy(dictionary: ["HTTPProxy": "one.test"], "http://a.test/") == nil)
        }

        @Test func `user and password may be for all or for one`() throws {
            let dictionary: [AnyHashable: Any] = [
                "HTTPEnable": 1, "HTTPProxy": "p.test", "HTTPUser": "u", "HTTPPassword": "p",
                "HTTPSEnable": 1, "HTTPSProxy": "p.test", kCFProxyUsernameKey: "all", kCFProxyPasswordKey: "q",
            ]
            let rules = ProxySelection(ProxyDictionary(dictionary), agent: HTTPHeaders())

            #expect(try rules.route(for: try RequestURL("http://a.test/").endpoint)?.authorization == "Basic dTpw")
            #expect(try rules.route(for: try RequestURL("https://a.test/").endpoint)?.authorization == "Basic YWxsOnE=")
        }

        private static let wrong: [[String: any Sendable]] = [
            ["HTTPEnable": 1],
            ["HTTPEnable": 1, "HTTPProxy": 7],
            ["HTTPEnable": 1, "HTTPProxy": "http://p.test"],
            ["HTTPEnable": 1, "HTTPProxy": "p.test", "HTTPPort": 0],
            ["HTTPEnable": 1, "HTTPProxy": "p.test", "HTTPPort": 70_000],
            ["HTTPEnable": 1, "HTTPProxy": "p.test", "HTTPPort": "80x"],
            ["HTTPEnable": 1, "HTTPProxy": "p.test", "HTTPPort": 1.5],
            ["HTTPEnable": 1, "HTTPProxy": "p.test", "HTTPUser": 1],
            ["HTTPEnable": 1, "HTTPProxy": "p.test", "HTTPPassword": "secret"],
            ["HTTPEnable": 1, "HTTPProxy": "p.test", "ExceptionsList": "a.test"],
            ["HTTPEnable": 1, "HTTPProxy": "p.test", "ExceptionsList": ["a b"]],
            ["SOCKSEnable": 1],
            ["ProxyAutoConfigEnable": 1, "ProxyAutoConfigURLString": "http://p.test/pac"],
            ["ProxyAutoDiscoveryEnable": 1],
        ]

        @Test("T-PRX-15 a setting that cannot be used fails the task, which sends nothing", arguments: wrong.indices)
        func wrongDictionary(index: Int) {
            let bench = ProxyBench { $0.connectionProxyDictionary = Settings.wrong[index] }
            bench.serveDirectly("api.test")

            let events = bench.send("http://api.test/")

            #expect(events.all == [.failed(.badURL)])
            #expect(events.failure?.detail == .proxy && events.failure?.phase == .preparing)
            #expect(events.failure?.message.contains("secret") == false)
            #expect(bench.hosts.isEmpty && bench.world.resolver.names.isEmpty)
            #expect(bench.finish() == [])
        }

        @Test("T-PRX-11 T-PRX-15 a variable that is no proxy fails the task", arguments: ["http", "https", "all"])
        func wrongVariable(scheme: String) {
            world.environment = { ["\(scheme)_proxy": "ftp://me:secret@proxy.test"] }
            world.serveEcho("api.test")

            let events = world.load(scheme == "https" ? "https://api.test/" : "http://api.test/")

            #expect(events.all == [.failed(.badURL)])
            #expect(events.failure?.message.contains("\(scheme)_proxy") == true)
            #expect(events.failure?.message.contains("secret") == false)
            #expect(world.network.connections.isEmpty)
        }

        @Test func `fields for tunnels are checked`() throws {
            for fields in [["Host": "x"], ["Proxy-Authorization": "x"], ["A B": "x"], ["X": "a\r\nb"]] {
                let bench = try ProxyBench("http://proxy.test:3128") { $0.tunnelFields = fields }
                let events = bench.send("https://api.test/")
                #expect(events.all == [.failed(.badURL)])
                #expect(bench.hosts.isEmpty)
                #expect(bench.finish() == [])
            }
        }

        @Test func `a configuration keeps what it was given`() throws {
            let configuration = URLSessionConfiguration.ephemeral
            #expect(configuration.proxies == nil && configuration.connectionProxyDictionary == nil)
            #expect(configuration.usesProxyEnvironment)

            configuration.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "p.test", "ExceptionsList": ["a"]]
            let kept = try #require(configuration.copied().connectionProxyDictionary)

            #expect(kept["HTTPEnable"] as? Int == 1 && kept["HTTPProxy"] as? String == "p.test")
            #expect(kept["ExceptionsList"] as? [String] == ["a"])
            configuration.proxies = ProxyConfiguration(try ProxyServer("http://p.test"))
            #expect(configuration.copied().proxies?.all?.host == "p.test")
        }

        @Test func `the typed setting goes before the dictionary, and a socket before both`() throws {
            let bench = ProxyBench { configuration in
                configuration.proxies = ProxyConfiguration.none
                configuration.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "proxy.test"]
            }
            bench.serveDirectly("api.test")
            #expect(bench.send("http://api.test/").error == nil)
            #expect(bench.hosts == ["api.test"])
            #expect(bench.finish() == [])
        }
    }
}
