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
        if address == nil { _ = try tunnelFields() } else { _ = try configuration() }
    }

    func configuration() throws(ArgumentError) -> ProxyConfiguration {
        if let address, address.isEmpty { return ProxyConfiguration.none }
        var configuration = if let address { try named(address) } else { try ofEnvironment() }
        if let bypassed = bypassed ?? Self.bypassedInEnvironment {
            configuration.exceptions = ProxyExceptions(noProxy: bypassed)
        }
        // As curl does: what is reached without a proxy stands in no_proxy.
        configuration.includesLoopback = true
        configuration.tunnelsPlainHTTP = tunnels
        configuration.tunnelFields = try tunnelFields()
        return configuration
    }

    /// The environment says also of a proxy of the command line who is reached without it.
    private static var bypassedInEnvironment: String? {
        Environment.value(of: "no_proxy") ?? Environment.value(of: "NO_PROXY")
    }

    /// The address without a path, which says nothing of a proxy.
    private static func withoutPath(_ address: String) -> String {
        let start = address.range(of: "://")?.upperBound ?? address.startIndex
        guard let slash = address[start...].firstIndex(of: "/"), !address[slash...].contains("@") else {
            return address
        }
        return String(address[..<slash])
    }

    private func named(_ address: String) throws(ArgumentError) -> ProxyConfiguration {
        // In curl the path of a SOCKS proxy is that of a Unix socket.
        let path = address.dropFirst(Self.withoutPath(address).count)
        if address.lowercased().hasPrefix("socks"), !["", "/"].contains(path) {
            throw .badArgument("--proxy: afnet reaches a SOCKS proxy by host and port: leave the path out")
        }
        do throws(ProxyConfigurationError) {
            return ProxyConfiguration(try withLogin(ProxyServer(Self.withoutPath(address))))
        } catch {
            throw .badArgument("--proxy: \(error.reason.rawValue)")
        }
    }

    private func ofEnvironment() throws(ArgumentError) -> ProxyConfiguration {
        do throws(ProxyConfigurationError) {
            var configuration = try ProxyConfiguration.ofEnvironment()
            if let server = configuration.http { configuration.http = try withLogin(server) }
            if let server = configuration.https { configuration.https = try withLogin(server) }
            return configuration
        } catch {
            throw .badArgument("\(error)")
        }
    }

    private func tunnelFields() throws(ArgumentError) -> [String: String] {
        var named: [String: String] = [:]
        for field in fields {
            guard case .set(let name, let value) = field else {
                throw .badArgument("--proxy-header needs \"Name: value\": a proxy gets no field to take out")
            }
            named[name] = value
        }
        return named
    }

    /// The credentials for a challenge of the proxy; nil if they are sent with the first request, or there are none.
    var answer: Login? { scheme == .basic ? nil : login ?? address.flatMap(Self.login) }

    /// The server with the login that it is told unasked.
    private func withLogin(_ given: ProxyServer) throws(ProxyConfigurationError) -> ProxyServer {
        guard login != nil || scheme != .basic else { return given }
        let said = scheme == .basic ? login : nil
        return try ProxyServer(
            given.kind,
            host: given.host,
            port: given.port,
            user: said?.user,
            password: said?.password ?? ""
        )
    }

    private static func login(in address: String) -> Login? {
        Login(of: URLComponents(string: address.contains("://") ? address : "http://\(address)"))
    }
}

extension ProxyConfiguration {
    /// Whether some host is reached by a proxy.
    var leadsToProxy: Bool {
        [http, https, all].contains { $0 != nil } && exceptions != ProxyExceptions(noProxy: "*")
    }
}
