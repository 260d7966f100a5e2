@testable import AFURLSession
@testable import AFURLTypes

@Suite("Paths")
struct NetworkPathTests {
    private let machine = VirtualMachine()

    private func path(to target: PathTarget = .machine, _ finding: HostFinding = .pending) -> NetworkPath {
        let addresses = FarAddresses.all + target.knownAddresses + finding.addresses
        return NetworkPath(to: target, finding: finding, in: machine.read(routesTo: addresses))
    }

    @Test("a loopback interface alone is no network, T-NET-08")
    func loopbackOnly() {
        let path = path()

        #expect(path.status == .unsatisfied && path.interface == nil && !path.isCellular)
        #expect(!path.hasIPv4DefaultRoute && !path.hasIPv6DefaultRoute)
        #expect(path.interfaces.map(\.name) == ["lo"])
        #expect(path.reason == "no way to the internet: there is no route (Network is unreachable, errno 101)")
    }

    @Test func `of two families by two interfaces one without a modem is preferred`() {
        machine.set(InterfaceState(index: 2, name: "wwan0", kind: .cellular))
        machine.set(InterfaceState(index: 3, name: "wlan0", kind: .wifi))
        machine.setDefaultRoute(by: 2)
        #expect(path().isCellular && path().hasIPv4DefaultRoute && !path().hasIPv6DefaultRoute)

        machine.setIPv6DefaultRoute(by: 3)
        #expect(path().interface?.name == "wlan0" && !path().isCellular && path().reason == nil)

        machine.set(InterfaceState(index: 3, name: "wlan0", kind: .wifi, isRunning: false))
        #expect(path().interface?.name == "wwan0" && !path().hasIPv6DefaultRoute)
    }

    @Test func `a path says what stands in the way of each address family`() {
        machine.set(InterfaceState(index: 2, name: "eth0", kind: .wired, isUp: false, isRunning: false))
        machine.setDefaultRoute(by: 2)
        let reason = path().reason ?? ""

        #expect(reason.contains("for IPv4 interface eth0 is down, for IPv6 there is no route"), "\(reason)")
    }

    @Test func `a host is reached by the first of its addresses that can be`() throws {
        machine.set(InterfaceState(index: 2, name: "eth0", kind: .wired))
        machine.setDefaultRoute(by: 2)
        let addresses = try ["2001:db8::1", "192.0.2.1"].map { try #require(VirtualWorld.address($0, port: 0)) }

        let both = path(to: .name("api.test"), .found(addresses))
        #expect(both.status == .satisfied && both.interface?.name == "eth0")
        let one = path(to: .name("api.test"), .found([addresses[0]]))
        #expect(one.status == .unsatisfied && one.hasIPv4DefaultRoute)
        #expect(one.reason?.hasPrefix("no way to api.test (2001:db8::1): there is no route") == true)
        let none = path(to: .name("api.test"), .failed(ResolutionFailure(kind: .notFound, message: "no such name")))
        #expect(none.status == .unsatisfied && none.reason == "api.test cannot be looked up: no such name")
        #expect(path(to: .name("api.test")).status == .unknown)
    }

    @Test("where netlink is forbidden the status is unknown, and the reason says so, T-NET-09")
    func forbidden() throws {
        machine.fail(.refused(SystemCallError(.socket, code: EPERM)))
        let path = path()

        #expect(path.status == .unknown && path.interfaces.isEmpty && path.interface == nil)
        let reason = try #require(path.reason)
        #expect(reason.contains("socket: Operation not permitted (errno 1)") && reason.contains("AF_NETLINK"))
        machine.fail(.unsettled)
        #expect(self.path().reason?.contains("changing") == true)
    }

    @Test func `a loopback address is reachable without any network`() throws {
        for text in ["127.0.0.1", "::1"] {
            let target = PathTarget(try #require(NetworkAddress(text)))
            #expect(path(to: target).status == .satisfied)
            #expect(path(to: target).interface?.kind == .loopback)
        }
    }

    @Test func `a target is an address, a name, this machine, or nonsense`() throws {
        let address = try #require(NetworkAddress("192.0.2.1"))
        #expect(PathTarget(host: "192.0.2.1") == .address(address.socketAddress))
        #expect(PathTarget(host: "::ffff:192.0.2.1") == .address(address.socketAddress))
        #expect(PathTarget(host: "0.0.0.0") == .machine && PathTarget(host: "::") == .machine)
        // The dot keeps the resolver from the search list.
        #expect(
            PathTarget(host: "API.Test.") == .name("api.test.") && PathTarget(host: "API.Test") == .name("api.test")
        )
        let nonsense = [
            "", ".", "a b", "http://api.test/", "user:secret@api.test", "api.test\0.evil.test", "api.test:80", "a..b",
            "1.2.3", "[::1]x", "%", "bücher.test", String(repeating: "a", count: 300),
        ]
        for host in nonsense {
            guard case .impossible(let reason) = PathTarget(host: host) else {
                Issue.record("\(host) passes")
                continue
            }
            #expect(!reason.contains("secret") && reason.contains("api.example.com"))
            #expect(path(to: PathTarget(host: host)).status == .unsatisfied)
        }
    }

    @Test func `addresses are made of text and of what system calls use`() throws {
        #expect(NetworkAddress("192.0.2.1")?.bytes == [192, 0, 2, 1])
        #expect(NetworkAddress("2001:DB8:0::1")?.description == "2001:db8::1")
        let local = try #require(NetworkAddress("fe80::1%lo"))
        #expect(local.interfaceIndex == 1 && local.description == "fe80::1%1")
        for text in [
            "", "api.test", "010.1.1.1", "2130706433", "[::1]", "fe80::1%none0", "2001:db8::1%lo", "1.2.3.4%lo",
        ] {
            #expect(NetworkAddress(text) == nil, "\(text)")
        }

        var storage = sockaddr_storage()
        #expect(NetworkAddress(storage) == nil)
        withUnsafeMutableBytes(of: &storage) { bytes in
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = 80
            address.sin_addr.s_addr = UInt32(0xC000_0201).bigEndian
            withUnsafeBytes(of: &address) { bytes.copyMemory(from: $0) }
        }
        #expect(NetworkAddress(storage) == NetworkAddress("192.0.2.1"))
        let found = withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { NetworkAddress($0) }
        }
        #expect(found?.description == "192.0.2.1")
        storage.ss_family = sa_family_t(AF_UNIX)
        #expect(NetworkAddress(storage) == nil)
    }
}
