// The names AFNetworking has on Apple's platforms, so that ported code compiles.

/// ``SecurityPolicy`` under its old name.
public typealias AFSecurityPolicy = SecurityPolicy

/// ``SSLPinningMode`` under its old name.
public typealias AFSSLPinningMode = SSLPinningMode

extension SecurityPolicy {
    /// ``evaluate(_:forDomain:)`` under its old name.
    public func evaluateServerTrust(_ serverTrust: ServerTrust, forDomain domain: String?) -> Bool {
        evaluate(serverTrust, forDomain: domain)
    }
}
