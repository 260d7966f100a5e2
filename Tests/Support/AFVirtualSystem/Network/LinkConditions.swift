package import AFTestSupport
import Glibc

/// How a link between us and a server behaves.
package struct LinkConditions: Sendable {
    /// One way, in nanoseconds.
    package var latency: ClosedRange<Int> = 0...0
    /// Bytes that arrive at once.
    package var segment: ClosedRange<Int> = 1 << 20...1 << 20
    /// The most one read or write moves.
    package var readCap: ClosedRange<Int> = 1 << 20...1 << 20
    package var writeCap: ClosedRange<Int> = 1 << 20...1 << 20
    /// The kernel's buffers.
    package var sendCapacity = 256 << 10
    package var receiveCapacity = 256 << 10

    // MARK: In percent of all calls or arrivals
    package var readEAGAIN = 0
    package var writeEAGAIN = 0
    package var writeENOBUFS = 0
    package var spuriousReadiness = 0

    package init() {}

    /// Nothing goes wrong and nothing takes time.
    package static let perfect = LinkConditions()

    package static func random(using random: inout SeededGenerator) -> LinkConditions {
        var link = LinkConditions()
        let longest = random.pick([0, 100_000, 10_000_000, 200_000_000])
        link.latency = longest / 4...longest
        link.segment = random.pick([1 << 20...1 << 20, 1...1460, 1460...1460, 1...64 << 10])
        link.readCap = random.pick([1 << 20...1 << 20, 1 << 20...1 << 20, 1 << 12...1 << 12, 1...1 << 14])
        link.writeCap = random.pick([1 << 20...1 << 20, 1 << 20...1 << 20, 1 << 12...1 << 12, 1...1 << 14])
        link.sendCapacity = random.pick([4 << 10, 64 << 10, 256 << 10])
        link.receiveCapacity = random.pick([4 << 10, 64 << 10, 256 << 10])
        link.readEAGAIN = random.pick([0, 0, 10, 30])
        link.writeEAGAIN = random.pick([0, 0, 10, 30])
        link.writeENOBUFS = random.pick([0, 0, 5])
        link.spuriousReadiness = random.pick([0, 0, 20])
        return link
    }
}
