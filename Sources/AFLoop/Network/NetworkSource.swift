import CAFLinux
import Glibc

/// What there is of a network at one moment.
package struct NetworkReading: Sendable, Hashable {
    package var interfaces: [InterfaceState]
    /// For each address that was asked about.
    package var routes: [SocketAddress: RouteAnswer]

    package init(interfaces: [InterfaceState], routes: [SocketAddress: RouteAnswer]) {
        self.interfaces = interfaces
        self.routes = routes
    }

    package func interface(_ index: Int32) -> InterfaceState? { interfaces.first { $0.index == index } }
}

/// Tells what there is of a network, on the thread that asks. It may have to wait for a thread that changes the
/// network, so do not ask on the network thread.
package protocol NetworkSource: Sendable {
    func read(routesTo addresses: [SocketAddress]) -> Result<NetworkReading, NetlinkFailure>
}

/// Asks the kernel, by netlink.
///
/// Everything is asked for each time, and nothing kept: whatever was lost, renamed, or replaced by another interface
/// with the same number, is right in the next reading.
package struct KernelNetwork: NetworkSource {
    private static let attempts = 5
    private static let pause: Int64 = 1_000_000

    private let open: @Sendable () throws(SystemCallError) -> any NetlinkPort
    private let facts: @Sendable (_ name: String, _ index: Int32) -> InterfaceFacts

    /// - Parameters:
    ///   - open: Makes the way to the kernel, for each reading.
    ///   - facts: What drivers say of an interface.
    package init(
        open: @escaping @Sendable () throws(SystemCallError) -> any NetlinkPort = KernelNetwork.openPort,
        facts: @escaping @Sendable (_ name: String, _ index: Int32) -> InterfaceFacts = KernelNetwork.systemFacts
    ) {
        self.open = open
        self.facts = facts
    }

    package static let openPort: @Sendable () throws(SystemCallError) -> any NetlinkPort = {
        () throws(SystemCallError) in try KernelPort()
    }

    package static let systemFacts: @Sendable (_ name: String, _ index: Int32) -> InterfaceFacts = { name, index in
        let facts = caf_facts_of_interface(name, index)
        return InterfaceFacts(isWireless: facts.is_wireless, isCellular: facts.is_cellular)
    }

    package func read(routesTo addresses: [SocketAddress]) -> Result<NetworkReading, NetlinkFailure> {
        repeated { () throws(NetlinkFailure) -> NetworkReading in
            var conversation = try converse()
            let interfaces = try self.interfaces(&conversation)
            var routes: [SocketAddress: RouteAnswer] = [:]
            for address in addresses { routes[address] = try route(to: address, conversation: &conversation) }
            let reading = NetworkReading(interfaces: interfaces, routes: routes)
            guard reading.isConsistent else { throw .unsettled }
            return reading
        }
    }

    /// One route alone. Takes no lock that others may hold for long.
    package func route(to address: SocketAddress) -> Result<RouteAnswer, NetlinkFailure> {
        Result { () throws(NetlinkFailure) -> RouteAnswer in
            var conversation = try converse()
            return try route(to: address, conversation: &conversation)
        }
    }

    private func repeated<Answer>(
        _ attempt: () throws(NetlinkFailure) -> Answer
    ) -> Result<Answer, NetlinkFailure> {
        var pause = KernelNetwork.pause
        var result = Result(catching: attempt)
        for _ in 1..<KernelNetwork.attempts {
            guard case .failure(.unsettled) = result else { return result }
            caf_sleep_nanoseconds(pause)
            pause *= 2
            result = Result(catching: attempt)
        }
        return result
    }

    private func converse() throws(NetlinkFailure) -> NetlinkConversation {
        do throws(SystemCallError) {
            return NetlinkConversation(try open())
        } catch {
            throw NetlinkFailure(error)
        }
    }

    private func interfaces(_ conversation: inout NetlinkConversation) throws(NetlinkFailure) -> [InterfaceState] {
        let links = try conversation.list(NetlinkRequest.links, of: Netlink.newLink, part: KernelNetwork.link)
        let found = try conversation.list(NetlinkRequest.addresses, of: Netlink.newAddress, part: KernelNetwork.address)
        let addresses = Dictionary(grouping: found.filter(\.isUsable), by: \.interface)
        return links.map { link in
            InterfaceState(
                index: link.index,
                name: link.name,
                kind: kind(of: link),
                isUp: link.isUp,
                isRunning: link.isRunning,
                addresses: (addresses[link.index] ?? []).map(\.address)
            )
        }
    }

    private static func link(_ message: NetlinkMessage) throws(NetlinkFailure) -> LinkMessage? {
        guard let link = LinkMessage(message) else { throw .unsettled }
        return link
    }

    private static func address(_ message: NetlinkMessage) throws(NetlinkFailure) -> AddressMessage? {
        guard AddressMessage.isOfInternet(message) else { return nil }
        guard let address = AddressMessage(message) else { throw .unsettled }
        return address
    }

    /// Drivers are asked only about what has one: thousands of interfaces of containers have none.
    private func kind(of link: LinkMessage) -> InterfaceKind {
        let facts = link.kind == nil ? self.facts(link.name, link.index) : InterfaceFacts()
        return InterfaceKind(hardware: link.hardware, link: link.kind, name: link.name, facts: facts)
    }

    private func route(
        to address: SocketAddress,
        conversation: inout NetlinkConversation
    ) throws(NetlinkFailure) -> RouteAnswer {
        guard address.isInternet else { return .refused(EAFNOSUPPORT) }
        let answer = try conversation.answer({ NetlinkRequest.route(to: address, sequence: $0) }) { RouteAnswer($0) }
        // That it has no memory says nothing about the way.
        if case .refused(ENOMEM) = answer { throw .unsettled }
        if case .refused(ENOBUFS) = answer { throw .unsettled }
        return answer
    }
}

extension NetworkReading {
    /// Whether every way leads through an interface of the list, and not one that came meanwhile.
    fileprivate var isConsistent: Bool {
        routes.values.allSatisfy { answer in
            guard case .route(let route) = answer else { return true }
            return interface(route.interface) != nil
        }
    }
}
