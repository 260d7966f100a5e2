/// The number of written bytes that the delegate has not been told of yet.
struct WriteProgress: Sendable {
    private var unreported: Int64 = 0
    private var total: Int64
    /// A callback that will report them is posted and has not run.
    private var isAnnounced = false

    init(from offset: Int64 = 0) {
        total = offset
    }

    /// Returns whether a callback must be posted.
    mutating func add(_ count: Int64) -> Bool {
        unreported += count
        total += count
        defer { isAnnounced = true }
        return !isAnnounced
    }

    /// A posted callback stays posted, and has nothing to report.
    mutating func startOver() {
        unreported = 0
        total = 0
    }

    mutating func take() -> (written: Int64, total: Int64) {
        defer {
            unreported = 0
            isAnnounced = false
        }
        return (unreported, total)
    }
}
