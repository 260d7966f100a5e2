import AFURLSession

/// `--speed-limit` and `--speed-time`: when a transfer is too slow.
package struct SpeedLimit: Sendable, Equatable {
    /// Bytes in a second.
    package var limit: Int64?
    /// In seconds.
    package var time: Double?

    /// Nil if there is no limit.
    var rule: SpeedRule? {
        guard limit != nil || time != nil else { return nil }
        let (limit, time) = (limit ?? 1, time ?? 30)
        return limit > 0 && time > 0 ? SpeedRule(bytes: limit, seconds: time) : nil
    }
}

/// The addresses that connections are made to.
package enum AddressFamily: Int, Sendable {
    case v4 = 4
    case v6 = 16

    var filter: AddressFilter {
        let count = rawValue
        return AddressFilter { $0.bytes.count == count }
    }

    var name: String { self == .v4 ? "IPv4" : "IPv6" }
}
