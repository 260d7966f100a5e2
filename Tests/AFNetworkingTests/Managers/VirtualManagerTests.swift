import AFBase
import AFLoop
import AFVirtualWorld

@testable import AFNetworking
@testable import AFURLSession
@testable import AFURLTypes

/// Managers whose sessions end and are replaced while tasks run. Each step is drawn from a seed, and can be repeated.
@Suite("Managers on a virtual network")
struct VirtualManagerTests {
    /// `AFNET_MANAGER_SEEDS` of 400 steps each; fifty, unless set.
    private static let seeds = ProcessInfo.processInfo.environment["AFNET_MANAGER_SEEDS"].flatMap { UInt64($0) } ?? 50

    private struct Course {
        let manager = HTTPSessionManager()
        let ends = Heard<Int>()
        var made = 0
        /// References that the program has not dropped.
        var handles: [URLSessionTask] = []
        var leftovers: [String] = []
    }

    @Test func `each completion handler is called exactly once, whatever is ended, reset and dropped`() async throws {
        for seed in 0..<Self.seeds {
            let course = try run(seed)
            try await course.ends.wait(for: course.made)
            #expect(Set(course.ends.all).count == course.made && course.ends.all.count == course.made, "seed \(seed)")
            #expect(course.leftovers == [], "seed \(seed)")
        }
    }

    private func run(_ seed: UInt64) throws -> Course {
        let world = VirtualWorld(seed: seed)
        var random = SeededGenerator(seed: seed).fork(98)
        var course = Course()
        world.respond("api.test") { _, moment, client in
            guard moment == .complete else { return }
            client.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]")
        }
        course.manager.completionQueue = DispatchQueue(label: "completions")
        course.manager.state.withLock { $0.world = world.session.world }
        for _ in 0..<400 { try step(&course, &random, in: world) }
        course.manager.invalidateSessionCancelingTasks(random.chance(50), resetSession: false)
        course.handles = []
        world.run()
        course.leftovers = world.finish()
        return course
    }

    private func step(_ course: inout Course, _ random: inout SeededGenerator, in world: VirtualWorld) throws {
        let (manager, ends, number) = (course.manager, course.ends, course.made)
        let text = "http://api.test/\(number)"
        switch random.pick(0...99) {
        case 0..<20:
            course.made += 1
            let task = manager.get(text, parameters: nil) { _, _ in
                ends.add(number)
            } failure: { _, _ in
                ends.add(number)
            }
            if random.chance(30), let task { course.handles.append(task) }
        case 20..<30:
            course.made += 1
            let request = URLRequest(url: try #require(URL(string: text)))
            let task = manager.downloadTask(with: request, progress: nil, destination: nil) { _, _, _ in
                ends.add(number)
            }
            if random.chance(70) { course.handles.append(task) } else if random.chance(50) { task.resume() }
        case 30..<40 where !course.handles.isEmpty: random.pick(course.handles).resume()
        case 40..<43 where !course.handles.isEmpty: random.pick(course.handles).cancel()
        case 43..<46: course.handles = []
        case 46..<50: manager.invalidateSessionCancelingTasks(random.chance(50), resetSession: random.chance(70))
        default: _ = world.step(until: world.now + .seconds(1))
        }
    }
}
