import AFBase
package import AFLoop
import AFVirtualSystem
import Glibc

/// A machine whose interfaces and routes a test sets. It begins with a loopback interface and nothing else.
///
/// That something has changed is told by `VirtualWorld.changeNetwork`.
package final class VirtualMachine: NetworkSource {
    fileprivate struct State: Sendable {
        var interfaces = [InterfaceState(index: 1, name: "lo", kind: .loopback)]
        /// By families: what is not listed goes this way.
        var defaults: [Bool: Route] = [:]
        var routes: [SocketAddress: RouteAnswer] = [:]
        var failures: [NetlinkFailure] = []
        var readings = 0
    }

    private let state = Lock(State())

    package init() {}

    /// How often the state of the machine was read.
    package var readings: Int { state.withLock { $0.readings } }

    /// Puts an interface in the place of the one with its index, if there is one.
    package func set(_ interface: InterfaceState) {
        state.withLock { state in
            state.interfaces.removeAll { $0.index == interface.index }
            state.interfaces.append(interface)
        }
    }

    package func remove(_ index: Int32) {
        state.withLock { state in
            state.interfaces.removeAll { $0.index == index }
            state.defaults = state.defaults.filter { $0.value.interface != index }
        }
    }

    /// Where packets to far addresses of IPv4 go.
    package func setDefaultRoute(by interface: Int32?, from source: String = "192.0.2.200") {
        let source = VirtualSystem.address(source, port: 0)
        state.withLock { $0.defaults[false] = interface.map { Route(interface: $0, source: source) } }
    }

    /// Where packets to far addresses of IPv6 go.
    package func setIPv6DefaultRoute(by interface: Int32?, from source: String = "2001:db8::200") {
        let source = VirtualSystem.address(source, port: 0)
        state.withLock { $0.defaults[true] = interface.map { Route(interface: $0, source: source) } }
    }

    package func set(_ answer: RouteAnswer?, for address: String) {
        guard let address = VirtualSystem.address(address, port: 0) else { return }
        state.withLock { $0.routes[address] = answer }
    }

    /// So many of the next readings come to nothing.
    package func fail(_ failure: NetlinkFailure, times: Int = 1) {
        state.withLock { $0.failures += Array(repeating: failure, count: times) }
    }

    package func succeed() {
        state.withLock { $0.failures = [] }
    }

    package func read(routesTo addresses: [SocketAddress]) -> Result<NetworkReading, NetlinkFailure> {
        state.withLock { state in
            state.readings += 1
            if !state.failures.isEmpty { return .failure(state.failures.removeFirst()) }
            let routes = addresses.map { ($0, state.route(to: $0)) }
            let reading = NetworkReading(
                interfaces: state.interfaces,
                routes: Dictionary(routes, uniquingKeysWith: { first, _ in first })
            )
            return .success(reading)
        }
    }
}

extension VirtualMachine.State {
    fileprivate func route(to address: SocketAddress) -> RouteAnswer {
        if let answer = routes[address] { return answer }
        if address.isLoopback { return .route(Route(interface: 1, isLocal: true, source: address)) }
        return defaults[address.isIPv6].map { .route($0) } ?? .refused(ENETUNREACH)
    }
}
