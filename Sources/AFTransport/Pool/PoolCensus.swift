/// How many connections there are.
struct PoolCensus {
    var connections = 0
    /// Those among them that no request uses.
    var idle = 0

    static func += (sum: inout PoolCensus, other: PoolCensus) {
        sum.connections += other.connections
        sum.idle += other.idle
    }

    static func -= (sum: inout PoolCensus, other: PoolCensus) {
        sum.connections -= other.connections
        sum.idle -= other.idle
    }
}
