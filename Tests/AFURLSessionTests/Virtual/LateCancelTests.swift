@testable import AFURLSession

/// Tasks that the program cancels when the loop is done with them, and their end has not reached the program yet.
@Suite("Cancelling before the end arrives")
struct LateCancelTests {
    private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    /// Cancels the task in one of the callbacks before its completion.
    final class Canceller: NSObject, URLSessionDataDelegate {
        enum Place: CaseIterable {
            case data, metrics
        }

        let place: Place
        let log = Lock<[String]>([])

        init(_ place: Place) {
            self.place = place
        }

        private func note(_ line: String, _ place: Place?, _ task: URLSessionTask) {
            log.withLock { $0.append(line) }
            if place == self.place { task.cancel() }
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            note("data", .data, dataTask)
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            note("metrics", .metrics, task)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let code = (error as? URLError).map { " \($0.code.rawValue)" } ?? ""
            note("end\(code) \(task.state == .completed ? "completed" : "not completed")", nil, task)
            #expect((task.error as? URLError)?.code == (error as? URLError)?.code)
        }
    }

    @Test(arguments: Canceller.Place.allCases)
    func `a task that is cancelled in a callback before its completion completes cancelled`(place: Canceller.Place) {
        for seed in 1...1000 {
            let world = VirtualWorld(seed: UInt64(seed))
            world.script("api.test", .expectRequest, .reply(Self.hello), .stall)
            let canceller = Canceller(place)
            let session = world.makeSession(delegate: canceller).session
            session.dataTask(with: URL(string: "http://api.test/")!).resume()
            world.run(limit: .seconds(10)) { canceller.log.withLock { $0.last?.hasPrefix("end") == true } }

            #expect(canceller.log.withLock { $0.last } == "end -999 completed", "\(seed)")
            #expect(canceller.log.withLock { $0.count { $0.hasPrefix("end") } } == 1)
            #expect(world.finish() == [])
        }
    }

    @Test func `a handler gets no data of a task that is cancelled before it is called`() {
        for seed in 1...200 {
            let world = VirtualWorld(seed: UInt64(seed))
            world.script("api.test", .expectRequest, .reply(Self.hello), .stall)
            let (session, queue) = world.makeSession()
            let ends = Lock<[String]>([])
            let task = session.dataTask(with: URL(string: "http://api.test/")!) { data, response, error in
                let code = (error as? URLError)?.code.rawValue ?? 0
                ends.withLock { $0.append("\(data?.count ?? -1) \(response == nil ? "none" : "response") \(code)") }
            }
            queue.stop()
            task.resume()
            world.run(limit: .seconds(1))
            #expect(task.state == .running && ends.withLock { $0.isEmpty })

            task.cancel()
            #expect(task.state == .canceling)
            queue.goOn()
            world.run(limit: .seconds(1))

            #expect(ends.withLock { $0 } == ["-1 response -999"], "\(seed)")
            #expect(task.state == .completed && (task.error as? URLError)?.code == .cancelled)
            #expect(world.finish() == [])
        }
    }

    @Test func `cancelling in the completion, or behind it, changes nothing`() {
        let world = VirtualWorld()
        world.script("api.test", .expectRequest, .reply(Self.hello), .stall)
        let ends = Lock<[Int]>([])
        let made = Lock<URLSessionTask?>(nil)
        let task = world.session.dataTask(with: URL(string: "http://api.test/")!) { data, _, error in
            made.withLock { $0 }?.cancel()
            ends.withLock { $0.append(error == nil ? data?.count ?? -1 : -2) }
        }
        made.withLock { $0 = task }
        task.resume()
        world.run(limit: .seconds(1))
        task.cancel()
        world.run(limit: .seconds(1))

        #expect(ends.withLock { $0 } == [5] && task.error == nil && task.state == .completed)
        made.withLock { $0 = nil }
        #expect(world.finish() == [])
    }
}
