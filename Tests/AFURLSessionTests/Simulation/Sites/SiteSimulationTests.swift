/// Tasks on random sites that redirect, ask for credentials, are cached, and whose connections die.
///
/// `AFNET_SITE_SEEDS` sets how many sites are run, and `AFNET_SITE_SEED` replays a single one with its trace.
@Suite("Simulated sites")
struct SiteSimulationTests {
    private static let batches = 10
    private static let seeds = number("AFNET_SITE_SEEDS") ?? 300

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test(arguments: 0..<batches)
    func `whatever is met on the way and done meanwhile, a task ends once, rightly, and leaves nothing`(
        batch: Int
    ) throws {
        guard SiteSimulationTests.number("AFNET_SITE_SEED") == nil else { return }
        let each = (SiteSimulationTests.seeds + SiteSimulationTests.batches - 1) / SiteSimulationTests.batches
        for seed in (batch * each)..<((batch + 1) * each) {
            let walk = try SiteWalk(seed: UInt64(seed))
            for violation in walk.run().prefix(3) {
                Issue.record(
                    "seed \(seed): \(violation)\nAFNET_SITE_SEED=\(seed) swift test --filter SiteSimulationTests"
                )
            }
        }
    }

    @Test func `one course can be replayed with its trace`() throws {
        guard let seed = SiteSimulationTests.number("AFNET_SITE_SEED") else { return }
        let walk = try SiteWalk(seed: UInt64(seed), traced: true)
        let violations = walk.run()
        print(walk.world.trace.joined(separator: "\n"))
        for place in walk.map.places {
            print(place.number, place.url, place.kind, place.keeping, place.fate, place.wantsPassword, place.body.count)
        }
        for plan in walk.plans { print(plan) }
        for violation in violations { Issue.record("\(violation)") }
    }
}
