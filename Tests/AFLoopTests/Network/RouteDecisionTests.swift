import AFLoop
import Glibc
import Testing

@Suite("Ways by which packets leave")
struct RouteDecisionTests {
    struct Row: Sendable, CustomStringConvertible {
        var to = "198.51.100.7"
        var interface: InterfaceState?
        var from: String?
        var isLocal = false
        var refusal: Int32?
        let obstacle: RouteDecision.Obstacle?
        let description: String

        var answer: RouteAnswer {
            if let refusal { return .refused(refusal) }
            let source = from.flatMap { SocketAddress(ipv4: $0, port: 0) ?? SocketAddress(ipv6: $0, port: 0) }
            return .route(Route(interface: interface?.index ?? 99, isLocal: isLocal, source: source))
        }
    }

    private static let lo = InterfaceState(index: 1, name: "lo", kind: .loopback)
    private static let loDown = InterfaceState(index: 1, name: "lo", kind: .loopback, isUp: false, isRunning: false)
    private static let eth = InterfaceState(index: 2, name: "eth0", kind: .wired)
    private static let ethDown = InterfaceState(index: 2, name: "eth0", kind: .wired, isUp: false, isRunning: false)
    private static let ethUnplugged = InterfaceState(index: 2, name: "eth0", kind: .wired, isRunning: false)
    private static let tun = InterfaceState(index: 3, name: "tun0", kind: .virtual)
    private static let modem = InterfaceState(index: 4, name: "wwan0", kind: .cellular)
    private static let far6 = "2001:db8:1::7"

    static let rows = [
        Row(refusal: ENETUNREACH, obstacle: .noRoute(ENETUNREACH), description: "no route"),
        Row(refusal: EHOSTUNREACH, obstacle: .noRoute(EHOSTUNREACH), description: "an unreachable route"),
        Row(refusal: EACCES, obstacle: .noRoute(EACCES), description: "a prohibited one"),
        Row(refusal: EINVAL, obstacle: .noRoute(EINVAL), description: "a black hole"),
        Row(from: "192.0.2.1", obstacle: .noRoute(ENODEV), description: "by an unknown interface"),
        Row(interface: eth, from: "192.0.2.1", obstacle: nil, description: "a default route"),
        Row(
            interface: ethDown,
            from: "192.0.2.1",
            obstacle: .interfaceIsDown("eth0"),
            description: "down, with an address"
        ),
        Row(
            interface: ethUnplugged,
            from: "192.0.2.1",
            obstacle: .noCarrier("eth0"),
            description: "unplugged, with an address"
        ),
        Row(interface: eth, obstacle: .noAddress("eth0"), description: "without any address"),
        Row(
            interface: eth,
            from: "169.254.1.1",
            obstacle: .onlyLinkLocalAddress("eth0"),
            description: "from a link-local address"
        ),
        Row(
            to: "169.254.7.7",
            interface: eth,
            from: "169.254.1.1",
            obstacle: nil,
            description: "to a link-local neighbour"
        ),
        Row(to: "192.0.2.9", interface: eth, from: "192.0.2.1", obstacle: nil, description: "to a neighbour"),
        Row(interface: lo, from: "127.0.0.1", obstacle: .endsHere("lo"), description: "a default route to nowhere"),
        Row(
            to: "127.0.0.1",
            interface: lo,
            from: "127.0.0.1",
            isLocal: true,
            obstacle: nil,
            description: "loopback only"
        ),
        Row(
            to: "127.8.8.8",
            interface: eth,
            from: "192.0.2.1",
            obstacle: .loopbackIsDown,
            description: "loopback by a router"
        ),
        Row(
            to: "127.0.0.1",
            interface: loDown,
            isLocal: true,
            obstacle: .interfaceIsDown("lo"),
            description: "loopback that is down"
        ),
        Row(
            to: "192.0.2.1",
            interface: lo,
            from: "192.0.2.1",
            isLocal: true,
            obstacle: nil,
            description: "to this machine"
        ),
        Row(interface: tun, from: "10.8.0.2", obstacle: nil, description: "by a tunnel only"),
        Row(interface: modem, from: "10.64.0.2", obstacle: nil, description: "by a modem only"),
        Row(to: far6, interface: eth, from: "2001:db8::5", obstacle: nil, description: "IPv6 only"),
        Row(
            to: far6,
            interface: eth,
            from: "fe80::5",
            obstacle: .onlyLinkLocalAddress("eth0"),
            description: "IPv6, link-local"
        ),
        Row(to: far6, interface: eth, obstacle: .noAddress("eth0"), description: "IPv6, tentative only"),
        Row(to: "fe80::7", interface: eth, from: "fe80::5", obstacle: nil, description: "to an IPv6 neighbour"),
        Row(to: "::1", interface: lo, from: "::1", isLocal: true, obstacle: nil, description: "IPv6 loopback"),
        Row(
            to: "::1",
            interface: eth,
            from: "2001:db8::5",
            obstacle: .loopbackIsDown,
            description: "IPv6 loopback by a router"
        ),
        Row(to: far6, interface: eth, from: "fd00::5", obstacle: nil, description: "IPv6, from a private address"),
    ]

    @Test("what counts as a way, T-NET-08", arguments: rows)
    func truthTable(row: Row) throws {
        let address = try #require(SocketAddress(ipv4: row.to, port: 0) ?? SocketAddress(ipv6: row.to, port: 0))
        let interfaces = [row.interface].compactMap { $0 }
        let reading = NetworkReading(interfaces: interfaces, routes: [address: row.answer])

        let way = RouteDecision(to: address, by: row.answer, in: reading)

        if let obstacle = row.obstacle {
            #expect(way == .closed(obstacle))
            #expect(!obstacle.description.isEmpty)
        } else {
            #expect(try way == .open(#require(row.interface)))
        }
    }

    @Test func `addresses know what they are`() throws {
        func address(_ text: String) throws -> SocketAddress {
            try #require(SocketAddress(ipv4: text, port: 80) ?? SocketAddress(ipv6: text, port: 80))
        }
        for text in ["127.0.0.1", "127.255.0.1", "::1"] { #expect(try address(text).isLoopback, "\(text)") }
        for text in ["128.0.0.1", "::2", "1::1", "::"] { #expect(try !address(text).isLoopback, "\(text)") }
        for text in ["169.254.0.1", "fe80::1", "febf::1"] { #expect(try address(text).isLinkLocal, "\(text)") }
        for text in ["169.253.0.1", "fec0::1", "fe00::1"] { #expect(try !address(text).isLinkLocal, "\(text)") }
        for text in ["0.0.0.0", "::"] { #expect(try address(text).isUnspecified, "\(text)") }
        #expect(try address("::ffff:192.0.2.1").unmapped == address("192.0.2.1"))
        #expect(try address("::fffe:192.0.2.1").unmapped == address("::fffe:192.0.2.1"))
        #expect(SocketAddress(internetBytes: [1, 2, 3]) == nil && SocketAddress(internetBytes: []) == nil)
    }
}
