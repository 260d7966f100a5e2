import Foundation

/// Whether something can be reached, and by which kind of network.
@nonexhaustive
public enum NetworkReachabilityStatus: Int, Sendable, CustomStringConvertible {
    /// Unknown: monitoring has not started, or the kernel does not say.
    case unknown = -1
    /// There is no route.
    case notReachable = 0
    /// By a cellular modem.
    case reachableViaWWAN = 1
    /// By any other network: wireless, wired, a tunnel, or this machine itself.
    case reachableViaWiFi = 2

    /// - Parameter path: The path to the host. Only a cellular modem counts as WWAN.
    public init(_ path: NetworkPath) {
        self =
            switch path.status {
            case .unknown: .unknown
            case .unsatisfied: .notReachable
            case .satisfied: path.isCellular ? .reachableViaWWAN : .reachableViaWiFi
            }
    }

    /// In English.
    public var description: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachableViaWWAN: "Reachable via WWAN"
        case .reachableViaWiFi: "Reachable via WiFi"
        }
    }

    /// In the language of the user, if the program has a table `AFNetworking.strings` with these texts as its keys;
    /// otherwise in English.
    public var localizedDescription: String {
        Bundle.main.localizedString(forKey: description, value: description, table: "AFNetworking")
    }

    /// Whether there is a route.
    public var isReachable: Bool { self == .reachableViaWWAN || self == .reachableViaWiFi }
}
