package import AFWire

/// Which request takes which way, as it was when the session was made. Pure: no clock, no lookup.
package struct ProxySelection: Sendable {
    fileprivate enum Choice: Sendable {
        case direct
        case via(ProxyRoute)
        case wrong(ProxyConfigurationError)
    }

    private var http = Choice.direct
    private var https = Choice.direct
    private var exceptions = ProxyExceptions()
    private var includesLoopback = false
    private var excludesSimpleHostnames = false
    /// No request takes a proxy.
    package let isEmpty: Bool

    package init() {
        isEmpty = true
    }

    /// - Parameter agent: The `User-Agent` of requests for tunnels, unless the request that needs one has its own.
    package init(_ configuration: ProxyConfiguration, agent: HTTPHeaders) {
        var makers = RouteMaker(configuration: configuration, agent: agent)
        let all = configuration.all.map { makers.choice($0) } ?? .direct
        http = configuration.http.map { makers.choice($0) } ?? all
        https = configuration.https.map { makers.choice($0) } ?? all
        exceptions = configuration.exceptions
        includesLoopback = configuration.includesLoopback
        excludesSimpleHostnames = configuration.excludesSimpleHostnames
        isEmpty = configuration.http == nil && configuration.https == nil && configuration.all == nil
    }

    /// Takes the proxies of a dictionary, or of the environment.
    package init(_ source: some ProxySource, agent: HTTPHeaders) {
        var configuration = ProxyConfiguration()
        let all = Setting(source.all)
        let (http, https) = (Setting(source.http), Setting(source.https))
        (configuration.http, configuration.https, configuration.all) = (http.server, https.server, all.server)
        configuration.excludesSimpleHostnames = source.excludesSimpleHostnames
        let exceptions = Result { () throws(ProxyConfigurationError) in try source.exceptions() }
        configuration.exceptions = (try? exceptions.get()) ?? ProxyExceptions()
        let made = ProxySelection(configuration, agent: agent)
        self.exceptions = made.exceptions
        excludesSimpleHostnames = made.excludesSimpleHostnames
        self.http = http.choice(made.http, otherwise: all)
        self.https = https.choice(made.https, otherwise: all)
        if case .failure(let error) = exceptions, http.isThere || https.isThere || all.isThere {
            // The exceptions cannot be read, so we do not know which hosts need no proxy.
            self.http = self.http.failing(error)
            self.https = self.https.failing(error)
        }
        isEmpty = self.http.isDirect && self.https.isDirect
    }

    /// How connections to the proxies are secured.
    package var allTLS: [TLSConfiguration] {
        [http, https].compactMap { if case .via(let route) = $0 { route.proxy.tls } else { nil } }
    }

    /// The way to a server. Nil: straight to it.
    package func route(for endpoint: Endpoint) throws(ProxyConfigurationError) -> ProxyRoute? {
        if isEmpty { return nil }
        let choice = endpoint.isSecured ? https : http
        if choice.isDirect || isExcepted(endpoint) { return nil }
        switch choice {
        case .direct: return nil
        case .via(let route): return route
        case .wrong(let error): throw error
        }
    }

    private func isExcepted(_ endpoint: Endpoint) -> Bool {
        let host = endpoint.host
        if !includesLoopback, host.isLoopback { return true }
        if excludesSimpleHostnames, host.kind == .name, !host.text.utf8.contains(UInt8(ascii: ".")) { return true }
        return exceptions.contains(endpoint)
    }
}

/// A source of proxy settings, which may be wrong.
package protocol ProxySource {
    /// Nil: not set. A setting may be there and say that there is no proxy.
    var http: Result<ProxyServer?, ProxyConfigurationError>? { get }
    var https: Result<ProxyServer?, ProxyConfigurationError>? { get }
    var all: Result<ProxyServer?, ProxyConfigurationError>? { get }
    var excludesSimpleHostnames: Bool { get }
    func exceptions() throws(ProxyConfigurationError) -> ProxyExceptions
}

extension ProxySelection {
    private enum Setting {
        case missing
        case none
        case server(ProxyServer)
        case wrong(ProxyConfigurationError)

        init(_ found: Result<ProxyServer?, ProxyConfigurationError>?) {
            switch found {
            case nil: self = .missing
            case .success(nil): self = .none
            case .success(let server?): self = .server(server)
            case .failure(let error): self = .wrong(error)
            }
        }

        var server: ProxyServer? {
            if case .server(let server) = self { server } else { nil }
        }

        var isThere: Bool {
            if case .missing = self { false } else { true }
        }

        /// - Parameter made: The choice that was made of it, or of `all` in its place.
        func choice(_ made: Choice, otherwise all: Setting) -> Choice {
            switch self {
            case .wrong(let error): return .wrong(error)
            case .none: return .direct
            case .server: return made
            case .missing:
                if case .wrong(let error) = all { return .wrong(error) }
                return made
            }
        }
    }
}

extension ProxySelection.Choice {
    fileprivate var isDirect: Bool {
        if case .direct = self { true } else { false }
    }

    fileprivate func failing(_ error: ProxyConfigurationError) -> ProxySelection.Choice {
        isDirect ? self : .wrong(error)
    }
}

extension ProxySelection {
    /// Makes the routes of one configuration.
    private struct RouteMaker {
        private let fields: Result<TunnelFields, ProxyConfigurationError>
        private let agent: HTTPHeaders
        private let tunnelsPlainHTTP: Bool
        private var count = 0

        init(configuration: ProxyConfiguration, agent: HTTPHeaders) {
            fields = Result { () throws(ProxyConfigurationError) in try TunnelFields(configuration.tunnelFields) }
            self.agent = agent
            tunnelsPlainHTTP = configuration.tunnelsPlainHTTP
        }

        mutating func choice(_ server: ProxyServer) -> Choice {
            count += 1
            switch fields {
            case .failure(let error): return .wrong(error)
            case .success(let fields):
                return .via(
                    ProxyRoute(
                        server: server,
                        number: count,
                        tunnelsPlainHTTP: tunnelsPlainHTTP,
                        tunnelFields: fields,
                        agent: agent
                    )
                )
            }
        }
    }
}
