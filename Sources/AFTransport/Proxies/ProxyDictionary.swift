import Foundation

/// Proxies as Apple's loader takes them: keys such as `HTTPSEnable`, `HTTPSProxy`, `HTTPSPort`.
///
/// A proxy counts when its `Enable` key is not zero. Proxies for `SOCKS` serve what has none of its own, and look names
/// up themselves.
package struct ProxyDictionary: ProxySource, Sendable {
    /// A value by its type. `other` stands for all types that no key may have.
    package enum Value: Sendable, Hashable {
        case text(String)
        case number(Int)
        case list([String])
        case other
    }

    private let values: [String: Value]

    package init(_ dictionary: [AnyHashable: Any]) {
        values = Dictionary(dictionary.map { ("\($0.key)", Value($0.value)) }) { first, _ in first }
    }

    /// The dictionary again, without values of other types.
    package var dictionary: [AnyHashable: Any] {
        values.compactMapValues { value -> Any? in
            switch value {
            case .text(let text): text
            case .number(let number): number
            case .list(let list): list
            case .other: nil
            }
        }
    }

    // MARK: - Proxies

    package var http: Result<ProxyServer?, ProxyConfigurationError>? { automatic ?? server(.http, prefix: "HTTP") }
    package var https: Result<ProxyServer?, ProxyConfigurationError>? { automatic ?? server(.http, prefix: "HTTPS") }
    package var all: Result<ProxyServer?, ProxyConfigurationError>? { server(.socks5h, prefix: "SOCKS") }

    package var excludesSimpleHostnames: Bool { isOn("ExcludeSimpleHostnames") }

    package func exceptions() throws(ProxyConfigurationError) -> ProxyExceptions {
        switch values["ExceptionsList"] {
        case nil: return ProxyExceptions()
        case .list(let entries): return try ProxyExceptions(entries)
        case .text, .number, .other: throw ProxyConfigurationError(.type, in: "ExceptionsList")
        }
    }

    /// A script decides, and we cannot run it. To pass it over would be to go another way than it says.
    private var automatic: Result<ProxyServer?, ProxyConfigurationError>? {
        ["ProxyAutoConfigEnable", "ProxyAutoDiscoveryEnable"].first(where: isOn)
            .map { .failure(ProxyConfigurationError(.automatic, in: $0)) }
    }

    private func server(
        _ kind: ProxyServer.Kind,
        prefix: String
    ) -> Result<ProxyServer?, ProxyConfigurationError>? {
        guard isOn("\(prefix)Enable") else { return nil }
        return Result { () throws(ProxyConfigurationError) in
            guard case .text(let host)? = values["\(prefix)Proxy"] else {
                throw ProxyConfigurationError(.host, in: "\(prefix)Proxy")
            }
            let user = try text("\(prefix)User", "kCFProxyUsernameKey")
            let password = try text("\(prefix)Password", "kCFProxyPasswordKey")
            let port = try port("\(prefix)Port")
            do throws(ProxyConfigurationError) {
                return try ProxyServer(kind, host: host, port: port, user: user, password: password ?? "")
            } catch {
                throw error.found(in: error.reason == .port ? "\(prefix)Port" : "\(prefix)Proxy")
            }
        }
    }

    /// A value that is no number does not mean off: it fails where the proxy is made.
    private func isOn(_ key: String) -> Bool {
        switch values[key] {
        case nil, .number(0): false
        case .number, .text, .list, .other: true
        }
    }

    /// The text of the first key that is there.
    private func text(_ keys: String...) throws(ProxyConfigurationError) -> String? {
        guard let key = keys.first(where: { values[$0] != nil }) else { return nil }
        guard case .text(let text) = values[key] else { throw ProxyConfigurationError(.type, in: key) }
        return text
    }

    private func port(_ key: String) throws(ProxyConfigurationError) -> Int? {
        switch values[key] {
        case nil: return nil
        case .number(let port): return port
        case .text(let text):
            guard let port = ProxyURL.port(Array(text.utf8)[...]) else { throw ProxyConfigurationError(.port, in: key) }
            return Int(port)
        case .list, .other: throw ProxyConfigurationError(.type, in: key)
        }
    }
}

extension ProxyDictionary.Value {
    package init(_ value: Any) {
        switch value {
        case let value as Bool: self = .number(value ? 1 : 0)
        case let value as Int: self = .number(value)
        case let value as any BinaryInteger: self = Int(exactly: value).map(Self.number) ?? .other
        case let value as String: self = .text(value)
        case let value as NSNumber: self = Int(exactly: value.doubleValue).map(Self.number) ?? .other
        case let value as [String]: self = .list(value)
        default: self = .other
        }
    }
}
