@testable import AFTransport

extension SecuredTests {
    struct Budget {
        @Test func `a turn has room for eight steps of handshakes, and the next turn again`() {
            let budget = HandshakeBudget()

            for turn: UInt64 in 1...3 {
                let granted = (1...20).map { _ in budget.take(in: turn) }
                #expect(granted.count(where: { $0 }) == 8 && granted.prefix(8).allSatisfy { $0 })
            }
        }
    }
}
