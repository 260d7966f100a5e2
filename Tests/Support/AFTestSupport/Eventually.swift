/// Waits for what no callback announces, such as the end of the last reference: a minute at most.
package func eventually(
    _ what: String = "",
    seconds: Double = 60,
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while !condition() {
        if ContinuousClock.now >= deadline { throw Missing(description: "waited in vain for \(what)") }
        try await Task.sleep(for: .milliseconds(2))
    }
}
