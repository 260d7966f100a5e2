import AFLoop
import AFTLS
import AFWire
import Foundation

@testable import AFTransport

extension LinkTerms {
    fileprivate static let background = made { $0.mark(PacketMarking(codePoint: 1, priority: 1)) }
    fileprivate static let voice = made { $0.mark(PacketMarking(codePoint: 46, priority: 6)) }
    fileprivate static let wired = made { $0.avoidsCellular = true }

    private static func made(_ change: (inout LinkTerms) -> Void) -> LinkTerms {
        var terms = LinkTerms()
        change(&terms)
        return terms
    }
}

extension ConnectionKey.Options {
    fileprivate func without(_ change: (inout ConnectionKey.Options) -> Void) -> ConnectionKey.Options {
        var options = self
        change(&options)
        return options
    }
}

/// Two requests share a connection only if all of their keys is the same.
@Suite("What requests must have in common to share a connection")
struct ConnectionKeyTests {
    private let endpoint: Endpoint
    private let proxy: ProxyRoute

    init() throws {
        endpoint = try Endpoint(scheme: .https, host: "a.test")
        proxy = ProxyRoute(server: try ProxyServer("http://proxy.test:3128"), number: 1)
    }

    private func context(_ id: Int, owner: Int = 0) -> SecurityContext {
        SecurityContext(
            id: id,
            configuration: TLSConfiguration(),
            evaluator: nil,
            fingerprint: [],
            sessionsPerPeer: 2,
            owner: owner
        )
    }

    /// Keys that differ from each other in one thing, or in several.
    private func keys() throws -> [ConnectionKey] {
        let (own, other) = (context(1), context(2))
        let route = try ProxyRoute(server: ProxyServer("http://proxy.test:3128"), number: 2)
        let slow = LinkTerms.background
        let wired = LinkTerms.wired
        let elsewhere = try Endpoint(scheme: .https, host: "b.test")
        return [
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: nil),
            ConnectionKey(endpoint: elsewhere, unixPath: nil, security: nil),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: own),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: other),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: context(1, owner: 1)),
            ConnectionKey(endpoint: endpoint, unixPath: "/run/a", security: own),
            ConnectionKey(endpoint: endpoint, unixPath: "/run/b", security: own),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: own, route: proxy),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: own, route: route),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: own, route: proxy, proxySecurity: own),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: own, route: proxy, proxySecurity: other),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: own, link: slow),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: own, link: wired),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: own, judge: .own(1)),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: own, judge: .own(2)),
            ConnectionKey(endpoint: endpoint, unixPath: nil, security: own, judge: .named(Data([1]))),
            ConnectionKey(endpoint: endpoint, unixPath: "/run/a", security: own, judge: .own(1)),
        ]
    }

    @Test func `T-TLS-10 every part of it tells two keys apart`() throws {
        let (left, right) = (try keys(), try keys())

        for (row, one) in left.enumerated() {
            for (column, other) in right.enumerated() where row != column {
                #expect(one != other, "\(row) and \(column)")
            }
        }
        #expect(Set(left).count == left.count)
        #expect(Set(left + left).count == left.count)
    }

    @Test func `a key made anew of the same parts is equal`() throws {
        let own = context(1)
        let paths: [String?] = [nil, "/run/a"]
        for path in paths {
            let make = {
                ConnectionKey(
                    endpoint: endpoint,
                    unixPath: path,
                    security: own,
                    route: proxy,
                    proxySecurity: own,
                    link: LinkTerms.voice,
                    judge: .own(1)
                )
            }
            #expect(make() == make())
            #expect(make().hashValue == make().hashValue)
        }
    }

    @Test func `T-TLS-10 a key under other rules differs only in those`() throws {
        let (own, renewed) = (context(1), context(9))
        let (proxyRules, renewedProxyRules) = (context(1, owner: 1), context(9, owner: 1))
        let key = ConnectionKey(
            endpoint: endpoint,
            unixPath: nil,
            security: own,
            route: proxy,
            proxySecurity: proxyRules,
            link: LinkTerms.voice,
            judge: .own(1)
        )

        let both = key.renewed(under: [0: renewed, 1: renewedProxyRules])
        #expect(both.security == renewed && both.proxySecurity == renewedProxyRules)
        #expect(both.renewed(under: [0: own, 1: proxyRules]) == key)
        #expect(key.renewed(under: [:]) == key)
        #expect(key.isMade(under: own) && key.isMade(under: proxyRules))
        #expect(!key.isMade(under: renewed))
        let plain = ConnectionKey(endpoint: endpoint, unixPath: nil, security: nil)
        #expect(!plain.isMade(under: own))
    }

    @Test func `a change of one part leaves the others`() throws {
        let own = context(1)
        let key = ConnectionKey(
            endpoint: endpoint,
            unixPath: "/run/a",
            security: own,
            route: proxy,
            proxySecurity: own,
            link: LinkTerms.voice,
            judge: .own(1)
        )

        var other = key
        other.follow(key.link)
        #expect(other == key)
        other.follow(LinkTerms())
        #expect(other != key)
        other.follow(key.link)
        #expect(other == key)
        #expect(key.judged(by: .own(2)).judged(by: .own(1)) == key)
        #expect(key.judged(by: .own(2)) != key)
        #expect(key.judged(by: nil).judge == nil && key.judged(by: nil).judged(by: .own(1)) == key)
        #expect(key.led(by: proxy) == key && key.led(by: proxy.authorized(by: "Basic YTpi")) != key)
        #expect(key.led(by: proxy.authorized(by: "Basic YTpi")).led(by: proxy) == key)
        #expect(key.secured(by: context(2)).security == context(2))
        #expect(key.secured(by: context(2)).secured(by: own) == key && key.secured(by: nil).secured(by: own) == key)
    }

    @Test func `a proxy is told an address without its zone`() throws {
        let hosts = try ["[fe80::1%25lo]", "[fe80::1]", "192.0.2.1", "a.test"].map { host in
            try RequestURL("http://\(host)/").endpoint.host
        }
        let (zoned, plain) = (hosts[0], hosts[1])

        #expect(zoned.unzonedAddress == SocketAddress(ipv6: "fe80::1", zone: nil, port: 0))
        #expect(zoned.unzonedAddress == plain.socketAddress && zoned.unzonedAddress != zoned.socketAddress)
        #expect(hosts[2].unzonedAddress == SocketAddress(ipv4: "192.0.2.1", port: 0))
        #expect(hosts[3].unzonedAddress == nil)
    }

    @Test func `a place is all of a key but the rules`() throws {
        for key in try keys() {
            let place = key.place
            #expect(place.security == nil && place.proxySecurity == nil && place.endpoint == key.endpoint)
            var options = place.options
            options.proxySecurity = key.proxySecurity
            #expect(options == key.options)
            #expect(place.place == place)
        }
    }

    @Test func `T-TLS-84 a proxy is the same, whichever judge answers for servers behind it`() throws {
        let own = context(1)
        let key = try #require(keys().first { $0.route == proxy && $0.proxySecurity == own })

        #expect(key.proxyKey?.endpoint == proxy.endpoint && key.proxyKey?.security == own)
        #expect(key.judged(by: .own(1)).proxyKey == key.proxyKey)
        var background = key
        background.follow(LinkTerms.background)
        #expect(background.proxyKey?.link == background.link && background.proxyKey != key.proxyKey)
        #expect(key.proxyKey?.options == .usual)
        let options = ConnectionKey.Options(unixPath: "/run/a", route: proxy, judge: nil)
        let ofSocket = ConnectionKey(endpoint: endpoint, security: own, options: options)
        #expect(ofSocket.proxyKey?.options == .usual)
        #expect(try keys().allSatisfy { ($0.proxyKey == nil) == ($0.route == nil) })
    }

    /// A field that is new must be in the list below, in the comparison and in the copies.
    @Test func `T-TLS-11 no field of a route is left out where routes are compared and copied`() throws {
        let server = try ProxyServer("http://me:secret@proxy.test:3128")
        var agent = HTTPHeaders()
        agent.append("User-Agent", value: "t/1")
        let route = ProxyRoute(server: server, number: 1, agent: agent)
        let own = try #require(route.authorization)

        #expect(
            Mirror(reflecting: route).children.map(\.label) == ["proxy", "authorization", "agent", "alwaysTunnels"]
        )
        let others = [
            ProxyRoute(server: server, number: 1, agent: agent), route.authorized(by: "Basic YTpi"),
            route.naming(agentOf: HTTPHeaders()), route.tunnelling,
        ]
        #expect(others.allSatisfy { $0 != route } && Set(others + [route]).count == 5)
        let plain = try Endpoint(scheme: .http, host: "api.test")
        #expect(!route.tunnels(to: plain))
        let tunnelling = route.tunnelling.authorized(by: "Basic YTpi").naming(agentOf: HTTPHeaders())
        #expect(tunnelling.tunnels(to: plain) && tunnelling != route.authorized(by: "Basic YTpi"))
        for copy in [
            route.authorized(by: "Basic YTpi").authorized(by: own),
            route.naming(agentOf: HTTPHeaders()).naming(agentOf: agent),
        ] {
            #expect(copy == route && copy !== route && copy.hashValue == route.hashValue)
        }
    }

    /// A field that is new must be in `keys()` above and in the changes below.
    @Test func `T-TLS-11 no field is left out where keys are compared, hashed and copied`() throws {
        typealias Change = (inout ConnectionKey.Options) -> Void
        let changes: [String: Change] = [
            "unixPath": { $0.unixPath = "/run/a" },
            "route": { [proxy] in $0.route = proxy },
            "proxySecurity": { [rules = context(3, owner: 1)] in $0.proxySecurity = rules },
            "link": { $0.link = LinkTerms.voice },
            "judge": { $0.judge = .own(1) },
        ]
        let usual = ConnectionKey.Options(judge: nil)
        #expect(Set(Mirror(reflecting: usual).children.compactMap(\.label)) == Set(changes.keys))
        let plain = ConnectionKey(endpoint: endpoint, security: context(1))
        #expect(Set(Mirror(reflecting: plain).children.compactMap(\.label)) == ["endpoint", "security", "shared"])

        for (name, change) in changes {
            var options = usual
            change(&options)
            let key = ConnectionKey(endpoint: endpoint, security: context(1), options: options)
            let same = ConnectionKey(endpoint: endpoint, security: context(1), options: options)
            #expect(key != plain && key == same && key.hashValue == same.hashValue, "\(name)")
            #expect(Set([plain, key, same]).count == 2, "\(name)")

            // Each copy has it, unless it is what the copy is about.
            var copies: [ConnectionKey.Options] = [
                key.secured(by: nil).options, key.renewed(under: [:]).options,
                key.renewed(under: [0: context(9)]).options,
            ]
            if name != "proxySecurity" { copies.append(key.place.options) }
            if name != "route" { copies.append(key.led(by: proxy).led(by: proxy).options.without { $0.route = nil }) }
            if name != "judge" { copies.append(key.judged(by: .own(7)).options.without { $0.judge = nil }) }
            if name != "link" {
                var other = key
                other.follow(LinkTerms.wired)
                copies.append(other.options.without { $0.link = LinkTerms() })
            }
            for (number, copy) in copies.enumerated() { #expect(copy == options, "\(name), copy \(number)") }
        }
    }
}
