import Testing

@testable import AFLoop

struct TurnShareTests {
    private let share = TurnShare()

    /// How often `step` can be done before nothing is left.
    private func steps(_ step: (TurnShare) -> Void) -> Int {
        share.renew()
        var count = 0
        while !share.isSpent {
            step(share)
            count += 1
        }
        return count
    }

    @Test func `T-RES-27 a share allows some reads, or some hundred pieces`() {
        #expect(steps { $0.take(bytes: 256 << 10) } == 4)
        #expect(steps { $0.take() } == 256)
    }

    @Test func `bytes and pieces take from the same share`() {
        #expect(steps { $0.take(bytes: 4 << 10) } == 128)
        #expect(steps { $0.take(bytes: 1 << 20, pieces: 2) } == 1)
    }

    @Test func `writing leaves one half to reading`() {
        share.take(bytes: TurnShare.size / 2, pieces: 0)
        #expect(share.isSpentForWriting && !share.isSpent)
    }

    @Test func `a new turn brings a whole share, whatever the last one took`() {
        share.take(bytes: 10 << 20)
        #expect(share.isSpent && share.overdraft == (9 << 20) + TurnShare.pieceCost)
        share.renew()
        #expect(!share.isSpentForWriting && share.overdraft == 0)
    }

    @Test func `the pieces that are left are as many as can be taken`() {
        #expect(share.piecesLeft == 256)
        share.take(bytes: TurnShare.pieceCost * 100)
        #expect(share.piecesLeft == 155)
        share.take(bytes: TurnShare.size)
        #expect(share.piecesLeft == 0)
    }
}
