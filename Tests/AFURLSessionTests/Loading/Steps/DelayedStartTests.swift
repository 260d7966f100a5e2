@Suite("Tasks that begin later")
struct DelayedStartTests {
    private let delegate = Postponer()

    private func world() -> VirtualWorld {
        let world = VirtualWorld()
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            let length = request.target.utf8.count
            client.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n\(request.target)")
        }
        return world
    }

    private func task(in world: VirtualWorld, after seconds: TimeInterval, delegate: Postponer? = nil)
        -> URLSessionDataTask
    {
        let (session, _) = world.makeSession(delegate: delegate ?? self.delegate)
        let task = session.dataTask(with: URL(string: "http://api.test/own")!)
        task.earliestBeginDate = Date(timeIntervalSinceNow: seconds)
        return task
    }

    @Test func `nothing is loaded before the date, and the time until then does not count`() {
        let world = world()
        let task = task(in: world, after: 3600)
        task.resume()

        world.advance(by: .seconds(3590))
        #expect(world.network.connections.isEmpty && task.state == .running)
        world.advance(by: .seconds(20))

        #expect(delegate.asked.value == ["/own"] && task.state == .completed && task.error == nil)
        #expect(delegate.bodies.value == ["/own"])
        #expect(world.finish() == [])
    }

    @Test func `the delegate may send another request, or none`() {
        for disposition in [URLSession.DelayedRequestDisposition.useNewRequest, .cancel] {
            let world = world()
            let delegate = Postponer(disposition, URLRequest(url: URL(string: "http://api.test/other")!))
            let task = task(in: world, after: 10, delegate: delegate)
            task.resume()

            world.run()

            let isCancelled = disposition == .cancel
            #expect((task.error as? URLError)?.code == (isCancelled ? .cancelled : nil))
            #expect(delegate.bodies.value == (isCancelled ? [] : ["/other"]))
            #expect(task.currentRequest?.url?.path == (isCancelled ? "/own" : "/other"))
            #expect(world.finish() == [])
        }
    }

    @Test func `a date in the past asks no delegate, and one without the method is not waited for`() {
        final class Deaf: URLSessionTaskDelegate {}
        let world = world()
        let past = task(in: world, after: -10)
        past.resume()
        let (session, _) = world.makeSession(delegate: Deaf())
        let deaf = session.dataTask(with: URL(string: "http://api.test/own")!)
        deaf.earliestBeginDate = Date(timeIntervalSinceNow: 10)
        deaf.resume()

        world.run()

        #expect(delegate.asked.value == [] && past.error == nil && deaf.error == nil)
        #expect(past.state == .completed && deaf.state == .completed)
        #expect(world.finish() == [])
    }

    @Test func `a task that is suspended at its date begins when it is resumed`() {
        let world = world()
        let task = task(in: world, after: 10)
        task.resume()
        world.advance(by: .seconds(1))
        task.suspend()
        world.advance(by: .seconds(100))
        #expect(delegate.asked.value == [])

        task.resume()
        world.run()
        #expect(delegate.asked.value == ["/own"] && task.state == .completed && task.error == nil)
        #expect(world.finish() == [])
    }

    @Test func `the first answer counts, also when the task is suspended`() {
        let world = world()
        let delegate = Postponer(.continueLoading, suspends: true)
        let task = task(in: world, after: 10, delegate: delegate)
        task.resume()
        world.advance(by: .seconds(100))
        #expect(delegate.asked.value == ["/own"] && world.network.connections.isEmpty && task.state == .suspended)

        task.resume()
        world.run()
        #expect(delegate.bodies.value == ["/own"] && task.state == .completed && task.error == nil)
        #expect(world.finish() == [])
    }

    @Test func `cancelled at any time before or after its date it ends once`() {
        for seconds in [0, 5, 9, 10, 11, 12] {
            let world = world()
            let task = task(in: world, after: 10, delegate: Postponer(.continueLoading, nil, isSilent: true))
            task.resume()
            world.advance(by: .seconds(seconds))
            task.cancel()
            world.run(limit: .seconds(1))
            #expect((task.error as? URLError)?.code == .cancelled)
            #expect(world.finish() == [], "after \(seconds) seconds")
        }
    }

    @Test func `the counts that the caller expects are kept`() {
        let world = world()
        let task = task(in: world, after: 0)
        #expect(task.countOfBytesClientExpectsToSend == NSURLSessionTransferSizeUnknown)
        task.countOfBytesClientExpectsToSend = 5
        task.countOfBytesClientExpectsToReceive = 7

        #expect(task.countOfBytesClientExpectsToSend == 5 && task.countOfBytesClientExpectsToReceive == 7)
        #expect(task.copy() as? URLSessionDataTask === task)
        // A session holds its tasks until they end.
        task.cancel()
        #expect(world.finish() == [])
    }
}

private final class Postponer: URLSessionDataDelegate {
    let asked = Watched<[String]>([])
    let bodies = Watched<[String]>([])
    private let disposition: URLSession.DelayedRequestDisposition
    private let request: URLRequest?
    private let isSilent: Bool
    private let suspends: Bool

    init(
        _ disposition: URLSession.DelayedRequestDisposition = .continueLoading,
        _ request: URLRequest? = nil,
        isSilent: Bool = false,
        suspends: Bool = false
    ) {
        self.disposition = disposition
        self.request = request
        self.isSilent = isSilent
        self.suspends = suspends
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        asked.change { $0.append(request.url?.path ?? "") }
        guard !isSilent else { return }
        if suspends { task.suspend() }
        completionHandler(disposition, self.request)
        completionHandler(.cancel, nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        bodies.change { $0.append(String(decoding: data, as: UTF8.self)) }
    }
}
