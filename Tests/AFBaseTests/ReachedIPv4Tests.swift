import Testing

@testable import AFBase

struct ReachedIPv4Tests {
    private static let host: [UInt8] = [192, 0, 2, 1]

    private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    @Test func `T-TLS-28 a mapped address is that of the IPv4 host, and NAT64 leads there`() {
        #expect(ReachedIPv4(zeros(10) + [0xFF, 0xFF] + Self.host) == .mapped(Self.host))
        #expect(ReachedIPv4([0, 0x64, 0xFF, 0x9B] + zeros(8) + Self.host) == .translated(Self.host))
    }

    @Test func `T-TLS-28 no other address leads to an IPv4 host, and none of another length`() {
        let others: [[UInt8]] = [
            // Compatible, translated by a prefix of the network's own, 6to4.
            zeros(12) + Self.host, [0, 0x64, 0xFF, 0x9B, 0, 1] + zeros(6) + Self.host,
            [0x20, 2] + Self.host + zeros(10), zeros(10) + [0xFF, 0xFE] + Self.host,
            Self.host, [], zeros(10) + [0xFF, 0xFF] + Self.host + [0],
        ]
        for other in others { #expect(ReachedIPv4(other) == nil, "\(other)") }
    }
}
