internal import CAFOpenSSL

/// Finds out how much of a chain that is not trusted is proven all the same.
struct ChainProof {
    let level: Int32
    let isServer: Bool
    /// The name that is asked for.
    let host: String?

    /// The leaf, and those above it as long as each signed the one below and may do so.
    ///
    /// OpenSSL builds a chain by names and only then looks at signatures: in a chain
    /// that failed, an authority may stand that never signed anything below it.
    func prefix(of chain: [Certificate], leaf: OpaquePointer) -> [Certificate] {
        guard let first = chain.first else { return Certificate(sharing: leaf).map { [$0] } ?? [] }
        var proven = [first]
        for issuer in chain.dropFirst() {
            guard mayIssue(issuer, above: proven),
                caf_signed_by(proven[proven.count - 1].handle, issuer.handle, level) == 1
            else { break }
            proven.append(issuer)
        }
        return proven
    }

    private func mayIssue(_ issuer: Certificate, above proven: [Certificate]) -> Bool {
        guard !caf_has_dsa_key(issuer.handle) else { return false }
        if let host, Self.verdict(of: issuer, on: host) != X509_V_OK { return false }
        let flags = X509_get_extension_flags(issuer.handle)
        guard flags & UInt32(EXFLAG_INVALID | EXFLAG_CRITICAL | EXFLAG_PROXY) == 0, issuer.mayIssue else {
            return false
        }
        if isServer, X509_check_purpose(issuer.handle, X509_PURPOSE_SSL_SERVER, 1) != 1 { return false }
        // RFC 5280 §4.2.1.9: certificates that roll a key over do not count.
        let between = proven.dropFirst().count { !$0.isSelfIssued }
        let limit = X509_get_pathlen(issuer.handle)
        guard limit < 0 || between <= limit else { return false }
        return proven.enumerated().allSatisfy { caf_names_allowed($1.handle, issuer.handle, $0 == 0) }
    }

    /// Whether an issuer may issue for a host name: `X509_V_OK`, or what is against it.
    static func verdict(of issuer: Certificate, on host: String) -> Int32 {
        var host = host
        return host.withUTF8 { caf_host_allowed(issuer.handle, $0.baseAddress, $0.count) }
    }
}
