/// How many handshakes go on in one turn of the loop.
///
/// A step of one takes up to half a millisecond of arithmetic. A burst of new
/// connections must leave room for those that already carry data.
package final class HandshakeBudget {
    private static let stepsPerTurn = 8

    private var turn: UInt64 = 0
    private var taken = 0

    /// False if the step has to wait for the next turn.
    package func take(in turn: UInt64) -> Bool {
        if self.turn != turn {
            self.turn = turn
            taken = 0
        }
        taken += 1
        return taken <= HandshakeBudget.stepsPerTurn
    }
}
