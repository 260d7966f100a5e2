/// Something was not as the demo says.
struct FalseClaim: Error, CustomStringConvertible {
    let claim: String
    let expected: String
    let seen: String

    var description: String { "not as claimed: \(claim). Expected \(expected), saw \(seen)." }
}

/// Checks what the demo says, before it says so.
final class Claims {
    /// How many there were, all of them true.
    private(set) var count = 0

    func check<Value: Equatable>(_ claim: String, _ seen: Value, is expected: Value) throws(FalseClaim) {
        guard seen == expected else {
            throw FalseClaim(claim: claim, expected: "\(expected)", seen: "\(seen)")
        }
        count += 1
    }

    /// - Returns: What is there.
    func check<Value>(_ claim: String, _ seen: Value?) throws(FalseClaim) -> Value {
        guard let seen else { throw FalseClaim(claim: claim, expected: "\(Value.self)", seen: "nothing") }
        count += 1
        return seen
    }
}
