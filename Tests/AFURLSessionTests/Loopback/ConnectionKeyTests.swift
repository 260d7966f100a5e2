import AFLoop
import AFTLS
import AFWire
import Foundation
import Testing

@testable import AFURLSession

/// Two requests share a connection only if all of their keys is the same.
@Suite("What requests must have in common to share a connection")
struct ConnectionKeyTests {
    private let endpoint: Endpoint
    private let proxy: ProxyRoute

    init() throws {
        endpoint = try Endpoint(scheme: .https, host: "a.test")
        proxy = ProxyRoute(try ProxyServer("http://proxy.test:3128"), number: 1)
    }

    private func context(_ id: Int, owner: Int = 0) -> SecurityContext {
        SecurityContext(id: id, TLSConfiguration(), nil, [], sessionsPerPeer: 2, owner: owner)
    }

    /// Keys that differ from each other in one thing, or in several.
    private func keys() throws -> [ConnectionKey] {
        let (own, other) = (context(1), context(2))
        let route = try ProxyRoute(ProxyServer("http://proxy.test:3128"), number: 2)
        let slow = LinkRules(serviceType: .background)
        let wired = LinkRules(allowsCellular: false)
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

    @Test func `what is made anew of the same parts is the same`() throws {
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
                    link: LinkRules(serviceType: .voice),
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
            link: LinkRules(serviceType: .voice),
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
            link: LinkRules(serviceType: .voice),
            judge: .own(1)
        )

        var other = key
        other.follow(key.link)
        #expect(other == key)
        other.follow(.usual)
        #expect(other != key)
        other.follow(key.link)
        #expect(other == key)
        #expect(key.judged(by: .own(2)).judged(by: .own(1)) == key)
        #expect(key.judged(by: .own(2)) != key)
        #expect(key.place.security == nil && key.place.link == .usual && key.place.proxySecurity == nil)
        #expect(key.place.unixPath == "/run/a" && key.place.route == proxy && key.place.judge == .own(1))
        #expect(key.proxyKey?.endpoint == proxy.endpoint && key.proxyKey?.security == own)
        #expect(key.secured(by: context(2)).security == context(2))
        #expect(key.secured(by: own).link == key.link && key.secured(by: own).route == proxy)
    }
}
