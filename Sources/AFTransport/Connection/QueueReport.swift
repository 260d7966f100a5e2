/// What stood before a request that waited for a connection.
package struct QueueReport: Sendable {
    /// The numbers of tasks that have the connections to the host, some of them at least.
    package let holders: [Int]
    /// The connections to the host, those in the making included.
    package let connections: Int
    /// How many there may be.
    package let limit: Int
    /// Whether the time was that for waiting in the queue.
    package let isQueueTime: Bool

    package init(holders: [Int], connections: Int, limit: Int, isQueueTime: Bool) {
        self.holders = holders
        self.connections = connections
        self.limit = limit
        self.isQueueTime = isQueueTime
    }
}
