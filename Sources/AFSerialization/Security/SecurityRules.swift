import Foundation

/// Everything a policy decides by, as a value.
struct SecurityRules: Sendable {
    var mode: SSLPinningMode
    var pinned: PinnedCertificates
    var allowsInvalidCertificates = false
    var validatesName = true
    var hostRules: [HostRule] = []
    var refusesHostsWithoutRule = false

    /// A digest of all of it.
    var fingerprint: [UInt8] {
        var fingerprint = TrustFingerprint("AFNetworking.SecurityPolicy")
        fingerprint.add([UInt8(mode.rawValue), allowsInvalidCertificates ? 1 : 0, validatesName ? 1 : 0])
        // As they were given: what cannot be read counts too.
        fingerprint.add(pinned.blobs == nil ? [0] : [1])
        for blob in (pinned.blobs ?? []).sorted(by: { $0.lexicographicallyPrecedes($1) }) { fingerprint.add(blob) }
        fingerprint.add([refusesHostsWithoutRule ? 1 : 0])
        for rule in hostRules { rule.add(to: &fingerprint) }
        return fingerprint.bytes
    }

    /// Whether there is a host that they pin.
    var isPinning: Bool { mode != .none || refusesHostsWithoutRule || hostRules.contains(where: \.isStrict) }
}

extension HostRule {
    fileprivate func add(to fingerprint: inout TrustFingerprint) {
        fingerprint.add(hosts.description.utf8)
        guard let pinSet else { return fingerprint.add([0]) }
        fingerprint.add([1, pinSet.isReportOnly ? 1 : 0])
        fingerprint.add("\(pinSet.all.count)".utf8)
        for pin in pinSet.all { pin.add(to: &fingerprint) }
        guard let expiry = pinSet.expiry else { return fingerprint.add([0]) }
        fingerprint.add("\(expiry.choice) \(expiry.date.timeIntervalSince1970)".utf8)
    }
}

extension Pin {
    fileprivate func add(to fingerprint: inout TrustFingerprint) {
        switch self {
        case .publicKey(let pin): fingerprint.add([0] + pin.digest)
        case .certificate(let certificate): fingerprint.add([1] + certificate.derBytes)
        }
    }
}

/// What of a server's certificates is compared with the pinned ones.
public enum SSLPinningMode: UInt, Hashable, Sendable, Codable, CaseIterable {
    /// Nothing: the authorities alone decide.
    case none = 0
    /// The public keys. A server may renew its certificate as long as it keeps the key.
    case publicKey = 1
    /// The certificates, byte for byte. The pinned ones become the only authorities.
    case certificate = 2
}
