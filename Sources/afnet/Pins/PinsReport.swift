import AFURLSession

/// The output of `afnet pins`.
struct PinsReport {
    enum Source {
        case server(String)
        case file(String)
    }

    let lines: [String]

    /// A public key alone.
    init(_ path: String, _ pin: PublicKeyPin) {
        lines = [
            "\(path) holds a public key:", "", "  0  \(pin)", "",
            "Without its certificate nothing is known of it. Pin it as a backup, if you have the private key.",
        ]
    }

    /// - Parameter authorities: The file of `--cacert`, if it replaces the system's authorities.
    init(_ source: Source, _ trust: ServerTrust, authorities: String?) {
        let chain = trust.servedChain
        let count = chain.count == 1 ? "one certificate" : "\(chain.count) certificates"
        let title =
            switch source {
            case .server(let peer): "\(peer) showed \(count):"
            case .file(let path): "\(path) holds \(count):"
            }
        guard let leaf = chain.first else {
            lines = [title]
            return
        }
        let hosts = Self.hosts(source, trust, leaf)
        // A certificate without hosts, usually an authority's, is not checked as a server's.
        let evaluation = trust.evaluate(hosts.first.map { .tlsServer($0.name) } ?? .basicX509)
        var lines = [title, ""]
        for (depth, certificate) in chain.enumerated() {
            lines += Self.block("\(depth)", certificate, evaluation)
        }
        lines += Self.verdict(evaluation, hosts.first?.text)
        lines += Self.anchor(evaluation, chain, authorities)
        if evaluation.isTrusted {
            let snippet = PinningSnippet(host: hosts.first?.text, evaluation.verifiedChain, authorities: authorities)
            lines += [""] + snippet.lines
        } else {
            lines += [
                "", "An attacker could have made it: take a pin of it only if a source you trust has the same one.",
            ]
        }
        self.lines = lines
    }

    /// The requested host, or the hosts of the certificate.
    private static func hosts(
        _ source: Source,
        _ trust: ServerTrust,
        _ leaf: Certificate
    ) -> [(text: String, name: PeerName)] {
        let texts =
            switch source {
            case .server: [trust.host]
            case .file: leaf.dnsNames + leaf.ipAddresses
            }
        return texts.compactMap { text in PeerName(text).map { ("\($0)", $0) } }
    }

    private static func block(_ mark: String, _ certificate: Certificate, _ evaluation: TrustEvaluation) -> [String] {
        let text = CertificateText.lines(certificate)
        var lines = ["  \(mark)  \(text[0])"] + text.dropFirst().map { "     \($0)" }
        let hosts = CertificateText.hosts(certificate)
        if !hosts.isEmpty { lines.insert("     for \(hosts)", at: lines.count - 1) }
        if evaluation.isTrusted, !evaluation.chain.contains(certificate) {
            lines.append("     not in the chain that is trusted: a pin of it never matches")
        }
        return lines + [""]
    }

    private static func verdict(_ evaluation: TrustEvaluation, _ host: String?) -> [String] {
        let subject = host.map { "The chain is trusted for \($0)." } ?? "The chain is trusted, but names no host."
        return [evaluation.failure.map { "The chain is not trusted: \($0.message)." } ?? subject]
    }

    /// The certificates of the chain that the server did not send.
    private static func anchor(
        _ evaluation: TrustEvaluation,
        _ served: [Certificate],
        _ authorities: String?
    ) -> [String] {
        guard evaluation.isTrusted else { return [] }
        let known = evaluation.chain.filter { !served.contains($0) }
        guard !known.isEmpty else { return [] }
        let origin = authorities.map { "the file \($0)" } ?? "the authorities of this machine"
        var lines = ["From \(origin) it leads to:", ""]
        for certificate in known { lines += block("+", certificate, evaluation) }
        return Array(lines.dropLast())
    }
}
