import AFURLSession

/// Advice on which pins to take, and the Swift code for them.
package struct PinningSnippet {
    let lines: [String]

    /// - Parameter chain: The verified chain, the server's certificate first.
    init(host: String?, _ chain: [Certificate], authorities: String?) {
        let pins = chain.map { "\($0.pin)" }
        lines =
            Self.advice(chain) + ["", "In Swift:", ""]
            + Self.code(host, pins, authorities).map { $0.isEmpty ? "" : "    \($0)" }
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
    package static func code(_ host: String?, _ pins: [String], _ authorities: String?) -> [String] {
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
