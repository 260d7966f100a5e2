import AFURLSession
import Foundation
import Harness

/// WebSockets with completion handlers, one message under way on each. What comes back starts the next one.
final class MessageClient: Client {
    private let pool: SocketPool

    init(_ bench: Bench, _ size: Int) { pool = SocketPool(bench, size) }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        let tasks = pool.tasks(inFlight, at: url, tally)
        guard !pool.onlyOpens else { return }
        for task in tasks { startNext(on: task, tally) }
    }

    private func startNext(on task: URLSessionWebSocketTask, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        task.send(pool.message) { self.pool.check($0) }
        task.receive { result in
            switch result {
            case .success(let message):
                self.pool.check(message)
                tally.count(message.byteCount)
            case .failure(let error): self.pool.check(error)
            }
            tally.finish(number)
            self.startNext(on: task, tally)
        }
    }
}

/// The same with a Swift task for each WebSocket, which sends a message and awaits it.
final class AsyncMessageClient: Client {
    private let pool: SocketPool
    private let executor: (any TaskExecutor)?

    init(_ bench: Bench, _ size: Int, on executor: (any TaskExecutor)? = nil) {
        pool = SocketPool(bench, size)
        self.executor = executor
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        let tasks = pool.tasks(inFlight, at: url, tally)
        guard !pool.onlyOpens else { return }
        for task in tasks { Task(executorPreference: executor) { await self.run(on: task, tally) } }
    }

    private func run(on task: URLSessionWebSocketTask, _ tally: Tally) async {
        while let number = tally.claim() {
            tally.start(number)
            do {
                try await task.send(pool.message)
                let message = try await task.receive()
                pool.check(message)
                tally.count(message.byteCount)
            } catch {
                pool.check(error)
            }
            tally.finish(number)
        }
    }
}

extension URLSessionWebSocketTask.Message {
    fileprivate var byteCount: Int {
        switch self {
        case .data(let data): data.count
        case .string(let text): text.utf8.count
        }
    }
}
