import Dispatch

@testable import AFURLSession

/// The queue that a session calls back on if the program gives it none.
@Suite struct DelegateQueueTests {
    private let queue = DelegateQueue()
    private let heard = Lock<[String]>([])
    private let executor: OperationQueueExecutor

    init() {
        // The tests run the executor on their own threads, so its loop is one that no thread runs.
        executor = OperationQueueExecutor(queue: queue, for: EventLoop(poller: EpollPoller()))
    }

    private func note(_ word: String) -> @Sendable () -> Void {
        { [heard] in heard.withLock { $0.append(word) } }
    }

    @Test func `callbacks do not need it, and all threads that ask get the same one`() {
        let done = DispatchSemaphore(value: 0)
        executor.run([.block { done.signal() }])
        done.wait()
        #expect(!queue.isMade)

        let asked = Lock<Set<ObjectIdentifier>>([])
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            let one = ObjectIdentifier(queue.queue)
            asked.withLock { _ = $0.insert(one) }
        }

        #expect(queue.isMade && asked.withLock { $0.count } == 1)
        #expect(queue.queue.maxConcurrentOperationCount == 1 && queue.queue.name == "AFURLSession.delegate")
    }

    @Test func `callbacks stay behind operations that wait, and in front of those that come later`() {
        queue.queue.isSuspended = true
        queue.queue.addOperation(note("first"))
        executor.run([.block(note("second"))])
        #expect(heard.withLock { $0 } == [])
        queue.queue.isSuspended = false
        queue.queue.waitUntilAllOperationsAreFinished()

        let gate = DispatchSemaphore(value: 0)
        executor.run([.block { gate.wait() }, .block(note("third"))])
        queue.queue.addOperation(note("fourth"))
        gate.signal()
        queue.queue.waitUntilAllOperationsAreFinished()

        #expect(heard.withLock { $0 } == ["first", "second", "third", "fourth"])
    }

    @Test func `a manager's is made when something has to be called on it, and idle until then`() {
        let queue = DelegateQueue(named: "manager")
        let executor = OperationQueueExecutor(queue: queue, for: EventLoop(poller: EpollPoller()))
        #expect(queue.isIdle && !queue.isMade)

        let (gate, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        executor.run([
            .block { [heard] in
                heard.withLock { $0.append(OperationQueue.current?.name ?? "none") }
                gate.wait()
                done.signal()
            }
        ])
        #expect(queue.isMade && !queue.isIdle)
        gate.signal()
        done.wait()
        queue.queue.waitUntilAllOperationsAreFinished()
        #expect(heard.withLock { $0 } == ["manager"] && queue.isIdle)

        queue.queue.isSuspended = true
        #expect(!queue.isIdle)
    }
}
