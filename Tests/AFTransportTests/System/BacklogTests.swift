@testable import AFTransport

struct BacklogTests {
    private func all(_ backlog: Backlog) -> [UInt8] { backlog.withBytes { Array($0) } }

    @Test func `what is appended comes out in order, however it is removed`() {
        var backlog = Backlog([0, 1, 2])
        var expected: [UInt8] = [0, 1, 2]
        for round in 0..<200 {
            let more = (0..<round % 7).map { UInt8(truncatingIfNeeded: round + $0) }
            more.withUnsafeBytes { backlog.append($0) }
            expected += more
            let count = min(round % 5, expected.count)
            backlog.removeFirst(count)
            expected.removeFirst(count)
            #expect(all(backlog) == expected)
            #expect(backlog.count == expected.count && backlog.isEmpty == expected.isEmpty)
        }
    }

    @Test func `a backlog that is used up begins anew`() {
        var backlog = Backlog([1, 2, 3])
        backlog.removeFirst(3)
        #expect(backlog.isEmpty && all(backlog).isEmpty)
        [UInt8(9)].withUnsafeBytes { backlog.append($0) }
        #expect(all(backlog) == [9])
    }
}
