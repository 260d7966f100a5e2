/// Everything a policy decides by, as a value.
struct SecurityRules: Sendable {
    var mode: SSLPinningMode
    var pinned: PinnedCertificates
    var allowsInvalidCertificates = false
    var validatesName = true

    /// A digest of all of it.
    var fingerprint: [UInt8] {
        var fingerprint = TrustFingerprint("AFNetworking.SecurityPolicy")
        fingerprint.add([UInt8(mode.rawValue), allowsInvalidCertificates ? 1 : 0, validatesName ? 1 : 0])
        // As they were given: what cannot be read counts too.
        fingerprint.add(pinned.blobs == nil ? [0] : [1])
        for blob in (pinned.blobs ?? []).sorted(by: { $0.lexicographicallyPrecedes($1) }) { fingerprint.add(blob) }
        return fingerprint.bytes
    }
}
