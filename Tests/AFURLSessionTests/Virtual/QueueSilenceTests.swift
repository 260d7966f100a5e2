import AFBase
import AFLoop
import AFVirtualWorld
import Foundation
import Testing

@testable import AFURLSession
@testable import AFURLTypes

/// Requests that wait for one of a host's connections: whether that is silence, and what the error says.
struct QueueSilenceTests {
    private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n"

    /// Answers after this time; `/events` with a stream that stays open.
    private func serve(_ world: VirtualWorld, _ names: [String] = ["api.test"], after time: Duration) {
        for name in names {
            world.respond(name) { request, moment, client in
                guard moment == .complete else { return }
                if request.target == "/events" { return client.send(Self.events) }
                client.after(time) { $0.send(Self.plain) }
            }
        }
    }

    @Test(arguments: [false, true])
    func `a thousand requests wait for their turns, and all are served`(isLowPriority: Bool) {
        let world = VirtualWorld()
        serve(world, after: .milliseconds(500))

        let tasks = (0..<1000).map { number in
            world.send("GET", "http://api.test/\(number)", priority: isLowPriority ? 0.25 : nil)
        }
        // 1000 requests, 6 at a time, of half a second each.
        world.run(limit: .seconds(100)) { tasks.allSatisfy(\.isComplete) }

        #expect(tasks.allSatisfy { $0.error == nil && $0.body == "ok" })
        #expect(world.finish() == [])
    }

    @Test func `the time of the task as a whole bounds the wait all the same`() {
        let world = VirtualWorld()
        serve(world, after: .milliseconds(500))
        let session = world.makeSession { $0.timeoutIntervalForResource = 20 }.session

        let ends = Lock<[URLError.Code?]>([])
        for number in 0..<1000 {
            session.dataTask(with: URL(string: "http://api.test/\(number)")!) { _, _, error in
                ends.withLock { $0.append((error as? URLError)?.code) }
            }.resume()
        }
        world.run(limit: .seconds(100)) { ends.withLock { $0.count } == 1000 }

        let (served, late) = ends.withLock { all in (all.count { $0 == nil }, all.count { $0 == .timedOut }) }
        #expect((220...250).contains(served) && served + late == 1000)
        #expect(world.finish() == [])
    }

    @Test func `where no turn is served, the error says which tasks have the connections`() throws {
        let world = VirtualWorld()
        serve(world, after: .seconds(3600))

        let holders = (0..<6).map { world.send("GET", "http://api.test/\($0)", idleTimeout: .seconds(3000)) }
        let waiter = world.get("http://api.test/late", idleTimeout: .seconds(60))
        world.run(limit: .seconds(100)) { waiter.isComplete }

        let failure = try #require(waiter.error?.loadFailure)
        let numbers = holders.map { "\($0.task.taskIdentifier)" }.joined(separator: ", ")
        #expect(waiter.error?.code == .timedOut && failure.detail == .idle && failure.phase == .queued)
        #expect(failure.message.contains("Tasks \(numbers) hold connections."), "\(failure.message)")
        #expect(failure.message.contains("httpMaximumConnectionsPerHost, which is 6"), "\(failure.message)")
        for holder in holders { holder.task.cancel() }
        #expect(world.finish() == [])
    }

    @Test func `the time in the queue has an error of its own, which says the same`() throws {
        let world = VirtualWorld()
        serve(world, after: .seconds(3600))
        let session = world.makeSession {
            $0.httpMaximumConnectionsPerHost = 1
            $0.queueTimeout = 5
        }.session

        let holder = session.dataTask(with: URL(string: "http://api.test/1")!) { _, _, _ in }
        let error = Lock<URLError?>(nil)
        let waiter = session.dataTask(with: URL(string: "http://api.test/2")!) { _, _, ended in
            error.withLock { $0 = ended as? URLError }
        }
        for task in [holder, waiter] { task.resume() }
        world.run(limit: .seconds(10)) { error.withLock { $0 != nil } }

        let failure = try #require(error.withLock { $0 }?.loadFailure)
        #expect(failure.detail == .queue, "\(failure)")
        #expect(failure.message.contains("Task \(holder.taskIdentifier) holds a connection."), "\(failure.message)")
        #expect(failure.message.contains("queueTimeout"), "\(failure.message)")
        holder.cancel()
        #expect(world.finish() == [])
    }

    @Test func `where other hosts have all connections, the error says so`() throws {
        let world = VirtualWorld()
        serve(world, ["api.test", "other.test"], after: .seconds(3600))
        let session = world.makeSession { $0.maximumConnections = 2 }.session

        let holders = (0..<2).map { session.dataTask(with: URL(string: "http://other.test/\($0)")!) { _, _, _ in } }
        for holder in holders { holder.resume() }
        world.run(limit: .seconds(1))
        let error = Lock<URLError?>(nil)
        session.dataTask(with: URL(string: "http://api.test/")!) { _, _, ended in
            error.withLock { $0 = ended as? URLError }
        }.resume()
        world.run(limit: .seconds(100)) { error.withLock { $0 != nil } }

        let failure = try #require(error.withLock { $0 }?.loadFailure)
        #expect(failure.message.contains("Other hosts have all connections"), "\(failure.message)")
        #expect(failure.message.contains("maximumConnections"), "\(failure.message)")
        for holder in holders { holder.cancel() }
        #expect(world.finish() == [])
    }

    @Test func `while other hosts are served, a host that waits for their connections is not late`() {
        let world = VirtualWorld()
        serve(world, ["api.test", "other.test"], after: .milliseconds(500))
        let session = world.makeSession { $0.maximumConnections = 1 }.session

        let ends = Lock<[URLError.Code?]>([])
        for number in 0..<300 {
            session.dataTask(with: URL(string: "http://\(number < 299 ? "other" : "api").test/\(number)")!) {
                _,
                _,
                error in
                ends.withLock { $0.append((error as? URLError)?.code) }
            }.resume()
        }
        world.run(limit: .seconds(200)) { ends.withLock { $0.count } == 300 }

        #expect(ends.withLock { $0.allSatisfy { $0 == nil } })
        #expect(world.finish() == [])
    }

    // MARK: - Streams of events

    private func streams(_ count: Int, in world: VirtualWorld, _ options: EventStreamOptions) -> [Task<Void, Never>] {
        let stream = world.session.events(from: URL(string: "http://api.test/events")!, options: options)
        return (0..<count).map { _ in
            Task(executorPreference: CallbackTaskExecutor(world.queue)) {
                do { for try await _ in stream {} } catch {}
            }
        }
    }

    @Test func `open streams of events leave the host's connections to others`() {
        let world = VirtualWorld()
        serve(world, after: .milliseconds(10))

        let streams = streams(20, in: world, EventStreamOptions())
        world.run(limit: .seconds(5))
        let others = (0..<12).map { world.get("http://api.test/\($0)") }
        world.run(limit: .seconds(5)) { others.allSatisfy(\.isComplete) }

        #expect(others.allSatisfy { $0.error == nil })
        // 20 of the streams, 6 of the others.
        #expect(world.network.openConnections.count == 26)
        for stream in streams { stream.cancel() }
        world.run(limit: .seconds(5))
        #expect(world.network.openConnections.count <= 6)
        #expect(world.finish() == [])
    }

    @Test func `streams that count have connections of the host, and the error names their tasks`() throws {
        let world = VirtualWorld()
        serve(world, after: .milliseconds(10))
        var options = EventStreamOptions()
        options.countsAmongConnections = true

        let streams = streams(6, in: world, options)
        world.run(limit: .seconds(5))
        let waiter = world.get("http://api.test/late", idleTimeout: .seconds(10))
        world.run(limit: .seconds(20)) { waiter.isComplete }

        let message = try #require(waiter.error?.loadFailure?.message)
        #expect(
            message.contains("hold connections.") && message.contains("httpMaximumConnectionsPerHost"),
            "\(message)"
        )
        for stream in streams { stream.cancel() }
        world.run(limit: .seconds(5))
        #expect(world.finish() == [])
    }
}
