import AFLoop
import AFTestSupport
import Testing

@Suite("Messages of netlink")
struct NetlinkParsingTests {
    private func first(_ bytes: [UInt8]) throws -> NetlinkMessage {
        let datagram = NetlinkDatagram(bytes[...])
        #expect(datagram.isWhole && datagram.messages.count == 1)
        return try #require(datagram.messages.first)
    }

    @Test func `a link has a number, a name, a type of hardware, flags and perhaps a kind`() throws {
        let link = try #require(
            LinkMessage(first(NetlinkBytes.link(7, "eth0", hardware: 1, flags: 0x1043, kind: "veth")))
        )

        #expect(link.index == 7 && link.name == "eth0" && link.hardware == 1)
        #expect(link.kind == "veth" && link.flags == 0x1043)
        #expect(try LinkMessage(first(NetlinkBytes.link(1, "lo", hardware: 772)))?.kind == nil)
        #expect(try AddressMessage(first(NetlinkBytes.link(1, "lo"))) == nil)
    }

    @Test func `an address is that of this end, and its many flags go before the few`() throws {
        let plain = try #require(AddressMessage(first(NetlinkBytes.address(3, [192, 0, 2, 1]))))
        #expect(plain.interface == 3 && plain.address.host == "192.0.2.1" && plain.isUsable)

        let twoEnds = NetlinkBytes.address(3, [192, 0, 2, 9], local: [192, 0, 2, 1])
        #expect(try AddressMessage(first(twoEnds))?.address.host == "192.0.2.1")
        let six: [UInt8] = [0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]
        // Tentative, found on another machine too; deprecated.
        for (flags, isUsable) in [(UInt32(0x40), false), (0x08, false), (0x100, true), (0x20, true), (0x1A0, true)] {
            let message = try #require(AddressMessage(first(NetlinkBytes.address(3, six, flags: flags))))
            #expect(message.address.host == "2001:db8::5" && message.isUsable == isUsable, "\(flags)")
        }
    }

    @Test func `a route leads by an interface, or refuses, or is an error`() throws {
        let way = try RouteAnswer(first(NetlinkBytes.route(by: 2, from: [192, 0, 2, 1])))
        #expect(way == .route(Route(interface: 2, source: SocketAddress(ipv4: "192.0.2.1", port: 0))))
        #expect(
            try RouteAnswer(first(NetlinkBytes.route(by: 1, from: nil, type: 2)))
                == .route(Route(interface: 1, isLocal: true))
        )
        // Blackhole, unreachable, prohibit, throw; and one that says nothing of an interface.
        for type in UInt8(6)...9 {
            #expect(try RouteAnswer(first(NetlinkBytes.route(by: 1, from: nil, type: type))) == .refused(113))
        }
        #expect(try RouteAnswer(first(NetlinkBytes.route(by: nil, from: nil))) == .refused(113))
        #expect(try RouteAnswer(first(NetlinkBytes.error(101))) == .refused(101))
        // An acknowledgement.
        #expect(try RouteAnswer(first(NetlinkBytes.error(0))) == nil)
    }

    @Test func `a datagram of several messages is read to its end`() {
        // 17 bytes of name: the next message begins after three bytes of padding.
        let bytes = NetlinkBytes.link(1, "lo") + NetlinkBytes.link(2, "a-longer-name") + NetlinkBytes.done()
        let datagram = NetlinkDatagram(bytes[...])

        #expect(datagram.isWhole)
        #expect(datagram.messages.map(\.type) == [Netlink.newLink, Netlink.newLink, Netlink.done])
        #expect(datagram.messages.compactMap { LinkMessage($0)?.name } == ["lo", "a-longer-name"])
        #expect(NetlinkDatagram([][...]).isWhole)
    }

    @Test("lengths that lie end the reading, T-NET-04", arguments: [0, 1, 15, 1000, UInt32.max, UInt32(Int32.max)])
    func lyingLengths(length: UInt32) throws {
        var bytes = NetlinkBytes.link(1, "lo") + NetlinkBytes.link(2, "eth0")
        let second = NetlinkBytes.link(1, "lo").count
        bytes.replaceSubrange(second..<second + 4, with: NetlinkBytes.bytes(length))

        let datagram = NetlinkDatagram(bytes[...])
        #expect(!datagram.isWhole && datagram.messages.count == 1)

        // The same of an attribute, in the outer row and within another.
        for attributeLength in [UInt16(0), 1, 2, 3, 500, .max] {
            for offset in [32, 40] {
                var link = NetlinkBytes.link(1, "lo", kind: "veth")
                link.replaceSubrange(offset..<offset + 2, with: NetlinkBytes.bytes(attributeLength))
                #expect(try LinkMessage(first(link)) == nil, "\(attributeLength) at \(offset)")
            }
            var nested = NetlinkBytes.link(1, "lo", kind: "veth")
            nested.replaceSubrange(44..<46, with: NetlinkBytes.bytes(attributeLength))
            #expect(try LinkMessage(first(nested))?.kind == nil)
        }
    }

    @Test("values that are too short, empty or of the wrong size are no values, T-NET-04")
    func shortValues() throws {
        for index in [Int32(0), -1, .min] { #expect(try LinkMessage(first(NetlinkBytes.link(index, "lo"))) == nil) }
        #expect(try LinkMessage(first(NetlinkBytes.link(1, ""))) == nil)
        for count in [0, 1, 3, 5, 15, 17] {
            let head: [UInt8] = [2, 24, 0, 0, 1, 0, 0, 0]
            let value = [UInt8](repeating: 1, count: count)
            let message = NetlinkBytes.message(Netlink.newAddress, head + NetlinkBytes.attribute(1, value))
            #expect(try AddressMessage(first(message)) == nil, "\(count)")
        }
        for count in 0..<12 {
            let payload = [UInt8](repeating: 1, count: count)
            #expect(try LinkMessage(first(NetlinkBytes.message(Netlink.newLink, payload))) == nil)
            #expect(try RouteAnswer(first(NetlinkBytes.message(Netlink.newRoute, payload))) == nil)
        }
        for payload in [[], [1, 2, 3], NetlinkBytes.bytes(Int32.min), NetlinkBytes.bytes(Int32(5))] as [[UInt8]] {
            #expect(try RouteAnswer(first(NetlinkBytes.message(Netlink.error, payload))) == nil)
        }
    }

    @Test("no bytes make the reading trap, T-NET-04", arguments: 1...20 as ClosedRange<UInt64>)
    func anyBytes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let messages = [
            NetlinkBytes.link(2, "eth0", kind: "veth"), NetlinkBytes.address(2, [192, 0, 2, 1]),
            NetlinkBytes.route(by: 2, from: [192, 0, 2, 1]), NetlinkBytes.error(101), NetlinkBytes.done(),
        ]
        let whole = messages.flatMap { $0 }
        for count in 0...whole.count { readEverything(whole.prefix(count)) }
        for _ in 0..<500 {
            var bytes = random.chance(30) ? noise(random.pick(0...200), &random) : whole
            for _ in 0..<random.pick(0...8) where !bytes.isEmpty {
                let place = random.pick(0...bytes.count - 1)
                bytes[place] = random.pick([0, 1, 3, 4, 16, 255] + noise(1, &random))
            }
            readEverything(bytes.dropFirst(random.pick(0...min(3, bytes.count))))
        }
    }

    private func noise(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// Counts, so that nothing is left out.
    private func readEverything(_ bytes: ArraySlice<UInt8>) {
        let datagram = NetlinkDatagram(bytes)
        let size = datagram.messages.reduce(0) { $0 + 16 + $1.payload.count }
        #expect(size <= bytes.count)
        for message in datagram.messages {
            _ = (LinkMessage(message), AddressMessage(message), RouteAnswer(message))
            let attributes = NetlinkAttributes(message.payload)
            _ = attributes[1]
        }
    }
}
