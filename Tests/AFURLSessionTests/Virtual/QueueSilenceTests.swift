@testable import AFURLSession
@testable import AFURLTypes

/// Requests that wait for one of a host's connections: whether that is silence, and what the error says.
final class QueueSilenceTests: WorldSuite {
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

    @Test func `where no turn is served, the error says which tasks have the connections`() throws {
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
    }

    @Test func `the time in the queue has an error of its own, which says the same`() throws {
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
    }

    @Test func `where other hosts have all connections, the error says so`() throws {
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
    }

    @Test func `streams that count have connections of the host, and the error names their tasks`() throws {
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
    }
}
