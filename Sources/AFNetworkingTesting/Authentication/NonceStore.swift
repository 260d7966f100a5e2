/// The nonces that the server has given out, and how clients used them.
final class NonceStore: Sendable {
    enum Use: Sendable, Equatable {
        case fresh
        case stale
        /// The server has not given it out.
        case unknown
        /// The client used it with this count before.
        case repeated
    }

    private struct Record: Sendable {
        var uses = 0
        var counts: Set<UInt32> = []
    }

    private let records = Lock<[String: Record]>([:])

    /// A new nonce, different from those of every other server.
    func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let nonce = HashFunctions.hex((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        records.change { $0[nonce] = Record() }
        return nonce
    }

    /// - Parameter count: The client's `nc`; nil for RFC 2069, which has none.
    func use(_ nonce: String, count: UInt32?, limit: Int?) -> Use {
        records.change { records in
            guard var record = records[nonce] else { return .unknown }
            if let limit, record.uses >= limit { return .stale }
            if let count, !record.counts.insert(count).inserted { return .repeated }
            record.uses += 1
            records[nonce] = record
            return .fresh
        }
    }
}
