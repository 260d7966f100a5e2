import AFTransport

@Suite("Leave to go")
struct DepartureTests {
    private func refusal(isSuspended: Bool = false, isForbidden: Bool = false, hasItsRules: Bool = true) -> Refusal? {
        do throws(Refusal) {
            _ = try Departure.ask(isSuspended: isSuspended, isForbidden: isForbidden).clear(hasItsRules: hasItsRules)
            return nil
        } catch {
            return error
        }
    }

    @Test func `T-TLS-20 each question can refuse by itself`() {
        #expect(refusal() == nil)
        #expect(refusal(isSuspended: true) == .suspended)
        #expect(refusal(isForbidden: true) == .clearText)
        #expect(refusal(hasItsRules: false) == .otherRules)
    }
}
