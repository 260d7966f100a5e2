public import Foundation

/// Why a proxy setting cannot be used. Requests that it is meant for fail with it; none of them goes another way.
///
/// Never holds a user name, a password, or the text that was refused, which may be one of them.
public struct ProxyConfigurationError: Error, Hashable, Sendable {
    /// What is wrong. An open set: compare with the ones you know and expect others.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// What is wrong, in words.
        public let rawValue: String

        /// Makes a reason from its words.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A scheme that a proxy cannot have.
        public static let scheme = Reason(rawValue: "its scheme is not http, https, socks5 or socks5h")
        /// The host is missing, or no host.
        public static let host = Reason(rawValue: "its host is missing or not valid")
        /// The port is no port.
        public static let port = Reason(rawValue: "its port is not a number from 1 to 65535")
        /// User name or password cannot be sent.
        public static let credentials = Reason(rawValue: "its user name or password is not valid")
        /// A path, a query or a fragment, which the URL of a proxy must not have.
        public static let path = Reason(rawValue: "something follows its host and port")
        /// An entry in the list of exceptions that means nothing.
        public static let exception = Reason(rawValue: "an exception is no host, address, range or suffix")
        /// A header field that may not be sent to the proxy.
        public static let field = Reason(rawValue: "a header field for the proxy is not valid")
        /// A value of another type.
        public static let type = Reason(rawValue: "its value has the wrong type")
        /// A script that is to find the proxy. The session cannot run it.
        public static let automatic = Reason(rawValue: "automatic configuration of proxies is not supported")
    }

    /// Where it was set: the name of a variable, a key, or a property.
    public let setting: String
    /// What is wrong.
    public let reason: Reason

    package init(_ reason: Reason, in setting: String = "the proxy") {
        self.reason = reason
        self.setting = setting
    }

    package func found(in setting: String) -> ProxyConfigurationError { ProxyConfigurationError(reason, in: setting) }
}

extension ProxyConfigurationError: CustomStringConvertible, LocalizedError {
    /// The setting and what is wrong with it.
    public var description: String { "\(setting) cannot be used: \(reason.rawValue)" }

    /// The description.
    public var errorDescription: String? { description }
}
