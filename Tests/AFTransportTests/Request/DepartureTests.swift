import AFTransport
import Testing

@Suite("Leave to go")
struct DepartureTests {
    private final class Rules: DepartureRules {
        var forbids = false
        private(set) var questions = 0

        func forbid(_ cargo: Departure.Cargo) -> Bool {
            questions += 1
            return forbids
        }
    }

    private func refusal(
        under rules: Rules?,
        isWanted: Bool = true,
        isSuspended: Bool = false,
        hasItsRules: () -> Bool = { true }
    ) -> Refusal? {
        do throws(Refusal) {
            _ = try Departure.clear(
                .name,
                under: rules,
                isWanted: isWanted,
                isSuspended: isSuspended,
                hasItsRules: hasItsRules
            )
            return nil
        } catch {
            return error
        }
    }

    @Test func `T-TLS-20 each question can refuse by itself`() {
        let rules = Rules()
        #expect(refusal(under: rules) == nil)
        #expect(refusal(under: nil) == .ended)
        #expect(refusal(under: rules, isWanted: false) == .ended)
        #expect(refusal(under: rules, isSuspended: true) == .suspended)
        #expect(refusal(under: rules) { false } == .otherRules)
        rules.forbids = true
        #expect(refusal(under: rules) == .clearText)
    }

    @Test func `the session applies its rules before the connection is compared with them`() {
        let rules = Rules()
        var order: [Int] = []
        _ = refusal(under: rules) {
            order.append(rules.questions)
            return true
        }
        #expect(order == [1])
    }
}
