public import AFTLS

extension LoadFailure {
    /// What the session knew of a server when securing the connection to it failed.
    public struct Security: Hashable, Sendable {
        /// The host of the URL.
        public let host: String
        /// The certificates the server showed, its own first; empty if it showed none.
        public let servedChain: [Certificate]
        /// What is wrong with the certificates. The first reason is the one that the error's code and detail are for. A
        /// certificate for another host has that as its first reason, and the other reason for refusing the chain
        /// behind it. Empty if something else failed.
        public let reasons: [TrustFailure.Reason]
        /// The rule that failed, if a policy refused the certificates.
        public let rule: String?
        /// OpenSSL's result of verifying the chain (`X509_V_…`), if the verification failed.
        public let verifyResult: Int32?
        /// The number of the alert with which the peer ended the connection.
        public let alert: UInt8?

        package init(
            host: String,
            servedChain: [Certificate] = [],
            reasons: [TrustFailure.Reason] = [],
            rule: String? = nil,
            verifyResult: Int32? = nil,
            alert: UInt8? = nil
        ) {
            self.host = host
            self.servedChain = servedChain
            self.reasons = reasons
            self.rule = rule
            self.verifyResult = verifyResult
            self.alert = alert
        }
    }
}

extension LoadFailure.Security: CustomStringConvertible {
    /// All of it, in a block that can be pasted into a report: for each certificate subject, issuer, validity and pin.
    public var description: String { text(beside: "") }

    /// - Parameter message: What it says already: the pins, the rule.
    func text(beside message: String) -> String {
        var lines = [servedChain.isEmpty ? "  \(host) showed no certificate" : "  \(host) showed:"]
        for (depth, certificate) in servedChain.prefix(LoadFailure.Security.shownCertificates).enumerated() {
            lines += [
                "  \(depth)  \(certificate.subject)",
                "     issued by \(certificate.issuer)",
                "     valid \(certificate.validityText)",
            ]
            let pin = certificate.pin.description
            if !message.contains(pin) { lines.append("     \(pin)") }
        }
        let hidden = servedChain.count - LoadFailure.Security.shownCertificates
        if hidden > 0 { lines.append("     and \(hidden) more") }
        if !reasons.isEmpty { lines.append("  wrong: \(reasons.map(\.rawValue).joined(separator: ", "))") }
        if let rule, message.isEmpty || !message.contains(rule) { lines.append("  rule: \(rule)") }
        if let verifyResult { lines.append("  verify result: \(verifyResult)") }
        if let alert { lines.append("  alert: \(alert) (\(TLSFailure.alertName(Int32(alert))))") }
        return lines.joined(separator: "\n")
    }

    /// The number of certificates that the description shows, since a peer may send any number.
    private static let shownCertificates = 10
}
