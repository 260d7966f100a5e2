import Dispatch

@testable import AFURLSession

/// Callbacks on queues of the program.
@Suite struct NamedQueueExecutorTests {
    // The tests run the executor on their own threads, so its loop is one that no thread runs.
    private let executor = NamedQueueExecutor(loop: EventLoop(poller: EpollPoller()))
    private let heard = Lock<[String]>([])

    private func note(_ word: String) -> @Sendable () -> Void {
        { [heard] in heard.withLock { $0.append(word) } }
    }

    @Test func `callbacks of a serial queue stay in order`() {
        let queue = DispatchQueue(label: "serial")
        let numbers = (0..<200).map(String.init)

        executor.run(numbers.map { .onQueue(queue, note($0)) })
        queue.sync {}
        // The first block has enqueued the others.
        queue.sync {}

        #expect(heard.withLock { $0 } == numbers)
    }

    @Test func `a callback that blocks a concurrent queue's thread holds up no other`() {
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        let (second, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

        executor.run([
            .onQueue(queue) {
                second.wait()
                done.signal()
            },
            .onQueue(queue) { second.signal() },
        ])

        #expect(done.wait(timeout: .now() + 30) == .success)
    }

    @Test func `each callback runs on its own queue, and a blocked queue holds up no other`() {
        let (key, gate) = (DispatchSpecificKey<String>(), DispatchSemaphore(value: 0))
        let queues = ["a", "b"].map { name in
            let queue = DispatchQueue(label: name)
            queue.setSpecific(key: key, value: name)
            return queue
        }
        let say: @Sendable () -> Void = { [heard] in
            heard.withLock { $0.append(DispatchQueue.getSpecific(key: key) ?? "none") }
        }
        queues[0].async { gate.wait() }

        executor.run([0, 1, 0, 1, 1].map { .onQueue(queues[$0], say) })
        // A callback may wait behind the first block of its queue, which enqueues it.
        for _ in 0..<3 { queues[1].sync {} }
        #expect(heard.withLock { $0 } == ["b", "b", "b"])

        gate.signal()
        for _ in 0..<3 { queues[0].sync {} }
        #expect(heard.withLock { $0 } == ["b", "b", "b", "a", "a"])
    }
}
