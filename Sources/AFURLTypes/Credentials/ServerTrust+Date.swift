import AFRequest
public import AFTLS
public import Foundation

// AFTLS does not import Foundation, so what has a date in it stands here.

extension ServerTrust {
    /// The moment for which certificates must be valid.
    public var date: Date { Date(timeIntervalSince1970: TimeInterval(moment)) }

    /// Makes one from certificates of your own, for tests and tools.
    ///
    /// - Parameters:
    ///   - servedChain: The server's certificates, its own first.
    ///   - host: A name or an address.
    ///   - anchors: The authorities to trust.
    ///   - date: The moment for which certificates must be valid, to the second. No certificate is valid at infinity or
    ///     NaN.
    public init(servedChain: [Certificate], host: String, anchors: TrustAnchors = .system, at date: Date = Date()) {
        self.init(
            servedChain: servedChain,
            host: host,
            anchors: anchors,
            at: date.wholeSeconds,
            securityLevel: ServerTrust.usualSecurityLevel
        )
    }
}

extension ServerTrust: CustomReflectable {
    /// Host, certificates, authorities and moment.
    public var customMirror: Mirror {
        let parts: KeyValuePairs<String, Any> = [
            "host": host, "servedChain": servedChain, "anchors": anchors, "date": date,
        ]
        return Mirror(self, children: parts, displayStyle: .struct)
    }
}
