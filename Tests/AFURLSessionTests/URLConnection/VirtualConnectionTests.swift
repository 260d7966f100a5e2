@testable import AFURLSession
@testable import AFURLTypes

@Suite("URLConnection on a scripted network")
struct VirtualConnectionTests {
    /// A connection under way in a world of its own.
    private struct Running {
        let world: VirtualWorld
        let sessions: ConnectionSessions
        let log = ConnectionLog()
        let connection: URLConnection

        init(_ scenario: Scenario) throws {
            world = VirtualWorld(seed: 1)
            scenario.prepare(world)
            sessions = ConnectionSessions(configuration: .ephemeral, in: world.session.world)
            if scenario.needsWarmUp {
                let first = ConnectionLog()
                var request = URLRequest(url: try #require(URL(string: "http://api.test/warm-up")))
                request.timeoutInterval = 1000
                _ = try sessions.start(request, first)
                world.run { first.events.value.contains(where: \.isEnd) }
            }
            var request = URLRequest(url: try #require(URL(string: "http://api.test/")))
            request.httpMethod = scenario.method
            request.httpBody = scenario.body
            connection = try sessions.start(request, log)
        }

        var ends: Int { log.events.value.count { $0.isEnd } }

        /// True if it ended within so many steps.
        func run(steps: Int) -> Bool {
            for _ in 0..<steps where ends == 0 { _ = world.step(until: world.now + .seconds(600)) }
            return ends > 0
        }

        func finish() -> [String] {
            sessions.invalidate()
            world.run()
            return world.finish()
        }
    }

    @Test(arguments: Scenario.allCases)
    func `however the network behaves, a connection ends once, and leaves nothing behind`(scenario: Scenario) throws {
        let running = try Running(scenario)

        running.world.run()

        #expect(running.ends == 1 && running.log.events.value.last?.isEnd == true)
        #expect(running.finish() == [])
    }

    @Test(arguments: Scenario.allCases)
    func `cancelled after any step, it says nothing more, and leaves nothing behind`(scenario: Scenario) throws {
        var steps = 0
        var isOver = false
        while !isOver, steps < 2000 {
            let running = try Running(scenario)
            isOver = running.run(steps: steps)
            let before = running.log.events.value

            running.connection.cancel()
            running.world.run(limit: .seconds(1))

            #expect(running.log.events.value == before, "after step \(steps)")
            #expect(running.finish() == [], "after step \(steps)")
            steps += 1
        }
        #expect(isOver && steps > 3)
    }
}
