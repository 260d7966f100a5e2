import AFURLSession
import Foundation

/// The options about proxies.
package struct ProxyOptions: Sendable, Equatable {
    /// `--proxy`; empty for no proxy, even if the environment names one.
    package var address: String?
    package var login: Login?
    package var scheme = LoginScheme.basic
    package var tunnels = false
    package var fields: [HeaderOption] = []
    /// `--noproxy`
    package var bypassed: String?

    func check() throws(ArgumentError) {
        guard address?.isEmpty ?? true else {
            _ = try configuration()
            return
        }
        if login != nil { throw .usage("--proxy-user needs --proxy") }
        if tunnels { throw .usage("--proxytunnel needs --proxy") }
        if !fields.isEmpty { throw .usage("--proxy-header needs --proxy") }
        if let bypassed, bypassed != "*" { throw .usage("--noproxy needs --proxy, or to be \"*\"") }
    }

    /// Nil to use the environment.
    func configuration() throws(ArgumentError) -> ProxyConfiguration? {
        guard let address else { return bypassed == "*" ? ProxyConfiguration.none : nil }
        guard !address.isEmpty else { return ProxyConfiguration.none }
        var configuration = ProxyConfiguration(try server(address))
        configuration.includesLoopback = true
        configuration.tunnelsPlainHTTP = tunnels
        configuration.exceptions = ProxyExceptions(noProxy: bypassed ?? "")
        for field in fields {
            guard case .set(let name, let value) = field else {
                throw .badArgument("--proxy-header needs \"Name: value\": a proxy gets no field to take out")
            }
            configuration.tunnelFields[name] = value
        }
        return configuration
    }

    /// The credentials for a challenge of the proxy; nil if they are sent with the first request, or there are none.
    var answer: Login? { scheme == .basic ? nil : login ?? address.flatMap(Self.login) }

    private func server(_ address: String) throws(ArgumentError) -> ProxyServer {
        do throws(ProxyConfigurationError) {
            let given = try ProxyServer(address)
            guard login != nil || scheme != .basic else { return given }
            let said = scheme == .basic ? login : nil
            return try ProxyServer(
                given.kind,
                host: given.host,
                port: given.port,
                user: said?.user,
                password: said?.password ?? ""
            )
        } catch {
            throw .badArgument("--proxy: \(error.reason.rawValue)")
        }
    }

    private static func login(in address: String) -> Login? {
        Login(of: URLComponents(string: address.contains("://") ? address : "http://\(address)"))
    }
}
