/// Tasks that fail in random ways and are sent again, suspended and cancelled at random moments.
///
/// `AFNET_RETRY_SEEDS` sets how many are run, and `AFNET_RETRY_SEED` replays a single one with its trace.
@Suite("Simulated repetitions")
struct RepetitionSimulationTests {
    private static let batches = 10
    private static let seeds = number("AFNET_RETRY_SEEDS") ?? 500

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test(arguments: 0..<batches)
    func `T-RTY-01 T-RTY-02 T-RTY-08 whatever fails, a task ends once, and nothing is sent more often than allowed`(
        batch: Int
    ) throws {
        guard Self.number("AFNET_RETRY_SEED") == nil else { return }
        let scratch = try ScratchFolder()
        let each = (Self.seeds + Self.batches - 1) / Self.batches
        var repeated = 0
        for seed in (batch * each)..<((batch + 1) * each) {
            let walk = RepetitionWalk(seed: UInt64(seed), in: scratch)
            let violations = walk.run()
            repeated += walk.repeated
            for violation in violations.prefix(3) {
                Issue.record(
                    "seed \(seed): \(violation)\nAFNET_RETRY_SEED=\(seed) swift test --filter RepetitionSimulationTests"
                )
            }
            #expect(scratch.leftovers == [], "seed \(seed)")
        }
        // Otherwise nothing was tried.
        #expect(repeated >= each / 4)
    }

    @Test func `one of them can be replayed with its trace`() throws {
        guard let seed = Self.number("AFNET_RETRY_SEED") else { return }
        let walk = RepetitionWalk(seed: UInt64(seed), in: try ScratchFolder(), traced: true)
        let violations = walk.run()
        print(walk.world.trace.joined(separator: "\n"))
        for plan in walk.plans { print(plan) }
        for violation in violations { Issue.record("\(violation)") }
    }
}
