import AFLoop
import AFWire
import Foundation

extension ProxyConfiguration {
    /// The proxies that the environment names by now, as a session takes them that has no setting for proxies. Use it
    /// to change a part of that.
    public static func ofEnvironment() throws(ProxyConfigurationError) -> ProxyConfiguration {
        try ProxyConfiguration(ProxyEnvironment(ProxyEnvironment.ofProcess()))
    }

    package init(_ environment: ProxyEnvironment) throws(ProxyConfigurationError) {
        self.init()
        // A variable that is there and empty means no proxy.
        http = try (environment.http ?? environment.all)?.get()
        https = try (environment.https ?? environment.all)?.get()
        exceptions = environment.exceptions()
    }
}

/// The variables that name proxies, as they were when they were read.
///
/// | variable | means |
/// | --- | --- |
/// | `http_proxy` | the proxy for `http` URLs |
/// | `https_proxy`, `HTTPS_PROXY` | the proxy for `https` URLs |
/// | `all_proxy`, `ALL_PROXY` | the proxy for what has none of its own |
/// | `no_proxy`, `NO_PROXY` | who is reached without one |
///
/// `HTTP_PROXY` is not among them: in a CGI program it is the `Proxy` field of the client that sent the request. Of two
/// spellings the lower-case one counts. One that is there and empty means no proxy.
package struct ProxyEnvironment: ProxySource {
    package let http: Result<ProxyServer?, ProxyConfigurationError>?
    package let https: Result<ProxyServer?, ProxyConfigurationError>?
    package let all: Result<ProxyServer?, ProxyConfigurationError>?
    package let excludesSimpleHostnames = false
    private let noProxy: String

    package init(_ variables: [String: String]) {
        http = ProxyEnvironment.proxy(variables, names: "http_proxy")
        https = ProxyEnvironment.proxy(variables, names: "https_proxy", "HTTPS_PROXY")
        all = ProxyEnvironment.proxy(variables, names: "all_proxy", "ALL_PROXY")
        noProxy = variables["no_proxy"] ?? variables["NO_PROXY"] ?? ""
    }

    package func exceptions() -> ProxyExceptions { ProxyExceptions(noProxy: noProxy) }

    private static func proxy(
        _ variables: [String: String],
        names: String...
    ) -> Result<ProxyServer?, ProxyConfigurationError>? {
        guard let name = names.first(where: { variables[$0] != nil }), let text = variables[name] else { return nil }
        guard !text.isEmpty else { return .success(nil) }
        return Result { () throws(ProxyConfigurationError) in try ProxyServer(text) }
            .mapError { $0.found(in: name) }
    }

    private static let names = [
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    ]

    /// Those of this process.
    package static let ofProcess: @Sendable () -> [String: String] = { ProcessVariables.values(of: names) }
}
