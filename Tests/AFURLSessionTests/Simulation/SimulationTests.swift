/// Whole sessions against simulated servers, from seeds.
///
/// `AFNET_SIMULATION_SEEDS` sets how many conversations are held, and
/// `AFNET_SIMULATION_SEED` replays a single one with its trace.
@Suite("Simulated conversations")
struct SimulationTests {
    private static let batches = 20
    private static let seeds = number("AFNET_SIMULATION_SEEDS") ?? 1000

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test(arguments: 0..<batches)
    func `T-MSG-52 and O1 to O5 hold in every conversation`(batch: Int) {
        guard SimulationTests.number("AFNET_SIMULATION_SEED") == nil else { return }
        let perBatch = (SimulationTests.seeds + SimulationTests.batches - 1) / SimulationTests.batches
        var seconds = 0.0
        let started = ContinuousClock.now
        for seed in (batch * perBatch)..<((batch + 1) * perBatch) {
            let (violations, passed) = SimulationTests.hold(UInt64(seed))
            seconds += passed
            for violation in violations.prefix(3) {
                Issue.record("\(violation)\nreplay: AFNET_SIMULATION_SEED=\(seed) swift test --filter SimulationTests")
            }
        }
        let spent = ContinuousClock.now - started
        let real = Double(spent.components.seconds) + Double(spent.components.attoseconds) / 1e18
        if batch == 0 { print("simulation: \(Int(seconds / max(real, 0.001))) virtual seconds per second") }
    }

    @Test func `one conversation can be replayed with its trace`() throws {
        guard let seed = SimulationTests.number("AFNET_SIMULATION_SEED") else { return }
        let conversation = Conversation(seed: UInt64(seed), traced: true)
        conversation.run()
        let violations = conversation.conclude()
        print(conversation.world.trace.joined(separator: "\n"))
        for plan in conversation.plans { print(plan) }
        for violation in violations { Issue.record("\(violation)") }
    }

    @Test func `what once found something finds nothing any more`() throws {
        let conversation = Conversation(seed: 339_492)
        conversation.run()
        #expect(conversation.conclude() == [])

        #expect(try SiteWalk(seed: 793_950).run() == [])
    }

    @Test(arguments: 0..<60)
    func `the same seed tells the same story`(seed: UInt64) {
        SimulationTests.tellTwice { Conversation(seed: seed, traced: true) }
    }

    @Test(arguments: 0..<16)
    func `in TLS too, though its bytes are others`(seed: UInt64) {
        SimulationTests.tellTwice { Conversation(seed: seed, isSecured: true, traced: true) }
    }

    @Test(arguments: 0..<24)
    func `by proxy too`(seed: UInt64) {
        SimulationTests.tellTwice { Conversation(proxied: seed, traced: true) }
    }

    private static func tellTwice(_ conversation: () -> Conversation) {
        func trace() -> [String] {
            let conversation = conversation()
            conversation.run()
            _ = conversation.conclude()
            return conversation.world.trace
        }

        let first = trace()

        #expect(!first.isEmpty)
        let second = trace()
        let difference = zip(first, second).first { $0 != $1 }
        #expect(second == first, "\(difference.map { "\($0)" } ?? "one is longer")")
    }

    /// What was wrong, and how many virtual seconds went by.
    private static func hold(_ seed: UInt64) -> ([String], Double) {
        let conversation = Conversation(seed: seed)
        let start = conversation.world.now
        conversation.run()
        let passed = start.duration(to: conversation.world.now)
        return (conversation.conclude(), Double(passed.components.seconds))
    }
}
