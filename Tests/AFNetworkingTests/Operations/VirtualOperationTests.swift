import AFBase
import AFLoop
import AFVirtualWorld
import AFWire

@testable import AFNetworking
@testable import AFURLSession
@testable import AFURLTypes

/// The stress test of operations with steps from a seed, which can be repeated.
@Suite("Operations on a virtual network")
struct VirtualOperationTests {
    /// `AFNET_OPERATION_SEEDS` of a thousand operations each; a few of a hundred, unless set.
    private static let seeds = ProcessInfo.processInfo.environment["AFNET_OPERATION_SEEDS"].flatMap { UInt64($0) }
    private static let long = 20_000

    private struct Course {
        var operations: [HTTPRequestOperation] = []
        let ends = Heard<Int>()
        var leftovers: [String] = []
        /// How often each step was taken, and when the last one was: the same for the same seed.
        var story: [String: Int] = [:]
    }

    private final class WeakOperation: Sendable {
        weak let operation: HTTPRequestOperation?
        init(_ operation: HTTPRequestOperation) { self.operation = operation }
    }

    @Test("14 operations: on a virtual network each finishes exactly once, whatever is done to it, and nothing is left")
    func random() async throws {
        for seed in 0..<(Self.seeds ?? 3) {
            let watched = try await finish(seed, count: Self.seeds == nil ? 100 : 1000)
            try await eventually("operations of seed \(seed) to go") { watched.allSatisfy { $0.operation == nil } }
        }
    }

    private func finish(_ seed: UInt64, count: Int) async throws -> [WeakOperation] {
        let course = try run(seed, count: count)
        try await course.ends.wait(for: count)
        #expect(course.ends.all.count == count && Set(course.ends.all).count == count, "seed \(seed)")
        #expect(course.leftovers == [], "seed \(seed)")
        return course.operations.map(WeakOperation.init)
    }

    @Test func `the same seed gives the same run`() throws {
        let (first, second, other) = (try run(7, count: 40), try run(7, count: 40), try run(8, count: 40))

        #expect(first.story == second.story && first.story != other.story)
        for word in ["pause", "resume", "cancel", "start", "206"] { #expect(first.story[word, default: 0] > 0) }
    }

    /// Runs on this thread, from beginning to end.
    private func run(_ seed: UInt64, count: Int) throws -> Course {
        let world = VirtualWorld(seed: seed)
        var random = SeededGenerator(seed: seed).fork(99)
        var course = Course()
        let answers = Heard<String>()
        serve(in: world, answers)
        let sessions = ConnectionSessions(configuration: .ephemeral, in: world.session.world)
        let url = try #require(URL(string: "http://api.test/"))
        for number in 0..<count {
            let isShort = random.chance(50)
            let place = url.appending(path: isShort ? "short" : "long")
            let operation = HTTPRequestOperation(request: URLRequest(url: place))
            operation.state.withLock { $0.world = OperationWorld(sessions) }
            let ends = course.ends
            operation.setCompletionBlock { _, object in
                #expect((object as? Data)?.count == (isShort ? 5 : Self.long), "seed \(seed), operation \(number)")
                ends.add(number)
            } failure: { operation, error in
                #expect(operation.isCancelled && error.urlCode == NSURLErrorCancelled, "\(seed) \(number): \(error)")
                ends.add(number)
            }
            course.operations.append(operation)
        }
        drive(&course, &random, in: world)
        for answer in answers.all { course.story[answer, default: 0] += 1 }
        course.story["end"] = Int(world.now.nanoseconds)
        sessions.invalidate()
        world.run()
        course.leftovers = world.finish()
        return course
    }

    /// Runs operations as a queue of width 8 does, and disturbs them.
    private func drive(_ course: inout Course, _ random: inout SeededGenerator, in world: VirtualWorld) {
        var running: [HTTPRequestOperation] = []
        var next = 0
        while true {
            running.removeAll { $0.isFinished }
            while running.count < 8, next < course.operations.count {
                running.append(course.operations[next])
                course.operations[next].start()
                course.story["start", default: 0] += 1
                next += 1
            }
            guard !running.isEmpty else { return }
            // Those that come next are disturbed, too.
            let near = running + course.operations[next..<min(next + 4, course.operations.count)]
            switch random.pick(0...199) {
            case 0..<20:
                random.pick(near).pause()
                course.story["pause", default: 0] += 1
            case 20..<60:
                let paused = near.filter { $0.isPaused }
                guard !paused.isEmpty else { continue }
                random.pick(paused).resume()
                course.story["resume", default: 0] += 1
            case 60..<62:
                random.pick(near).cancel()
                course.story["cancel", default: 0] += 1
            default:
                let goesOn = world.step(until: world.now + .seconds(60))
                course.story[goesOn ? "step" : "rest", default: 0] += 1
            }
        }
    }

    private func serve(in world: VirtualWorld, _ answers: Heard<String>) {
        world.network.link.latency = 100_000...5_000_000
        world.network.link.segment = 1...1460
        world.network.recordsBytes = false
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            guard request.target == "/long" else {
                return client.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nshort")
            }
            let range = request.headers.first("Range").map { $0.dropFirst("bytes=".count).dropLast() }
            let offset = range.flatMap { Int($0) } ?? 0
            let length = Self.long - offset
            var head = "HTTP/1.1 \(range == nil ? "200 OK" : "206 Partial Content")\r\nETag: \"1\"\r\n"
            if range != nil { head += "Content-Range: bytes \(offset)-\(Self.long - 1)/\(Self.long)\r\n" }
            if length == 0 { head = "HTTP/1.1 416 Range Not Satisfiable\r\n" }
            answers.add(String(head.dropFirst("HTTP/1.1 ".count).prefix(3)))
            client.send(head + "Content-Length: \(length)\r\n\r\n")
            client.send(UInt8(ascii: "x"), count: length)
        }
    }
}

extension OperationWorld {
    fileprivate init(_ sessions: ConnectionSessions) {
        self.init { request, delegate in
            URLConnection(request: request, delegate: delegate, in: sessions)
        } perform: { modes, body in
            sessions.perform(in: LoopModes(modes), block: body)
        }
    }
}
