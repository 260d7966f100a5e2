import AFLoop
import Testing

@Suite("Kinds of interfaces")
struct InterfaceKindTests {
    struct Row: Sendable {
        let name: String
        var hardware: UInt16 = 1
        var link: String?
        var isWireless = false
        var isCellular = false
        let kind: InterfaceKind
    }

    static let rows = [
        Row(name: "lo", hardware: 772, kind: .loopback),
        Row(name: "eth0", kind: .wired),
        Row(name: "enp3s0", kind: .wired),
        Row(name: "ib0", hardware: 32, link: "ipoib", kind: .wired),
        Row(name: "eth0", link: "veth", kind: .wired),
        Row(name: "bond0", link: "bond", kind: .wired),
        Row(name: "br0", link: "bridge", kind: .wired),
        Row(name: "eth0.5", link: "vlan", kind: .wired),
        Row(name: "wlan0", isWireless: true, kind: .wifi),
        Row(name: "wlp2s0", isWireless: true, kind: .wifi),
        Row(name: "mon0", hardware: 803, kind: .wifi),
        Row(name: "wlan1", link: "virt_wifi", kind: .wifi),
        // A name alone makes no radio.
        Row(name: "wlan0", kind: .wired),
        Row(name: "wwan0", isCellular: true, kind: .cellular),
        Row(name: "wwp0s20u4", isCellular: true, kind: .cellular),
        Row(name: "wwan0", hardware: 519, kind: .cellular),
        Row(name: "rmnet_data0", hardware: 519, link: "rmnet", kind: .cellular),
        Row(name: "wwan0", hardware: 65534, link: "wwan", kind: .cellular),
        Row(name: "wwan0", hardware: 512, kind: .cellular),
        Row(name: "wwan0", kind: .cellular),
        // A modem that calls itself a network card for radio waves.
        Row(name: "wwan0", isWireless: true, isCellular: true, kind: .cellular),
        // DSL speaks PPP as well.
        Row(name: "ppp0", hardware: 512, kind: .virtual),
        Row(name: "tun0", hardware: 65534, link: "tun", kind: .virtual),
        Row(name: "tap0", link: "tun", kind: .virtual),
        Row(name: "wg0", hardware: 65534, link: "wireguard", kind: .virtual),
        Row(name: "sit0", hardware: 776, link: "sit", kind: .virtual),
        Row(name: "tunl0", hardware: 768, link: "ipip", kind: .virtual),
        Row(name: "dummy0", link: "dummy", kind: .virtual),
        Row(name: "can0", hardware: 280, kind: .virtual),
    ]

    @Test(arguments: rows)
    func `an interface is what its hardware, its maker and its driver say`(row: Row) {
        let facts = InterfaceFacts(isWireless: row.isWireless, isCellular: row.isCellular)

        #expect(
            InterfaceKind(hardware: row.hardware, link: row.link, name: row.name, facts: facts) == row.kind,
            "\(row)"
        )
    }
}
