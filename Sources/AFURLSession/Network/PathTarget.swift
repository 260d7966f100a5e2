import AFLoop
import AFWire

/// The target of a route.
enum PathTarget: Sendable, Hashable {
    /// The internet.
    case machine
    case address(SocketAddress)
    case name(String)
    /// Text that cannot be a host.
    case impossible(String)

    /// - Parameter host: A name, or an address as text.
    init(host: String) {
        if let address = NetworkAddress(host) {
            self.init(address)
            return
        }
        do throws(RequestRejection) {
            self = .name(try Endpoint(scheme: .http, host: host).host.connectName)
        } catch {
            self = .impossible("the host \(error.rule.rawValue). Give its name alone, as in api.example.com")
        }
    }

    /// As on Apple platforms, the unspecified address means the internet.
    init(_ address: NetworkAddress) {
        let address = address.socketAddress.unmapped
        self = address.isUnspecified ? .machine : .address(address)
    }

    /// The addresses that are known without a lookup.
    var knownAddresses: [SocketAddress] { if case .address(let address) = self { [address] } else { [] } }
}
