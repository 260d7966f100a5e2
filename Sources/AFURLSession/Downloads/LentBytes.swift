import AFTransport

/// Bytes of a body on their way to the disk.
struct LentBytes: Sendable {
    let loan: ReadLoan
    var range: Range<Int>

    init(_ loan: ReadLoan) {
        self.loan = loan
        range = 0..<loan.count
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: loan.bytes[range]) }

    /// Removes the last `count` bytes and returns them as a piece of their own.
    mutating func split(last count: Int) -> LentBytes {
        var tail = self
        tail.range = (range.upperBound - count)..<range.upperBound
        range = range.lowerBound..<tail.range.lowerBound
        return tail
    }
}
