/// Pins and chains in the words of a refusal.
enum PinText {
    /// What a server may send is long; what a developer compares are a few lines.
    static let limit = 6

    static func list(_ pins: some Collection<PublicKeyPin>) -> String {
        joined(pins.map(\.description).sorted())
    }

    /// The pins of a chain with the names of their certificates.
    static func chain(_ chain: [Certificate]) -> String {
        joined(chain.map { "\($0.pin) (\($0.summary))" })
    }

    /// Certificates by their own digests.
    static func certificates(_ certificates: [Certificate]) -> String {
        joined(certificates.map { "\($0.summary) (certificate SHA-256 \(hex($0.fingerprint)), key \($0.pin))" })
    }

    static func joined(_ items: [String]) -> String {
        guard !items.isEmpty else { return "none" }
        let rest = items.count - limit
        return items.prefix(limit).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
