import AFNetworking
import Glibc

@testable import AFURLSession
@testable import AFURLTypes

/// The kernel itself, on a machine whose cables we may pull. Run by `NamespaceRunTests`.
@Suite(
    .serialized,
    .enabled(if: Namespace.isInside, "run in a namespace by NamespaceRunTests"),
    .timeLimit(.minutes(2))
)
struct NamespaceTests {
    private let monitor = NetworkMonitor()

    /// The first path that is as wanted. The time limit is what ends this otherwise.
    private func wait(_ monitor: NetworkMonitor, until condition: (NetworkPath) -> Bool) async -> NetworkPath? {
        for await path in monitor.paths where condition(path) { return path }
        return nil
    }

    /// Paths as they come, begun before something is changed.
    private func watch(_ monitor: NetworkMonitor) async -> AsyncStream<NetworkPath>.Iterator {
        var iterator = monitor.paths.makeAsyncIterator()
        _ = await iterator.next()
        return iterator
    }

    private func address(_ text: String) throws -> NetworkMonitor {
        NetworkMonitor(address: try #require(NetworkAddress(text)))
    }

    @Test("a default route comes and goes, T-NET-07")
    func defaultRoute() async throws {
        try Cable.plug()
        let before = monitor.currentPath
        #expect(before.status == .unsatisfied && before.interfaces.map(\.name).sorted() == ["lo", "v0", "v1"])
        var paths = await watch(monitor)

        try Cable.change("route add default via 192.0.2.1")
        #expect(monitor.currentPath.status == .satisfied)
        let with = await paths.next()
        #expect(with?.status == .satisfied && with?.hasIPv4DefaultRoute == true && with?.hasIPv6DefaultRoute == false)
        #expect(with?.interface?.name == "v0" && with?.interface?.kind == .wired)
        #expect(with?.interface?.addresses.map(\.description) == ["192.0.2.5"])

        try Cable.change("route del default")
        #expect(monitor.currentPath.status == .unsatisfied)
        let without = await paths.next()
        #expect(without == monitor.currentPath)
    }

    @Test("an interface goes down and up, and its cable is pulled, T-NET-08")
    func downAndUp() async throws {
        try Cable.plug()
        try Cable.change("route add default via 192.0.2.1")
        var paths = await watch(monitor)

        try Cable.change("link set v1 down")
        while let path = await paths.next(), path.status != .unsatisfied {}
        // The route remains.
        let unplugged = monitor.currentPath
        #expect(unplugged.reason?.contains("interface v0 has no carrier") == true)
        #expect(unplugged.interfaces.first { $0.name == "v0" }.map { $0.isUp && !$0.isRunning } == true)
        try Cable.change("link set v1 up")
        while let path = await paths.next(), path.status != .satisfied {}
        #expect(monitor.currentPath.status == .satisfied)

        try Cable.change("link set v0 down")
        #expect(monitor.currentPath.status == .unsatisfied)
        while let path = await paths.next(), path.status != .unsatisfied {}
        try Cable.change("link set v0 up", "route add default via 192.0.2.1")
        while let path = await paths.next(), path.status != .satisfied {}
        #expect(monitor.currentPath.status == .satisfied)
    }

    @Test("IPv6 alone is a network, and link-local, tentative or refused addresses are none, T-NET-08")
    func ipv6() async throws {
        try Cable.plug()
        try Cable.change("addr flush dev v0", "addr add fe80::5/64 dev v0 nodad", "route add ::/0 dev v0")
        #expect(monitor.currentPath.reason?.contains("link-local address only") == true)

        // The kernel does not know yet whether another machine has the address.
        try Cable.change("addr add 2001:db8::5/64 dev v0")
        let tentative = monitor.currentPath
        #expect(tentative.status == .unsatisfied)
        #expect(tentative.interfaces.first { $0.name == "v0" }?.addresses.map(\.description) == ["fe80::5"])
        try Cable.change("addr del 2001:db8::5/64 dev v0", "addr add 2001:db8::5/64 dev v0 nodad")
        let path = await wait(monitor) { $0.status == .satisfied }
        #expect(path?.hasIPv6DefaultRoute == true && path?.hasIPv4DefaultRoute == false)
        #expect(path?.interface?.addresses.map(\.description).contains("2001:db8::5") == true)
        try Cable.change("addr change 2001:db8::5/64 dev v0 preferred_lft 0")
        #expect(monitor.currentPath.status == .satisfied)

        #expect(try address("fe80::7%v0").currentPath.status == .satisfied)
        #expect(try address("2001:db8::5").currentPath.status == .satisfied)
        try Cable.change("route add unreachable 2001:db8:1::/64", "route add blackhole 2001:db8:2::/64")
        #expect(try address("2001:db8:1::1").currentPath.status == .unsatisfied)
        #expect(try address("2001:db8:2::1").currentPath.status == .unsatisfied)
    }

    @Test("routes that refuse are no way, and neither is one without an address, T-NET-08")
    func refusals() async throws {
        try Cable.plug()
        try Cable.change(
            "route add default via 192.0.2.1",
            "route add unreachable 198.51.100.0/24",
            "route add blackhole 203.0.113.0/24",
            "route add prohibit 198.18.0.0/24"
        )
        for text in ["198.51.100.1", "203.0.113.1", "198.18.0.1"] {
            let path = try address(text).currentPath
            #expect(path.status == .unsatisfied && path.hasIPv4DefaultRoute, "\(text)")
            #expect(path.reason?.hasPrefix("no way to \(text): there is no route (") == true)
        }
        #expect(try address("192.0.2.9").currentPath.interface?.name == "v0")
        #expect(try address("::ffff:192.0.2.9").currentPath.interface?.name == "v0")

        try Cable.plug()
        try Cable.change("addr flush dev v0", "addr add 169.254.3.3/16 dev v0", "route add default dev v0")
        #expect(monitor.currentPath.reason?.contains("link-local address only") == true)
        try Cable.change("addr flush dev v0", "link set v0 up")
        #expect(monitor.currentPath.status == .unsatisfied)
        // Halves in the place of a default route, as tunnels make them.
        try Cable.change("addr add 192.0.2.5/24 dev v0", "route add 0.0.0.0/1 dev v0", "route add 128.0.0.0/1 dev v0")
        #expect(monitor.currentPath.hasIPv4DefaultRoute)
    }

    @Test("loopback addresses need the loopback interface, and nothing else does, T-NET-08")
    func loopback() async throws {
        try Cable.plug()
        try Cable.change("route add default via 192.0.2.1")
        #expect(try address("127.0.0.1").currentPath.interface?.kind == .loopback)

        try Cable.change("link set lo down")
        // Some kernels would ask the router for it.
        #expect(try address("127.0.0.1").currentPath.status == .unsatisfied)
        #expect(try address("::1").currentPath.status == .unsatisfied)
        #expect(monitor.currentPath.status == .satisfied)
        let up = try address("127.0.0.1")
        var paths = await watch(up)
        try Cable.change("link set lo up")
        while let path = await paths.next(), path.status != .satisfied {}
        #expect(up.currentPath.status == .satisfied)
    }

    @Test func `the kind of an interface is read from its driver, not from its name`() throws {
        try Cable.plug()
        try Cable.change("route add default via 192.0.2.1")
        // Names of another namespace say nothing here.
        let folder = "/sys/class/net"
        #expect(try Namespace.execute("mount", ["-t", "tmpfs", "none", folder]).status == 0)
        defer { _ = try? Namespace.execute("umount", [folder]) }
        func write(_ name: String, _ lines: String) throws {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name)/phy80211",
                withIntermediateDirectories: true
            )
            try lines.write(toFile: "\(folder)/\(name)/uevent", atomically: false, encoding: .utf8)
        }
        let index = Int32(try #require(monitor.currentPath.interface).index)
        func facts(_ name: String = "v0") -> InterfaceFacts { KernelNetwork.systemFacts(name, index) }

        try write("v0", "DEVTYPE=wlan\nINTERFACE=v0\nIFINDEX=\(index)\n")
        #expect(facts() == InterfaceFacts(isWireless: true))
        try write("v0", "DEVTYPE=wwan\nINTERFACE=v0\nIFINDEX=\(index)\n")
        #expect(facts() == InterfaceFacts(isWireless: true, isCellular: true))
        try write("v0", "DEVTYPE=wwanted\nINTERFACE=v0\nIFINDEX=\(index)\n")
        #expect(facts() == InterfaceFacts(isWireless: true))
        // Another interface by that name; none at all; a name that leads elsewhere.
        try write("v0", "DEVTYPE=wwan\nIFINDEX=\(index)7\n")
        #expect(
            facts() == InterfaceFacts() && facts("v7") == InterfaceFacts() && facts("../net/v0") == InterfaceFacts()
        )
        // A cable of software has no driver, whatever /sys says.
        try write("v0", "DEVTYPE=wwan\nIFINDEX=\(index)\n")
        #expect(monitor.currentPath.interface?.kind == .wired)
    }

    @Test("an interface that is renamed, or another with its number, is read anew, T-NET-12")
    func renamed() async throws {
        try Cable.plug()
        try Cable.change("route add default via 192.0.2.1")
        let number = try #require(monitor.currentPath.interface).index
        var paths = await watch(monitor)

        try Cable.change("link set v0 down", "link set v0 name w0", "link set w0 up", "route add default via 192.0.2.1")
        while let path = await paths.next(), path.interface?.name != "w0" {}
        #expect(monitor.currentPath.interface?.index == number)
        try Cable.change(
            "link del w0",
            "link add v0 index \(number) type veth peer name v1",
            "link set v0 up",
            "addr add 198.51.100.5/24 dev v0"
        )
        while let path = await paths.next(), path.interfaces.first(where: { $0.index == number })?.name != "v0" {}
        #expect(monitor.currentPath.status == .unsatisfied)
    }

    @Test("a link that flaps is told of five times a second at most, and its last state always, T-NET-06")
    func flapping() async throws {
        try Cable.plug()
        let told = Lock<[NetworkPath]>([])
        let observation = monitor.observe(on: DispatchQueue(label: "test")) { path in told.withLock { $0.append(path) }
        }
        _ = await wait(monitor) { _ in true }
        let start = ContinuousClock.now
        for _ in 1...10 {
            let lines = (1...20).map { $0 % 2 == 1 ? "route add default via 192.0.2.1" : "route del default" }
            _ = try Namespace.execute("ip", ["-batch", "-"], input: lines.joined(separator: "\n") + "\n")
        }
        try Cable.change("route add default via 192.0.2.1")
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        while told.withLock({ $0.last?.status }) != .satisfied { try await Task.sleep(for: .milliseconds(5)) }

        #expect(Double(told.withLock { $0.count }) <= 5 * seconds + 3)
        #expect(told.withLock { $0.last } == monitor.currentPath)
        observation.cancel()
    }

    @Test("an overflow loses messages and no state, T-NET-01")
    func overflow() async throws {
        try Cable.plug()
        var paths = await watch(monitor)
        let socket = try #require(NetlinkSockets.watching.first)
        var size = Int32(2048)
        #expect(setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4) == 0)
        let dropped = try NetlinkSockets.drops(of: socket)

        // The monitor does not read while the network thread is held up.
        let gate = DispatchSemaphore(value: 0)
        World.system.loop.enqueue { gate.wait() }
        let lines = (0..<400).map { "addr add 10.\($0 / 250).\($0 % 250).1/32 dev lo" }
        try Cable.change(lines.joined(separator: "\n"), "route add default via 192.0.2.1")
        #expect(try NetlinkSockets.drops(of: socket) > dropped)
        gate.signal()

        while let path = await paths.next(), path.interfaces.first(where: { $0.name == "lo" })?.addresses.count != 402 {
        }
        let path = monitor.currentPath
        #expect(path.status == .satisfied && path.interfaces.first { $0.name == "lo" }?.addresses.count == 402)
        // And it goes on.
        try Cable.change("route del default")
        while let path = await paths.next(), path.status != .unsatisfied {}
        try Cable.unplug()
    }

    @Test("messages from another process change nothing, T-NET-03")
    func forged() async throws {
        try Cable.plug()
        let changes = Lock(0)
        let observation = monitor.observe(on: DispatchQueue(label: "test")) { _ in changes.withLock { $0 += 1 } }
        _ = await wait(monitor) { _ in true }
        let socket = try #require(NetlinkSockets.watching.first)
        let message = NetlinkBytes.address(1, [10, 6, 6, 6], sequence: 0)
        for _ in 1...40 { #expect(NetlinkSockets.send(message, to: socket.port) == message.count) }

        // A true change arrives behind them all, by the same socket.
        try Cable.change("route add default via 192.0.2.1")
        _ = await wait(monitor) { $0.status == .satisfied }
        while changes.withLock({ $0 }) < 2 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(changes.withLock { $0 } == 2)
        #expect(NetlinkSockets.watching.map(\.descriptor) == [socket.descriptor])
        observation.cancel()
    }

    @Test("a manager's status is true when its start returns, and follows the cable, T-NET-07")
    func manager() async throws {
        try Cable.plug()
        let manager = NetworkReachabilityManager.manager()
        let queue = DispatchQueue(label: "test")
        manager.callbackQueue = queue
        let (stream, told) = AsyncStream.makeStream(of: NetworkReachabilityStatus.self)
        manager.setReachabilityStatusChange { told.yield($0) }
        #expect(manager.networkReachabilityStatus == .unknown)

        manager.startMonitoring()
        #expect(manager.networkReachabilityStatus == .notReachable)
        var statuses = stream.makeAsyncIterator()
        var heard = [await statuses.next()]
        try Cable.change("route add default via 192.0.2.1")
        heard.append(await statuses.next())
        // Another path, the same status.
        try Cable.change("addr add 192.0.2.6/24 dev v0")
        heard.append(await statuses.next())
        try Cable.change("route del default")
        heard.append(await statuses.next())
        manager.stopMonitoring()
        try Cable.change("route add default via 192.0.2.1")
        manager.startMonitoring()
        #expect(manager.isReachableViaWiFi)
        heard.append(await statuses.next())
        #expect(heard == [.notReachable, .reachableViaWiFi, .reachableViaWiFi, .notReachable, .reachableViaWiFi])
    }
}

/// The netlink sockets of this process.
private enum NetlinkSockets {
    struct Socket {
        let descriptor: Int32
        let port: UInt32
        let inode: String
    }

    private static let family: UInt16 = 16

    /// Those that hear of changes.
    static var watching: [Socket] {
        (0..<Int32(1024)).compactMap { descriptor in
            var name = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let found = withUnsafeMutablePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            }
            guard found == 0, name.ss_family == family else { return nil }
            return withUnsafeBytes(of: &name) { bytes in
                // Family and padding, port, groups.
                guard bytes.load(fromByteOffset: 8, as: UInt32.self) != 0 else { return nil }
                let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
                let inode = (link ?? "").filter(\.isNumber)
                return Socket(
                    descriptor: descriptor,
                    port: bytes.load(fromByteOffset: 4, as: UInt32.self),
                    inode: inode
                )
            }
        }
    }

    /// How many messages the kernel could not put into it.
    static func drops(of socket: Socket) throws -> Int {
        let table = try String(contentsOfFile: "/proc/self/net/netlink", encoding: .utf8)
        let rows = table.split(separator: "\n").map { $0.split(separator: " ") }
        // sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode
        let row = try #require(rows.first { $0.count == 10 && $0[9] == socket.inode })
        return try #require(Int(row[8]))
    }

    /// Returns what `sendto` does.
    static func send(_ message: [UInt8], to port: UInt32) -> Int {
        let descriptor = socket(Int32(family), Int32(SOCK_RAW.rawValue), 0)
        defer { close(descriptor) }
        var address = NetlinkBytes.bytes(UInt32(family)) + NetlinkBytes.bytes(port) + NetlinkBytes.bytes(UInt32(0))
        return address.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return -1 }
            return sendto(descriptor, message, message.count, 0, base.assumingMemoryBound(to: sockaddr.self), 12)
        }
    }
}
