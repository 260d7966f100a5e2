/// Names of a certificate in messages.
package enum NameText {
    /// At most this many are listed.
    static let limit = 3

    package static func mismatch(_ certificate: Certificate?, name: PeerName) -> String {
        let names = certificate.map { $0.dnsNames + $0.ipAddresses } ?? []
        guard !names.isEmpty else {
            return "the certificate \"\(certificate?.subject ?? "")\" has no alternative names at all, "
                + "so it is not for \(name); the common name does not count"
        }
        if case .ip = name, certificate?.dnsNames.contains(name.description) == true {
            return
                "the certificate has the address \(name) as a DNS name, which stands for no address; it must be there "
                + "as an IP address (subject alternative name of type iPAddress)"
        }
        return "the certificate is for \(listed(names)), not for \(name)"
    }

    private static func listed(_ names: [String]) -> String {
        if names.count > limit {
            return names.prefix(limit).joined(separator: ", ") + " and \(names.count - limit) more"
        }
        guard names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
    }
}
