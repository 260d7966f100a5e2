import AFFaults
import AFWire

@testable import AFTransport

@Suite("Hosts that are to be found elsewhere")
final class HostOverrideTests: TransferSuite {
    private func lead(_ overrides: HostOverride?...) {
        world.settings.pool.hostOverrides = overrides.compactMap { $0 }
    }

    private var places: [String] { world.network.connections.map { "\($0.address)" } }

    @Test func `of several addresses the next one is tried where one cannot be connected to`() {
        lead(HostOverride(host: "api.test", toAddresses: ["192.0.2.1", "192.0.2.7"], toPort: 81))
        world.host("b.test", "192.0.2.7")
        world.serveEcho("b.test", port: 81)

        #expect(world.load("http://api.test/1").body == "/1")
        #expect(places == ["192.0.2.1:81", "192.0.2.7:81"])
    }

    @Test func `T-RED-28 the filter is asked about each of several addresses`() {
        lead(HostOverride(host: "api.test", toAddresses: ["127.0.0.1", "93.184.216.34"]))
        world.settings.pool.addressFilter = .publicAddressesOnly
        world.host("b.test", "93.184.216.34")
        world.serveEcho("b.test")

        #expect(world.load("http://api.test/1").body == "/1")
        #expect(places == ["93.184.216.34:80"])
    }

    @Test func `the first rule that fits counts, and no other host is led elsewhere`() {
        lead(
            HostOverride(host: "api.test", port: 81, toHost: "192.0.2.81"),
            HostOverride(host: "api.test", toHost: "192.0.2.7"),
            HostOverride(host: "api.test", toHost: "192.0.2.8"),
            HostOverride(port: 82, toPort: 80)
        )
        for (index, host) in ["a", "b", "c", "d"].enumerated() {
            world.host("\(host).test", ["192.0.2.7", "192.0.2.81", "192.0.2.50", "192.0.2.51"][index])
        }
        world.serveEcho("a.test")
        world.serveEcho("b.test", port: 81)
        world.serveEcho("c.test")
        world.serveEcho("d.test")

        for url in ["http://api.test/1", "http://api.test:81/2", "http://c.test/3", "http://d.test:82/4"] {
            #expect(world.load(url).body == "/\(url.last ?? " ")")
        }

        #expect(places == ["192.0.2.7:80", "192.0.2.81:81", "192.0.2.50:80", "192.0.2.51:80"])
    }

    @Test func `an address is led elsewhere however it is written`() {
        for (written, host) in [("192.0.2.1", "[::ffff:192.0.2.1]"), ("::ffff:c000:201", "192.0.2.1")] {
            let world = TransferWorld()
            world.settings.pool.hostOverrides = [HostOverride(host: written, toHost: "192.0.2.7")].compactMap { $0 }
            world.host("a.test", "192.0.2.7")
            world.serveEcho("a.test")

            #expect(world.load("http://\(host)/1").body == "/1")
            #expect(world.network.connections.map { "\($0.address)" } == ["192.0.2.7:80"])
            #expect(world.finish() == [])
        }
    }

    @Test func `of any overrides the first that fits is found, as by looking through all`() throws {
        let hosts = ["a.test", "A.test.", "b.a.test", "192.0.2.1", "[::ffff:192.0.2.1]", "[::1]", "[fe80::1%25lo]"]
        var dice = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let all = (0..<dice.pick(0...8)).compactMap { number in
                HostOverride(
                    host: dice.chance(70) ? dice.pick(hosts) : nil,
                    port: dice.chance(50) ? dice.pick([80, 81]) : nil,
                    toHost: dice.chance(80) ? "to\(number).test" : nil,
                    toPort: dice.chance(50) ? 8000 + number : nil
                )
            }
            let overrides = HostOverrides(all)
            for host in hosts {
                for port in ["", ":81", ":82"] {
                    let endpoint = try RequestURL("http://\(host)\(port)/").endpoint
                    let first = all.lazy.compactMap { $0.apply(to: endpoint) }.first
                    #expect(overrides.places(of: endpoint) == first, "\(host)\(port) in \(all)")
                }
            }
        }
    }

    @Test func `a look-up among ten thousand overrides costs little more than among ten`() throws {
        let endpoint = try RequestURL("http://site9.test/").endpoint
        func cost(_ count: Int) -> Duration {
            let overrides = HostOverrides(
                (0..<count).reversed().compactMap { HostOverride(host: "site\($0).test", toHost: "192.0.2.1") }
            )
            return CPUTime.of {
                for _ in 0..<2_000 where overrides.places(of: endpoint)?.count != 1 { Issue.record("not found") }
            }
        }
        let few = cost(10)
        #expect(cost(10_000) < few * 20)
    }

    @Test func `T-RED-28 the filter is asked about the place that is connected to`() {
        lead(HostOverride(host: "api.test", toHost: "127.0.0.1"))
        world.settings.pool.addressFilter = .publicAddressesOnly
        world.host("api.test", "93.184.216.34")
        world.serveEcho("api.test")

        let events = world.load("http://api.test/")

        #expect(events.failure == "forbidden")
        #expect(world.network.connections.isEmpty)
    }

    @Test(arguments: ["", "a b", "a/b", "1.2.3", "[::1", "::g", "a..b"])
    func `what is no host makes no override`(text: String) {
        #expect(HostOverride(host: text) == nil && HostOverride(toHost: text) == nil)
    }

    @Test func `ports are from 1 to 65535, and addresses are known as such`() {
        for port in [0, -1, 65_536, .max] {
            #expect(HostOverride(port: port) == nil && HostOverride(toHost: "a.test", toPort: port) == nil)
        }
        for address in ["192.0.2.1", "::1", "[::1]"] { #expect(HostOverride(toHost: address)?.leadsToAddress == true) }
        for addresses in [[], ["a.test"], ["192.0.2.1", "a.test"], ["192.0.2.1", "1.2.3"]] {
            #expect(HostOverride(toAddresses: addresses) == nil, "\(addresses)")
        }
        #expect(HostOverride(toAddresses: ["192.0.2.1", "[::1]"])?.leadsToAddress == true)
        #expect(HostOverride(toHost: "a.test")?.leadsToAddress == false && HostOverride()?.leadsToAddress == false)
    }
}
