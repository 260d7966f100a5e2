import AFURLSession

/// The output of `afnet pins`.
struct PinsReport {
    enum Source {
        case server(String)
        case file(String)
    }

    let lines: [String]

    /// A public key alone.
    init(path: String, pin: PublicKeyPin) {
        lines = [
            "\(path) holds a public key:", "", "  0  \(pin)", "",
            "Without its certificate nothing is known of it. Pin it as a backup, if you have the private key.",
        ]
    }

    /// - Parameter authorities: The file of `--cacert`, if it replaces the system's authorities.
    init(source: Source, trust: ServerTrust, authorities: String?) {
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
        let hosts = Self.hosts(source, trust: trust, leaf: leaf)
        // A certificate without hosts, usually an authority's, is not checked as a server's.
        let evaluation = trust.evaluate(hosts.first.map { .tlsServer($0.name) } ?? .basicX509)
        var lines = [title, ""]
        for (depth, certificate) in chain.enumerated() {
            lines += Self.block("\(depth)", for: certificate, in: evaluation)
        }
        lines += Self.verdict(evaluation, host: hosts.first?.text)
        lines += Self.anchor(evaluation, served: chain, authorities: authorities)
        if evaluation.isTrusted {
            let snippet = PinningSnippet(
                host: hosts.first?.text,
                chain: evaluation.verifiedChain,
                authorities: authorities
            )
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
        trust: ServerTrust,
        leaf: Certificate
    ) -> [(text: String, name: PeerName)] {
        let texts =
            switch source {
            case .server: [trust.host]
            case .file: leaf.dnsNames + leaf.ipAddresses
            }
        return texts.compactMap { text in PeerName(text).map { ("\($0)", $0) } }
    }

    private static func block(_ mark: String, for certificate: Certificate, in evaluation: TrustEvaluation) -> [String]
    {
        let text = CertificateText.lines(certificate)
        var lines = ["  \(mark)  \(text[0])"] + text.dropFirst().map { "     \($0)" }
        let hosts = CertificateText.hosts(certificate)
        if !hosts.isEmpty { lines.insert("     for \(hosts)", at: lines.count - 1) }
        if evaluation.isTrusted, !evaluation.chain.contains(certificate) {
            lines.append("     not in the chain that is trusted: a pin of it never matches")
        }
        return lines + [""]
    }

    private static func verdict(_ evaluation: TrustEvaluation, host: String?) -> [String] {
        let subject = host.map { "The chain is trusted for \($0)." } ?? "The chain is trusted, but names no host."
        return [evaluation.failure.map { "The chain is not trusted: \($0.message)." } ?? subject]
    }

    /// The certificates of the chain that the server did not send.
    private static func anchor(
        _ evaluation: TrustEvaluation,
        served: [Certificate],
        authorities: String?
    ) -> [String] {
        guard evaluation.isTrusted else { return [] }
        let known = evaluation.chain.filter { !served.contains($0) }
        guard !known.isEmpty else { return [] }
        let origin = authorities.map { "the file \($0)" } ?? "the authorities of this machine"
        var lines = ["From \(origin) it leads to:", ""]
        for certificate in known { lines += block("+", for: certificate, in: evaluation) }
        return Array(lines.dropLast())
    }
}

/// Advice on which pins to take, and the Swift code for them.
package struct PinningSnippet {
    let lines: [String]

    /// - Parameter chain: The verified chain, the server's certificate first.
    init(host: String?, chain: [Certificate], authorities: String?) {
        let pins = chain.map { "\($0.pin)" }
        lines =
            Self.advice(chain) + ["", "In Swift:", ""]
            + Self.code(host: host, pins: pins, authorities: authorities).map { $0.isEmpty ? "" : "    \($0)" }
    }

    private static func advice(_ chain: [Certificate]) -> [String] {
        guard let leaf = chain.first else { return [] }
        guard chain.count > 1 else {
            return [
                "Pin its key, if you see to it that a new certificate keeps the key. Have a second key elsewhere, and",
                "its pin as a backup, or a lost key locks every client out. For the pin of that key:",
                "openssl pkey -in KEY -pubout -out FILE && afnet pins FILE",
            ]
        }
        return [
            "Pin the server's own key (\(leaf.summary)) if you decide when it changes, or that of the authority",
            "above it (\(chain[1].summary)), which outlives new keys of the server but trusts everything it issues.",
            "Have both as long as you have no better backup: a key of yours that is not in use. For its pin:",
            "openssl pkey -in KEY -pubout -out FILE && afnet pins FILE",
        ]
    }

    /// Code for a session with the first pin, and the second one as its backup.
    package static func code(host: String?, pins: [String], authorities: String?) -> [String] {
        let literals = pins.prefix(2).map(SwiftText.literal)
        var lines = ["import AFNetworking", "", "let policy = SecurityPolicy()"]
        for (name, literal) in zip(["keys", "spares"], literals) { lines.append("let \(name) = [\(literal)]") }
        let set = literals.count > 1 ? "PinSet(keys, backups: spares)" : "PinSet(keys)"
        lines += [
            "policy.hostRules = [try .pins(\(SwiftText.literal(host ?? "host.example")), \(set))]",
            "let configuration = URLSessionConfiguration.default",
        ]
        if let authorities { lines.append("configuration.tls.anchors = try .file(\(SwiftText.literal(authorities)))") }
        return lines + [
            "configuration.tls.evaluator = policy",
            "let session = URLSession(configuration: configuration)",
        ]
    }
}

/// Text in Swift code.
enum SwiftText {
    /// A string literal with this value, escaped so that the text cannot end it or begin an interpolation.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case " "..."~": result.unicodeScalars.append(scalar)
            default: result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result + "\""
    }
}
